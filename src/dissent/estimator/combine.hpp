// From pairwise divergences to the estimate (equation 5 of Berry & Meger), for D = D_ij and weights w:
//   epistemic   = -sum_i w_i ln sum_j w_j exp(-D_ij) = -sum_i w_i log1p(sum_j w_j expm1(-D_ij))
//   log_deficit = ln sum_i w_i log1p(sum_{j != i} (w_j / w_i) exp(-D_ij))
// The second form of `epistemic` is exact near 0 (equal components give 0, not rounding), log_deficit near H(w);
// neither cancels. Beyond D of about 700, where exp(-D) underflows, the deficit is summed in log space.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "dissent/mixture/mixture.hpp"

namespace dissent {

struct Combined {
  double epistemic;
  double log_deficit;
};

// Whether single precision will do for such weights: quotients of theirs stay far inside of a float's range. They are 0
// or above this.
inline constexpr double kLeastWeightOfFloats = 1e-12;
bool suit_floats(const Weights& weights);

// Plain, for one input: divergence[i][j] row-major. The oracle of the vectorised one below.
Combined combine(const Weights& weights, std::span<const double> divergence);

// How blocks are combined. symmetric: D_ij = D_ji, so half of the exponentials suffice. single_precision: exponentials
// and logarithms in float, good to about 1e-6 relative, which is what divergences of float32 input have.
struct CombineRule {
  Weights weights;
  bool symmetric = false;
  bool single_precision = false;
};

// Divergences of `count` inputs as PairwiseDivergences lays them out, [M][M][stride], with 16 extra values after the
// last; and where the results go, [count] each.
struct CombineBlock {
  const double* divergence;
  std::size_t stride;
  std::size_t count;
  double* epistemic;
  double* log_deficit;
};

// combine() for blocks of inputs, vectorised. One per thread.
class Combiner {
 public:
  explicit Combiner(CombineRule rule);
  void run(const CombineBlock& block);

 private:
  CombineRule rule_;
  std::vector<double> memory_;
};

}  // namespace dissent
