// Sums of divergences over the rows of a batch. Given the component, the outputs of the rows are independent, so their
// divergences add; how much the sums S tell is what greedy choice compares:
//   information = ln(H(w) / deficit),  deficit = H(w) - estimate = sum_i w_i log1p(sum_{j != i} (w_j / w_i) exp(-S_ij))
// It is 0 if they tell nothing, and grows without limit as the estimate approaches H(w).
#pragma once

#include <cstddef>
#include <vector>

#include "dissent/mixture/mixture.hpp"

namespace dissent {

// Components of less weight are left out: single precision cannot see them in H(w), nor invert much smaller weights.
inline constexpr double kLeastJointWeight = 1e-30;

// The weights, and the pairs (i, j), i != j, of components that count. The pairs of one i follow each other. InputError
// if fewer than two count.
struct JointPairs {
  explicit JointPairs(const Weights& weights);

  struct Pair {
    std::size_t i;
    std::size_t j;
    float weight;  // w_j
  };
  std::vector<Pair> pairs;
  std::vector<std::size_t> component;  // each i
  std::vector<float> weight;           // w_i
  std::size_t num_others = 0;          // pairs of each i
  float entropy = 0;                   // H(w)
  // If all divergences are larger, sum_j (w_j / w_i) exp(-S_ij) is negligible beside 1 for each i: the deficit is a sum
  // of w_j exp(-S_ij).
  double saturated = 0;
};

inline constexpr double kLargestDivergence = 1e37;  // so that sums stay finite in single precision

// The sums over the rows taken so far, to which those of one more row are added in single precision.
//
// A row's own divergences would drown beside large sums (only when ranking by value; otherwise joint choice has already
// turned to what is left). If all are saturated, a part common to all pairs may be taken off: `running` then holds the
// rest, and information is lower by that part.
struct RunningSums {
  // sums: one per pair, in double precision
  explicit RunningSums(const JointPairs& pairs)
      : sums(pairs.pairs.size()), running(pairs.pairs.size()), saturated(pairs.saturated) {}
  void add(std::size_t pair, double divergence) { sums[pair] += divergence; }
  void update();  // after additions

  std::vector<double> sums;
  std::vector<float> running;
  double saturated;
  double taken_off = 0;  // > 0: all pairs are saturated
};

}  // namespace dissent
