// Pairwise estimates on a card: the launch of each kernel.
#pragma once

#include <cuda_runtime.h>

#include <span>

#include "dissent/device/score_call.hpp"
#include "dissent/device/score_rule.hpp"

namespace dissent::score {

// The component weights on the host.
struct HostWeights {
  std::span<const double> value;
  std::span<const double> log;
  double entropy;
};

template <class T>
bool fits_card(int num_components, int num_outputs);

// Queues the scores of all inputs (M >= 2) on the stream.
template <class T>
void launch_pairwise(const PairwiseRule& rule, const Rows<T>& rows, const Results& results, const HostWeights& weights,
                     cudaStream_t stream);

// Launches one form; each form is compiled separately.
template <class Form, class T>
void launch_form(const Form& form, const FinishRule& finish, const Rows<T>& rows, const Results& results,
                 const HostWeights& weights, cudaStream_t stream);

}  // namespace dissent::score
