// How much a sum of divergences tells, for many rows, vectorised in single precision. Greedy choice compares this.
#pragma once

#include <cstddef>

#include "dissent/divergence/pairwise.hpp"
#include "dissent/estimator/joint_sums.hpp"
#include "dissent/matrix/panel.hpp"

namespace dissent {

// panel[pair][begin + n] = the divergence of input n < count of the block, for every pair.
void copy_pairs(const JointPairs& pairs, const PairwiseDivergences& block, std::size_t count, Panel<float> panel,
                std::size_t begin);

// information[n] (joint_sums.hpp) of the sums divergence + running, accurate to about 1e-6 of itself. divergence:
// [pairs][rows], finite, padding included; there must be a pair.
void joint_information(const JointPairs& pairs, Panel<const float> divergence, const RunningSums& running,
                       std::size_t count, float* information);

}  // namespace dissent
