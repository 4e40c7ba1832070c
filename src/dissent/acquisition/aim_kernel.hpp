// The inner sums of a pairwise estimate for every candidate with every row of the aim, vectorised in single precision.
#pragma once

#include <cstddef>

#include "dissent/acquisition/joint_kernel.hpp"
#include "dissent/matrix/panel.hpp"

namespace dissent {

// sum[n] += sum over aim rows a of sum_i w_i ln( w_i + sum_{j != i} candidates[ij][n] aim[ij][a] ), with the pairs ij
// in the order of `pairs`. Factors are exp(-divergence), in [0, 1]; those of the aim are multiplied by w_j.
// candidates: [pairs][count], padded; aim: [pairs][aim_rows].
void aim_sums(const JointPairs& pairs, Panel<const float> candidates, std::size_t count, Panel<const float> aim,
              std::size_t aim_rows, double* sum);

}  // namespace dissent
