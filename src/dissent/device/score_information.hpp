// What sums of divergences tell (estimator/joint_sums.hpp says what that is), as acquisition/joint_kernel.cpp computes
// it for vectors: in single precision, right to about 1e-6 of itself at either end.
#pragma once

#include "dissent/device/score_call.hpp"
#include "dissent/device/score_combine.hpp"
#include "dissent/device/score_math.hpp"

namespace dissent::score {

// The components that count, passed to kernels by value. Their ordered pairs (i, j), i != j, are numbered as
// JointPairs numbers them: those of one i follow each other.
struct PairedComponents {
  int count = 0;
  float entropy = 0;
  float saturated = 0;  // as JointPairs has it
  float weight[kMostComponents] = {};
  float log_weight[kMostComponents] = {};
  int component[kMostComponents] = {};  // its number in the mixture

  DISSENT_BOTH int num_pairs() const { return count * (count - 1); }
  DISSENT_BOTH int pair(int i, int j) const { return i * (count - 1) + (j < i ? j : j - 1); }
};

// Number k of the count (count - 1) / 2 unordered pairs: (i, i + s) around a circle, for s = 1, 2, ... With an even
// count the last s has half as many, which are the last numbers.
struct UnorderedPair {
  int i, j;
};
DISSENT_BOTH UnorderedPair unordered_pair(int k, int count) {
  const int i = k % count;
  const int j = i + k / count + 1;
  return {i, j < count ? j : j - count};
}

// For moderate sums: the estimate, -sum_i w_i log1p(sum_j w_j expm1(-S_ij)), and the deficit,
// sum_i w_i log1p(sum_j (w_j / w_i) exp(-S_ij)); the smaller of the two is the accurate one. sum(k): S of pair k.
template <class Sum>
DISSENT_BOTH float near_information(const PairedComponents& of, const Sum& sum) {
  RowTerms<float> terms;
  int k = 0;
  for (int i = 0; i < of.count; ++i) {
    RowSums<float> row;
    for (int j = 0; j < of.count; ++j) {
      if (j != i) {
        row.add(of.weight[j], sum(k++));
      }
    }
    terms.merge(RowTerms<float>(row, static_cast<double>(of.weight[i]), static_cast<double>(of.log_weight[i])));
  }
  const float inverse = 1 / of.entropy;
  return terms.epistemic < terms.deficit ? -log1p(-terms.epistemic * inverse) : -log(terms.deficit * inverse);
}

// If all are large, log1p(x) is x: ln(deficit) = -least + ln sum_ij w_j exp(least - S_ij).
template <class Sum>
DISSENT_BOTH float far_information(const PairedComponents& of, const Sum& sum, float least) {
  float all = 0;
  int k = 0;
  for (int i = 0; i < of.count; ++i) {
    for (int j = 0; j < of.count; ++j) {
      if (j != i) {
        all = fma(of.weight[j], exponential<float>(least - sum(k++)).exp, all);
      }
    }
  }
  return least - log(all * (1 / of.entropy));
}

// saturated: RunningSums has taken something off. Needs two components.
template <class Sum>
DISSENT_BOTH float information(const PairedComponents& of, const Sum& sum, bool saturated) {
  float least = 3e38F;
  for (int k = 0; k < of.num_pairs(); ++k) {
    least = sum(k) < least ? sum(k) : least;
  }
  return saturated || least > of.saturated ? far_information(of, sum, least) : near_information(of, sum);
}

}  // namespace dissent::score
