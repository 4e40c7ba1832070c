// The divergences of pairs of diagonal Gaussians as sums over outputs, in the forms of divergence/*_kernel.cpp, whose
// files say why: KL, Bhattacharyya, Chernoff, Wasserstein. A form has, for the type computed in, C:
//   Unit        what an output is measured in; made of the first component's standard deviation
//   Part        what a component and output contribute
//   Pair        a running pair, both directions: add() an output, fold() every LogProduct::kFold of them, merge() lanes
//   factor()    what enters a component's LogProduct; its logarithm is the sum of ln stddev, but for Chernoff, where it
//               is measured in the unit
//   values()    the two divergences in double
//   least()     the smallest divergence that sums in C are trusted with
#pragma once

#include "dissent/device/score_math.hpp"

namespace dissent::score {

struct Both {
  double there;  // D(i || j)
  double back;   // D(j || i)
};

// What float sums, and double ones, leave of a divergence whose terms cancel: see divergence/pairwise.cpp.
template <class C, class T>
DISSENT_BOTH double least_of_cancelling(double num_outputs) {
  return sizeof(C) == 4 ? 0.08 * sqrt(num_outputs) : sizeof(T) == 4 ? 1e-7 : 1e-4 * sqrt(num_outputs);
}

struct KlForm {
  static constexpr bool kCancels = true;
  static constexpr bool kUnits = false;

  template <class C>
  struct Unit {};
  template <class C>
  struct Part {
    C mean, variance, precision;
  };
  template <class C>
  struct Pair {
    C there = 0;
    C back = 0;

    DISSENT_BOTH void add(const Part<C>& i, const Part<C>& j, const Unit<C>&) {
      const C delta = i.mean - j.mean;
      const C gap = i.variance - j.variance;
      there = fma(fma(delta, delta, gap), j.precision, there);
      back = fma(fma(delta, delta, -gap), i.precision, back);
    }
    DISSENT_BOTH void fold() {}
    DISSENT_BOTH void merge(const Pair& other) {
      there += other.there;
      back += other.back;
    }
  };

  template <class C>
  DISSENT_BOTH Unit<C> unit(C) const {
    return {};
  }
  template <class C>
  DISSENT_BOTH Part<C> part(C mean, C stddev, const Unit<C>&) const {
    const C variance = stddev * stddev;
    return {mean, variance, reciprocal(variance)};
  }
  template <class C>
  DISSENT_BOTH C factor(C stddev, const Unit<C>&) const {
    return stddev;
  }
  template <class C>
  DISSENT_BOTH Both values(const Pair<C>& pair, const LogParts& i, const LogParts& j) const {
    const double log = fma(j.exponent - i.exponent, kLn2, j.mantissa - i.mantissa);
    return {fma(0.5, static_cast<double>(pair.there), log), fma(0.5, static_cast<double>(pair.back), -log)};
  }
  template <class C, class T>
  DISSENT_BOTH double least(double num_outputs) const {
    return least_of_cancelling<C, T>(num_outputs);
  }
};

struct BhattacharyyaForm {
  static constexpr bool kCancels = false;
  static constexpr bool kUnits = false;

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
      sum = fma(delta * (delta * inverses), reciprocal(1 + x), sum);
      excess = fma(excess, x, excess + x);
    }
    // Splits the exponent off a product of 2 or more, where no digit of the excess depends on the 1.
    DISSENT_BOTH void fold() {
      C product = 1 + excess;
      sum = fma(C{0}, product, sum);  // NaN where the product overflowed
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
    const double log = fma(static_cast<double>(pair.exponent), kLn2, log1p(static_cast<double>(pair.excess)));
    const double value = 0.5 * fma(0.5, static_cast<double>(pair.sum), log);
    return {value, value};
  }
  template <class C, class T>
  DISSENT_BOTH double least(double) const {
    return 0;
  }
};

struct ChernoffForm {
  static constexpr bool kCancels = true;
  static constexpr bool kUnits = true;
  double alpha;

  template <class C>
  struct Unit {
    C inverse, square;  // 1 / s_0, 1 / s_0^2
  };
  template <class C>
  struct Part {
    C mean, first, second;  // (1 - alpha) v, alpha v with v in units of the first component's
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
    return least_of_cancelling<C, T>(num_outputs);
  }
};

struct WassersteinForm {
  static constexpr bool kCancels = false;
  static constexpr bool kUnits = false;

  template <class C>
  struct Unit {};
  template <class C>
  struct Part {
    C mean, stddev, unused;
  };
  template <class C>
  struct Pair {
    C sum = 0;

    DISSENT_BOTH void add(const Part<C>& i, const Part<C>& j, const Unit<C>&) {
      const C delta = i.mean - j.mean;
      const C gap = i.stddev - j.stddev;
      sum = fma(delta, delta, fma(gap, gap, sum));
    }
    DISSENT_BOTH void fold() {}
    DISSENT_BOTH void merge(const Pair& other) { sum += other.sum; }
  };

  template <class C>
  DISSENT_BOTH Unit<C> unit(C) const {
    return {};
  }
  template <class C>
  DISSENT_BOTH Part<C> part(C mean, C stddev, const Unit<C>&) const {
    return {mean, stddev, C{0}};
  }
  template <class C>
  DISSENT_BOTH C factor(C stddev, const Unit<C>&) const {
    return stddev;
  }
  template <class C>
  DISSENT_BOTH Both values(const Pair<C>& pair, const LogParts&, const LogParts&) const {
    return {static_cast<double>(pair.sum), static_cast<double>(pair.sum)};
  }
  // Squares of smaller gaps are subnormal in float.
  template <class C, class T>
  DISSENT_BOTH double least(double) const {
    return sizeof(C) == 4 ? 1e-20 : 0;
  }
};

// The scales that LogProduct and the forms can bear: stddevs, and for forms with units their ratios to the first.
template <class C>
struct ScaleLimits {
  static constexpr C kStddev = sizeof(C) == 8 ? C(1e18) : C(1e9);
  static constexpr C kRatio = sizeof(C) == 8 ? C(1e18) : C(1e4);
};

}  // namespace dissent::score
