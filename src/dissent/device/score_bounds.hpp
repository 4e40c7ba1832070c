// The certified interval of estimator/bounds.cpp on a card: KL above, the best Chernoff estimate over alpha below.
#pragma once

#include <cuda_runtime.h>

#include "dissent/device/score_call.hpp"
#include "dissent/device/score_pairwise.hpp"

namespace dissent::score {

// [N] each: the extras of `bounds`, beside its Results.
struct BoundsResults {
  Results results;
  double* lower;
  double* upper;
  double* alpha;
  double* lower_log_deficit;
  double* upper_log_deficit;
};

inline constexpr int kMostBoundsComponents = 8;

// Queues the intervals of all inputs; M from 2 to kMostBoundsComponents.
template <class T>
void launch_bounds(const Rows<T>& rows, const BoundsResults& results, const HostWeights& weights, cudaStream_t stream);

}  // namespace dissent::score
