// A number as the unevaluated sum of two doubles, some 32 digits: for points on a line that are close together but far
// from 0, and for log densities far out, whose differences count and not their size.
//
// Sums and products are those of Dekker and Knuth, exact to the last bit of `low`. Only `high` holds infinities.
#pragma once

#include <cmath>
#include <compare>
#include <limits>

namespace dissent {

struct DoubleDouble {
  double high = 0;
  double low = 0;

  static DoubleDouble sum(double a, double b) {
    const double high = a + b;
    const double b_part = high - a;
    return {high, (a - (high - b_part)) + (b - b_part)};
  }
  static DoubleDouble minus_infinity() { return {-std::numeric_limits<double>::infinity(), 0}; }

  DoubleDouble plus(double other) const {
    DoubleDouble result = sum(high, other);
    result.low += low;
    return sum(result.high, result.low);
  }
  // The difference, rounded once.
  double minus(double other) const {
    const DoubleDouble difference = sum(high, -other);
    return difference.high + (difference.low + low);
  }
  double minus(const DoubleDouble& other) const { return (high - other.high) + (low - other.low); }
  DoubleDouble over(double divisor) const {
    const double quotient = high / divisor;
    return sum(quotient, (std::fma(-quotient, divisor, high) + low) / divisor);
  }
  DoubleDouble squared() const {
    const double square = high * high;
    return sum(square, std::fma(high, high, -square) + 2 * high * low);
  }
  auto operator<=>(const DoubleDouble&) const = default;
};

}  // namespace dissent
