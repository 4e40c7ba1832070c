// Chernoff: see divergence/chernoff_kernel.cpp.
#pragma once

#include "dissent/device/score_form.hpp"
#include "dissent/device/score_math.hpp"

namespace dissent::score {

struct ChernoffForm {
  static constexpr int kSingleFrom = 32;
  static constexpr bool kSplitsMeans = false;
  static constexpr bool kUnits = true;
  template <class C>
  static constexpr int kFold = LogProduct<C>::kFold;
  double alpha;

  template <class C>
  struct Unit {
    C inverse, square;  // 1 / s_0, 1 / s_0^2
  };
  template <class C>
  struct Part {
    C mean, first, second;  // (1 - alpha) v, alpha v; v: variance in units of the first component's
  };
  template <class C>
  struct Pair {
    C sum_there = 0;
    C sum_back = 0;
    C product_there = 1;
    C product_back = 1;
    int exponent_there = 0;
    int exponent_back = 0;

    DISSENT_BOTH void add(const Part<C>& i, const Part<C>& j, const Unit<C>& unit) {
      const C delta = i.mean - j.mean;
      const C square = delta * delta * unit.square;
      const C there = i.first + j.second;
      const C back = j.first + i.second;
      sum_there = fma(square, reciprocal(there), sum_there);
      sum_back = fma(square, reciprocal(back), sum_back);
      product_there *= there;
      product_back *= back;
    }
    DISSENT_BOTH void fold() {
      exponent_there += split_exponent(product_there);
      exponent_back += split_exponent(product_back);
    }
    DISSENT_BOTH void merge(const Pair& other) {
      sum_there += other.sum_there;
      sum_back += other.sum_back;
      product_there *= other.product_there;
      product_back *= other.product_back;
      exponent_there += other.exponent_there;
      exponent_back += other.exponent_back;
    }
  };

  template <class C>
  DISSENT_BOTH Unit<C> unit(C stddev) const {
    const C inverse = reciprocal(stddev);
    return {inverse, inverse * inverse};
  }
  template <class C>
  DISSENT_BOTH Part<C> part(C mean, C stddev, const Unit<C>& unit) const {
    const C s = stddev * unit.inverse;
    const C variance = s * s;
    return {mean, static_cast<C>(1 - alpha) * variance, static_cast<C>(alpha) * variance};
  }
  template <class C>
  DISSENT_BOTH C factor(C stddev, const Unit<C>& unit) const {
    return stddev * unit.inverse;
  }
  template <class C>
  DISSENT_BOTH Both values(const Pair<C>& pair, const LogParts& i, const LogParts& j) const {
    const double scale = 0.5 * alpha * (1 - alpha);
    const double there = log_part(pair.product_there, pair.exponent_there, i, j);
    const double back = log_part(pair.product_back, pair.exponent_back, j, i);
    return {fma(scale, static_cast<double>(pair.sum_there), there),
            fma(scale, static_cast<double>(pair.sum_back), back)};
  }
  // 1/2 ln prod v_ij - (1 - alpha) ln prod s_i - alpha ln prod s_j
  DISSENT_BOTH double log_part(double product, int exponent, const LogParts& i, const LogParts& j) const {
    const double beta = 1 - alpha;
    const double exponents = fma(-beta, i.exponent, fma(-alpha, j.exponent, 0.5 * exponent));
    const double mantissas = fma(-beta, i.mantissa, fma(-alpha, j.mantissa, 0.5 * log(product)));
    return fma(exponents, kLn2, mantissas);
  }
  template <class C, class T>
  DISSENT_BOTH double least(double num_outputs) const {
    return (sizeof(C) == 4 ? 2 : 1) * least_of_cancelling<C, T>(num_outputs);  // a factor is rounded three times
  }
};

}  // namespace dissent::score
