// How much a sum of divergences tells, for many rows, vectorised in single precision. Greedy choice compares this.
#pragma once

#include <cstddef>
#include <vector>

#include "dissent/divergence/pairwise.hpp"
#include "dissent/matrix/panel.hpp"
#include "dissent/mixture/mixture.hpp"

namespace dissent {

// The weights, and the pairs (i, j), i != j, of components with weight. The pairs of one i follow each other.
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

inline constexpr double kLargestDivergence = 1e37;  // so that sums stay finite in single precision

// panel[pair][begin + n] = the divergence of input n < count of the block, for every pair.
void copy_pairs(const JointPairs& pairs, const PairwiseDivergences& block, std::size_t count, Panel<float> panel,
                std::size_t begin);

// information[n] = ln(H(w) / deficit), deficit = H(w) - estimate, of the sums divergence + running: 0 if they tell
// nothing, unbounded as the estimate saturates, accurate to about 1e-6 of itself at either end. divergence:
// [pairs][rows], finite, padding included; there must be a pair.
//
// A row's own divergences would drown beside large running sums (only when ranking by value; otherwise joint choice has
// already turned to what is left). Beyond kSaturated the deficit is a sum of exp(-S_ij), so a part common to all pairs
// may be taken off: `running` then holds the rest, and information is lower by that part.
struct RunningSums {
  static constexpr double kSaturated = 17;  // exp(-17) is negligible beside 1

  // sums: one per pair, in double precision
  explicit RunningSums(std::size_t num_pairs) : sums(num_pairs), running(num_pairs) {}
  void add(std::size_t pair, double divergence) { sums[pair] += divergence; }
  void update();  // after additions

  std::vector<double> sums;
  std::vector<float> running;
  double taken_off = 0;  // > 0: all pairs are saturated
};
void joint_information(const JointPairs& pairs, Panel<const float> divergence, const RunningSums& running,
                       std::size_t count, float* information);

}  // namespace dissent
