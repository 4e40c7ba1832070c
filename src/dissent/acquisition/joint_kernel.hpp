// How much a sum of divergences says, for many rows, vectorised in single precision: what greedy choice compares.
#pragma once

#include <cstddef>
#include <vector>

#include "dissent/mixture/mixture.hpp"
#include "dissent/network/panel.hpp"

namespace dissent {

// The weights, and the pairs (i, j), i != j, of components that have some; those of one i follow each other.
struct JointPairs {
  explicit JointPairs(const Weights& weights);

  struct Pair {
    std::size_t i;
    std::size_t j;
    float weight;  // w_j
  };
  std::vector<Pair> pairs;
  std::vector<float> weight;   // of each i
  std::size_t num_others = 0;  // pairs of each i
  float entropy = 0;           // H(w)
};

// information[n] = ln(H(w) / deficit), deficit = H(w) - estimate, of the sums divergence + running: 0 where they say
// nothing, without bound where the estimate saturates, to about 1e-6 of itself at either end. divergence:
// [pairs][rows], finite, padding included; there must be a pair.
void joint_information(const JointPairs& pairs, Panel<const float> divergence, const std::vector<float>& running,
                       std::size_t count, float* information);

}  // namespace dissent
