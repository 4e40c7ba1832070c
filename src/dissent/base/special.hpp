// Special functions that keep their relative accuracy where the textbook form cancels or overflows.
#pragma once

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <numbers>
#include <span>

namespace dissent {

// Whether no value is NaN or infinite. It looks for exponents of all ones, which the compiler can do on vectors of
// values.
inline bool all_finite(std::span<const double> values) {
  constexpr std::uint64_t kExponent = std::uint64_t{0x7ff} << 52;
  std::uint64_t found = 0;
  for (const double value : values) {  // only an exponent of all ones carries into the sign
    found |= (std::bit_cast<std::uint64_t>(value) & kExponent) + (std::uint64_t{1} << 52);
  }
  return found >> 63 == 0;
}

// x - log(1 + x), for x > -1; never negative, 0 only at 0. Near 0 the two terms agree in their leading digits, so the
// difference is summed as a series instead: with r = x / (2 + x), log1p(x) = 2 atanh(r), which gives
// x - log1p(x) = r (x - 2 r^2 (1/3 + r^2/5 + r^4/7 + ...)). Relative error below 1e-15 on |x| <= 0.4.
inline double x_minus_log1p(double x) {
  if (std::abs(x) > 0.4) {
    return x - std::log1p(x);
  }
  const double r = x / (2 + x);
  const double square = r * r;
  double series = 0;
  for (int k = 23; k >= 3; k -= 2) {
    series = series * square + 1.0 / k;
  }
  return r * (x - 2 * square * series);
}

// log(exp(a) + exp(b)); -infinity is the empty sum. NaN in, NaN out.
inline double log_add_exp(double a, double b) {
  if (a == b) {  // two equal infinities have no difference
    return a + std::numbers::ln2;
  }
  return std::max(a, b) + std::log1p(std::exp(-std::abs(a - b)));
}

// log sum_k exp(x_k), without overflow; -infinity for an empty span or when all x_k are -infinity. NaN in, NaN out.
inline double log_sum_exp(std::span<const double> x) {
  double high = -std::numeric_limits<double>::infinity();
  for (const double v : x) {
    high = v > high || std::isnan(v) ? v : high;
  }
  if (!std::isfinite(high)) {
    return high;
  }
  double sum = 0;
  for (const double v : x) {
    sum += std::exp(v - high);
  }
  return high + std::log(sum);
}

}  // namespace dissent
