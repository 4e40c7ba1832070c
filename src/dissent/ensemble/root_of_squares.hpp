// The root of a sum of squares, even if squares overflow or underflow, as for 1e170 and 1e-170.
#pragma once

#include <algorithm>
#include <cmath>
#include <span>

namespace dissent {

// sum(scale) is a sum of squares of values, each divided by `scale` first. largest() is their largest magnitude; it is
// called only if the plain sum overflows or underflows.
template <class Sum, class Largest>
double root_of_squares(const Sum& sum, const Largest& largest) {
  constexpr double kLeast = 1e-280;
  constexpr double kMost = 1e300;
  const double plain = sum(1.0);
  if (plain > kLeast && plain < kMost) {
    return std::sqrt(plain);
  }
  const double scale = largest();
  return scale > 0 && std::isfinite(scale) ? scale * std::sqrt(sum(scale)) : std::sqrt(plain);
}

inline double largest_magnitude(std::span<const double> values) {
  double largest = 0;
  for (const double value : values) {
    largest = std::max(largest, std::abs(value));
  }
  return largest;
}

}  // namespace dissent
