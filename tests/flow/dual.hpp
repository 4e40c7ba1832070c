// Dual numbers: a value with its partial derivatives, for exact gradients of reference formulas in tests.
#pragma once

#include <cmath>
#include <cstddef>
#include <vector>

namespace dissent::test {

struct Dual {
  double value = 0;
  std::vector<double> partial;  // empty: a constant

  Dual() = default;
  Dual(double v) : value(v) {}  // NOLINT: constants mix freely with duals, as they do with double
  static Dual variable(double v, std::size_t index, std::size_t count) {
    Dual x(v);
    x.partial.assign(count, 0);
    x.partial[index] = 1;
    return x;
  }

  double by(std::size_t index) const { return partial.empty() ? 0 : partial[index]; }
};

// f(a, b) with known partial derivatives.
inline Dual chain(double value, const Dual& a, double by_a, const Dual& b, double by_b) {
  Dual result(value);
  result.partial.resize(a.partial.empty() ? b.partial.size() : a.partial.size());
  for (std::size_t k = 0; k < result.partial.size(); ++k) {
    result.partial[k] = (a.partial.empty() ? 0 : by_a * a.partial[k]) + (b.partial.empty() ? 0 : by_b * b.partial[k]);
  }
  return result;
}
inline Dual chain(double value, const Dual& a, double by_a) { return chain(value, a, by_a, Dual(), 0); }

inline Dual operator+(const Dual& a, const Dual& b) { return chain(a.value + b.value, a, 1, b, 1); }
inline Dual operator-(const Dual& a, const Dual& b) { return chain(a.value - b.value, a, 1, b, -1); }
inline Dual operator-(const Dual& a) { return chain(-a.value, a, -1); }
inline Dual operator*(const Dual& a, const Dual& b) { return chain(a.value * b.value, a, b.value, b, a.value); }
inline Dual operator/(const Dual& a, const Dual& b) {
  return chain(a.value / b.value, a, 1 / b.value, b, -a.value / (b.value * b.value));
}
inline bool operator<(const Dual& a, const Dual& b) { return a.value < b.value; }
inline bool operator>(const Dual& a, const Dual& b) { return a.value > b.value; }
inline Dual exp(const Dual& a) { return chain(std::exp(a.value), a, std::exp(a.value)); }
inline Dual log(const Dual& a) { return chain(std::log(a.value), a, 1 / a.value); }
inline Dual log1p(const Dual& a) { return chain(std::log1p(a.value), a, 1 / (1 + a.value)); }

}  // namespace dissent::test
