// Joint choice on a card: the divergences of all rows, which stay there, and what their sums with those of earlier
// picks tell. Also copies of some outputs of some rows, for the host.
#pragma once

#include <cuda_runtime.h>

#include <cstddef>

#include "dissent/device/score_call.hpp"
#include "dissent/device/score_information.hpp"
#include "dissent/device/score_pairwise.hpp"

namespace dissent::score {

// Divergences [pairs][N], numbered as PairedComponents says.
struct Divergences {
  const float* value;
  long long num_inputs;
};

// Queues the divergences of all inputs, at most `most`, in double precision by the closed forms. Inputs are valid.
template <class T>
void launch_compare(const PairwiseRule& rule, const Rows<T>& rows, const PairedComponents& of, double most,
                    float* divergences, cudaStream_t stream);

// Queues information[N] of the divergences plus running[pairs].
void launch_information(const PairedComponents& of, const Divergences& divergences, const float* running,
                        bool saturated, float* information, cudaStream_t stream);

// Queues the copy of an input's divergences to of_input[pairs].
void launch_pick(const PairedComponents& of, const Divergences& divergences, long long input, float* of_input,
                 cudaStream_t stream);

// Numbers of inputs, and of the outputs wanted of each, on the card.
struct FetchedPart {
  const long long* inputs;
  const long long* outputs;
  long long num_inputs;
  long long num_outputs;

  DISSENT_BOTH long long num_values(int num_components) const { return num_inputs * num_components * num_outputs; }
};

// Queues their copy to mean and stddev [inputs][M][outputs].
template <class T>
void launch_fetch(const Rows<T>& rows, const FetchedPart& part, double* mean, double* stddev, cudaStream_t stream);

}  // namespace dissent::score
