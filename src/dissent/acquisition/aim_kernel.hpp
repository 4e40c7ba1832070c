// The inner sums of a pairwise estimate for every candidate with every row of the aim, vectorised in single precision.
#pragma once

#include <cstddef>

#include "dissent/acquisition/joint_kernel.hpp"
#include "dissent/matrix/panel.hpp"

namespace dissent {

// sum[n] += over the aim's rows a: sum_i w_i ln( w_i + sum_{j != i} w_j candidates[ij][n] aim[ij][a] ), the pairs ij in
// the order of `pairs`; factors are exp(-divergence), in [0, 1], and those of the aim have w_j in them already.
// candidates: [pairs][count], padded; aim: [pairs][aim_rows].
void aim_sums(const JointPairs& pairs, Panel<const float> candidates, std::size_t count, Panel<const float> aim,
              std::size_t aim_rows, double* sum);

}  // namespace dissent
