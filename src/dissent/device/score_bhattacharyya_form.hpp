// Bhattacharyya: see divergence/bhattacharyya_kernel.cpp.
#pragma once

#include "dissent/device/score_form.hpp"
#include "dissent/device/score_math.hpp"

namespace dissent::score {

struct BhattacharyyaForm {
  static constexpr int kSingleFrom = 1;
  static constexpr bool kSplitsMeans = false;
  static constexpr bool kUnits = false;
  // In float, a product of this many may overflow if scales differ by factors of hundreds; fold() notices.
  template <class C>
  static constexpr int kFold = sizeof(C) == 8 ? LogProduct<C>::kFold : 16;

  template <class C>
  struct Unit {};
  template <class C>
  struct Part {
    C mean, stddev, inverse;  // inverse: 1 / (sqrt(2) stddev)
  };
  // sum_d u_d / (1 + x_d), and prod_d (1 + x_d) = 2^exponent (1 + excess).
  template <class C>
  struct Pair {
    C sum = 0;
    C excess = 0;
    int exponent = 0;

    DISSENT_BOTH void add(const Part<C>& i, const Part<C>& j, const Unit<C>&) {
      const C delta = i.mean - j.mean;
      const C gap = i.stddev - j.stddev;
      const C inverses = i.inverse * j.inverse;
      const C x = gap * (gap * inverses);
      const C more = 1 + x;
      sum = fma(delta * (delta * inverses), reciprocal(more), sum);
      excess = fma(excess, more, x);
    }
    // Splits the exponent off a product of 2 or more, where no digit of the excess depends on the 1.
    DISSENT_BOTH void fold() {
      C product = 1 + excess;
      sum = fma(C{0}, product, sum);  // NaN if the product overflowed
      const int power = split_exponent(product);
      exponent += excess < 1 ? 0 : power;
      excess = excess < 1 ? excess : product - 1;
    }
    DISSENT_BOTH void merge(const Pair& other) {
      sum += other.sum;
      excess = fma(excess, other.excess, excess + other.excess);
      exponent += other.exponent;
    }
  };

  template <class C>
  DISSENT_BOTH Unit<C> unit(C) const {
    return {};
  }
  template <class C>
  DISSENT_BOTH Part<C> part(C mean, C stddev, const Unit<C>&) const {
    return {mean, stddev, static_cast<C>(0.70710678118654752440) * reciprocal(stddev)};
  }
  template <class C>
  DISSENT_BOTH C factor(C stddev, const Unit<C>&) const {
    return stddev;
  }
  template <class C>
  DISSENT_BOTH Both values(const Pair<C>& pair, const LogParts&, const LogParts&) const {
    const C log = fma(static_cast<C>(pair.exponent), static_cast<C>(kLn2), log1p(pair.excess));
    const double value = C(0.5) * fma(C(0.5), pair.sum, log);
    return {value, value};
  }
  template <class C, class T>
  DISSENT_BOTH double least(double) const {
    return 0;
  }
};

}  // namespace dissent::score
