// From pairwise divergences to the estimate (equation 5 of Berry & Meger), for D = D_ij and weights w:
//   epistemic   = -sum_i w_i ln sum_j w_j exp(-D_ij) = -sum_i w_i log1p(sum_j w_j expm1(-D_ij))
//   log_deficit = ln sum_i w_i log1p(sum_{j != i} (w_j / w_i) exp(-D_ij))
// The first form of each is exact near 0 (equal components give 0, not rounding), the second near H(w); neither cancels.
// Beyond D of about 700, where exp(-D) underflows, the deficit is summed in log space.
#pragma once

#include <cstddef>
#include <span>

#include "dissent/mixture/mixture.hpp"

namespace dissent {

struct Combined {
  double epistemic;
  double log_deficit;
};

// Plain, for one input: divergence[i][j] row-major. The oracle of the vectorised one below.
Combined combine(const Weights& weights, std::span<const double> divergence);

// A block of divergences as PairwiseDivergences lays it out, [M][M][stride], of which the first `count` inputs are used.
struct DivergenceBlock {
  const double* divergence;
  std::size_t stride;
  std::size_t count;
};

// Vectorised over the inputs; results to epistemic[count] and log_deficit[count].
void combine_block(const Weights& weights, const DivergenceBlock& block, double* epistemic, double* log_deficit);

}  // namespace dissent
