// Chooses the kernels for an estimator of the registry, by a mixture's shape and weights. Diagonal mixtures only:
//   pairwise estimators, EPKL   2 to 140 components; not `min`, `max` and renyi:a with a > 1
//   bounds                      2 to 8 components
//   mc:K                        2 to 8 components, M D up to 8192, and at least two samples of each component
// Everything else runs on the CPU.
#pragma once

#include <cuda_runtime.h>

#include <cstddef>
#include <functional>
#include <optional>
#include <span>
#include <string_view>

#include "dissent/device/score_call.hpp"
#include "dissent/device/score_pairwise.hpp"
#include "dissent/estimator/estimator.hpp"
#include "dissent/mixture/mixture.hpp"

namespace dissent::score {

// Where results go on the card.
struct Columns {
  Results results;
  double* extras;  // [extras of the method][inputs]
};

template <class T>
struct Method {
  std::span<const std::string_view> extras;
  // begin: the number of the first row in the mixture.
  std::function<void(const Rows<T>& rows, const Columns& columns, std::size_t begin, cudaStream_t stream)> launch;
};

// Whether kernels for mixtures of T take such weights.
template <class T>
bool weights_fit(const Weights& weights);

// None if there is no kernel. Refers to the mixture's weights. Reads only the mixture's shape and weights.
template <class T>
std::optional<Method<T>> method_for(const Estimator& estimator, const MixtureView<T>& mixture,
                                    const EstimateOptions& options);

// The divergences of a pairwise estimator, and of EPKL; none if there is no kernel.
std::optional<PairwiseRule> pairwise_rule(const Estimator& estimator);

}  // namespace dissent::score
