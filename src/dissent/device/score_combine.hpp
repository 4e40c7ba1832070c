// From the divergences of an input to its scores, as estimator/combine.cpp does for vectors: row by row, then the sum
// over rows. E is float for float32 mixtures, whose divergences have no more digits, otherwise double.
#pragma once

#include "dissent/device/score_math.hpp"

namespace dissent::score {

// How a divergence of the registry follows from its form's values. kExpected: not the pairwise estimate, but the mean
// of the values over distinct pairs (EPKL).
enum class Finish : int { kSame, kJeffreys, kHellinger, kRenyi, kExpected };

struct FinishRule {
  Finish finish = Finish::kSame;
  double alpha = 0.5;

  // there: D(i || j); back: D(j || i), which only Jeffreys needs.
  DISSENT_BOTH double operator()(double there, double back) const {
    return finish == Finish::kSame ? there : finished(there, back);
  }

 private:
  DISSENT_BOTH_RARELY double finished(double there, double back) const {
    switch (finish) {
      case Finish::kJeffreys:
        return there + back;
      case Finish::kHellinger:
        return -expm1(-there);
      case Finish::kRenyi:
        return there / (1 - alpha);
      default:
        return there;
    }
  }
};

// Component weights, passed to kernels by value.
template <int kMost>
struct WeightsOf {
  double value[kMost];
  double log[kMost];
  double entropy;
};

// Sums over j != i of w_j expm1(-D_ij) and w_j exp(-D_ij).
template <class E>
struct RowSums {
  E below_one = 0;
  E others = 0;

  DISSENT_BOTH void add(E weight, E divergence) {
    const Exponential<E> e = exponential<E>(-divergence);
    below_one = fma(weight, e.expm1, below_one);
    others = fma(weight, e.exp, others);
  }
  DISSENT_BOTH void merge(const RowSums& other) {
    below_one += other.below_one;
    others += other.others;
  }
};

// What rows contribute to the epistemic uncertainty and to the deficit H(w) - epistemic.
template <class E>
struct RowTerms {
  E epistemic = 0;
  E deficit = 0;

  RowTerms() = default;
  // A component of weight 0 does not count.
  DISSENT_BOTH RowTerms(const RowSums<E>& row, double weight, double log_weight) {
    if (weight == 0) {
      return;
    }
    const bool near = row.below_one > E(-0.5);
    const E ratio = row.others * (1 / static_cast<E>(weight));
    const E log = log1p(near ? row.below_one : ratio);
    const E shift = static_cast<E>(log_weight);
    epistemic = -static_cast<E>(weight) * (near ? log : log + shift);
    // One logarithm serves both, but with a weight above 1/4 the difference would cancel.
    const E log_far = weight > 0.25 ? log1p(ratio) : near ? log - shift : log;
    deficit = static_cast<E>(weight) * log_far;
  }
  DISSENT_BOTH void merge(const RowTerms& other) {
    epistemic += other.epistemic;
    deficit += other.deficit;
  }

  // The exponentials underflowed, or with tiny weights a ratio overflowed: the log deficit is for FarSum.
  DISSENT_BOTH bool far() const {
    const E tiny = sizeof(E) == 8 ? E(1e-200) : E(1e-30);
    return !(deficit >= tiny && deficit <= E(1e30));
  }
};

struct Score {
  double epistemic;
  double log_deficit;
};

// The smaller of epistemic and deficit keeps its digits; the other is H(w) minus it.
template <class E>
DISSENT_BOTH Score score_of(const RowTerms<E>& terms, double entropy) {
  const double value = terms.epistemic > 0 ? static_cast<double>(terms.epistemic) : 0;
  const double gap = terms.far() ? 0 : static_cast<double>(terms.deficit);
  const bool small = value < gap;
  const double rest = small ? entropy - value : gap;
  return {small ? value : entropy - gap, log(rest > 1e-300 ? rest : 1e-300)};
}

// sum_{i != j} w_i w_j D_ij / sum_{i != j} w_i w_j, which has no upper limit.
struct ExpectedSum {
  double sum = 0;
  double weight = 0;

  DISSENT_BOTH void add(double pair_weight, double divergence) {
    sum += pair_weight > 0 ? pair_weight * divergence : 0;
    weight += pair_weight;
  }
  DISSENT_BOTH void merge(const ExpectedSum& other) {
    sum += other.sum;
    weight += other.weight;
  }
  DISSENT_BOTH Score score(double entropy) const {
    const double value = weight > 0 ? sum / weight : 0;
    return {value, entropy > value ? log(entropy - value) : -infinity()};
  }
};

// ln sum_{i != j} w_j exp(-D_ij) over components of positive weight: the log deficit if all terms are tiny. One
// term is ln w_j - D_ij; the sum is taken relative to the largest.
struct FarSum {
  double high = -infinity();
  double sum = 0;

  DISSENT_BOTH void add(double term) { *this = merged(*this, {term, term > -1e308 ? 1.0 : 0.0}); }
  DISSENT_BOTH void merge(const FarSum& other) { *this = merged(*this, other); }
  DISSENT_BOTH double log_deficit() const { return sum > 0 ? high + log(sum) : -infinity(); }

 private:
  static DISSENT_BOTH_RARELY FarSum merged(const FarSum a, const FarSum b) {
    const FarSum larger = a.high >= b.high ? a : b;
    const FarSum smaller = a.high >= b.high ? b : a;
    return {larger.high, larger.sum + (smaller.sum > 0 ? smaller.sum * exp(smaller.high - larger.high) : 0)};
  }
};

}  // namespace dissent::score
