// Arithmetic of the scoring kernels. It runs on a card and on the host, where tests compare it with the library's
// estimators. float or double; accurate to a few units in the last place for the arguments that kernels use.
#pragma once

#include <bit>
#include <cmath>
#include <cstdint>

#if defined(__CUDACC__)
#define DISSENT_BOTH __host__ __device__ __forceinline__
#define DISSENT_BOTH_RARELY __host__ __device__ __noinline__
#else
#define DISSENT_BOTH inline
#define DISSENT_BOTH_RARELY inline
#endif

namespace dissent::score {

using std::exp;
using std::expm1;
using std::fabs;
using std::fma;
using std::hypot;
using std::isfinite;
using std::log;
using std::log1p;
using std::rint;
using std::sqrt;

inline constexpr double kLn2 = 0.69314718055994530941723212145818;
inline constexpr double kLogTwoPi = 1.8378770664093454835606594728112;
inline constexpr double kLargest = 1e300;  // a divergence beyond this is not trusted

DISSENT_BOTH double infinity() { return HUGE_VAL; }
DISSENT_BOTH double not_a_number() { return HUGE_VAL - HUGE_VAL; }

// The upper 32 bits of a number. They order positive numbers as the numbers themselves do; negative numbers come before
// them, NaN after.
DISSENT_BOTH int upper_bits(float x) {
#if defined(__CUDA_ARCH__)
  return __float_as_int(x);
#else
  return std::bit_cast<int>(x);
#endif
}
DISSENT_BOTH int upper_bits(double x) {
#if defined(__CUDA_ARCH__)
  return __double2hiint(x);
#else
  return static_cast<int>(std::bit_cast<std::uint64_t>(x) >> 32);
#endif
}
// x with other upper bits.
DISSENT_BOTH float with_upper_bits(float, int bits) {
#if defined(__CUDA_ARCH__)
  return __int_as_float(bits);
#else
  return std::bit_cast<float>(bits);
#endif
}
DISSENT_BOTH double with_upper_bits(double x, int bits) {
#if defined(__CUDA_ARCH__)
  return __hiloint2double(bits, __double2loint(x));
#else
  return std::bit_cast<double>((std::uint64_t{static_cast<std::uint32_t>(bits)} << 32) |
                               (std::bit_cast<std::uint64_t>(x) & 0xffffffffU));
#endif
}

template <class C>
struct Format;
template <>
struct Format<float> {
  static constexpr int kShift = 23;  // of the exponent in the upper bits
  static constexpr int kBias = 127;
  static constexpr float kLn2High = 0x1.62e4p-1F;
  static constexpr float kLn2Low = 0x1.7f7d1cp-20F;
  static constexpr float kLowest = -87;  // of exponential()
};
template <>
struct Format<double> {
  static constexpr int kShift = 20;
  static constexpr int kBias = 1023;
  static constexpr double kLn2High = 0x1.62e42fefa38p-1;
  static constexpr double kLn2Low = 0x1.ef35793c7673p-45;
  static constexpr double kLowest = -708;
};

// Takes the exponent off positive normal x, which becomes its mantissa in [1, 2).
template <class C>
DISSENT_BOTH int split_exponent(C& x) {
  constexpr int kShift = Format<C>::kShift;
  const int bits = upper_bits(x);
  x = with_upper_bits(x, (bits & ((1 << kShift) - 1)) | (Format<C>::kBias << kShift));
  return (bits >> kShift) - Format<C>::kBias;
}

// 1 / x to a rounding or two; infinite for subnormal x.
DISSENT_BOTH float reciprocal(float x) {
#if defined(__CUDA_ARCH__)
  float y;
  asm("rcp.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(x));
  return y;
#else
  return 1 / x;
#endif
}
DISSENT_BOTH double reciprocal(double x) {
#if defined(__CUDA_ARCH__)
  double y;
  asm("rcp.approx.ftz.f64 %0, %1;" : "=d"(y) : "d"(x));  // 20 bits; the next two lines triple them
  const double error = fma(-x, y, 1.0);
  return fma(y, fma(error, error, error), y);
#else
  return 1 / x;
#endif
}

template <class E>
struct Exponential {
  E exp;
  E expm1;
};

// Both for x <= 0, from x = k ln 2 + f and the Taylor polynomial of expm1(f). If exp(x) would be subnormal, it stays at
// the smallest normal number.
template <class E>
DISSENT_BOTH Exponential<E> exponential(E x) {
  using F = Format<E>;
  x = x < F::kLowest ? F::kLowest : x;
  const E k = rint(x * static_cast<E>(1.4426950408889634074));
  const E f = fma(-k, F::kLn2Low, fma(-k, F::kLn2High, x));
  E p;
  if constexpr (sizeof(E) == 8) {
    p = 1.0 / 479001600;
    p = fma(p, f, 1.0 / 39916800);
    p = fma(p, f, 1.0 / 3628800);
    p = fma(p, f, 1.0 / 362880);
    p = fma(p, f, 1.0 / 40320);
    p = fma(p, f, 1.0 / 5040);
  } else {
    p = static_cast<E>(1.0 / 5040);
  }
  p = fma(p, f, static_cast<E>(1.0 / 720));
  p = fma(p, f, static_cast<E>(1.0 / 120));
  p = fma(p, f, static_cast<E>(1.0 / 24));
  p = fma(p, f, static_cast<E>(1.0 / 6));
  p = fma(p, f, static_cast<E>(0.5));
  p = fma(f * f, p, f);
  const E scale = with_upper_bits(E{0}, (static_cast<int>(k) + F::kBias) << F::kShift);
  return {fma(scale, p, scale), fma(scale, p, scale - 1)};
}

// x - log(1 + x) for x > -1 (base/special.hpp); near 0 it is a series.
DISSENT_BOTH double x_minus_log1p(double x) {
  if (fabs(x) > 0.4) {
    return x - log1p(x);
  }
  const double r = x / (2 + x);
  const double square = r * r;
  double series = 0;
  for (int k = 23; k >= 3; k -= 2) {
    series = series * square + 1.0 / k;
  }
  return r * (x - 2 * square * series);
}

// log(exp(a) + exp(b)) of finite numbers or -infinity.
DISSENT_BOTH double log_add_exp(double a, double b) {
  return a == b ? a + kLn2 : (a > b ? a : b) + log1p(exp(-fabs(a - b)));
}

// ln x of a positive normal float to 1e-11, in half the steps of log: 2 atanh((x - 1) / (x + 1)) of the mantissa.
DISSENT_BOTH double log_of_float(float x) {
  double mantissa = x;
  int exponent = split_exponent(mantissa);
  const bool upper = mantissa > 1.4142135623730950488;
  mantissa = upper ? 0.5 * mantissa : mantissa;
  exponent += upper ? 1 : 0;
  const double s = (mantissa - 1) * reciprocal(mantissa + 1);
  const double square = s * s;
  double p = 2.0 / 13;
  p = fma(p, square, 2.0 / 11);
  p = fma(p, square, 2.0 / 9);
  p = fma(p, square, 2.0 / 7);
  p = fma(p, square, 2.0 / 5);
  p = fma(p, square, 2.0 / 3);
  p = fma(p, square, 2.0);
  return fma(static_cast<double>(exponent), kLn2, s * p);
}

// A product of positive numbers in [1e-9, 1e9] (double: [1e-18, 1e18]) as mantissa and exponent: one logarithm serves
// all of them. Call normalise() at least every kFold factors; then mantissas of 32 lanes can be merged.
template <class C>
struct LogProduct {
  static constexpr int kFold = sizeof(C) == 8 ? 8 : 4;
  C mantissa = 1;
  int exponent = 0;

  DISSENT_BOTH void multiply(C factor) { mantissa *= factor; }
  DISSENT_BOTH void normalise() { exponent += split_exponent(mantissa); }
  DISSENT_BOTH void merge(const LogProduct& other) {
    mantissa *= other.mantissa;
    exponent += other.exponent;
  }
};

// The logarithm of a product in two parts, exponent ln 2 + mantissa, so that differences of large ones stay exact.
struct LogParts {
  double mantissa = 0;  // ln of the mantissa
  double exponent = 0;

  template <class C>
  static DISSENT_BOTH LogParts of(const LogProduct<C>& product) {
    if constexpr (sizeof(C) == 4) {
      return {log_of_float(product.mantissa), static_cast<double>(product.exponent)};
    } else {
      return {log(product.mantissa), static_cast<double>(product.exponent)};
    }
  }
  DISSENT_BOTH double whole() const { return fma(exponent, kLn2, mantissa); }
};

// The smallest and largest of some scales, by their upper bits; NaN and numbers that are not positive fail the check
// too.
struct ScaleCheck {
  int low = 0x7fffffff;
  int high = 0;

  template <class T>
  DISSENT_BOTH void add(T scale) {
    const int bits = upper_bits(scale);
    low = bits < low ? bits : low;
    high = bits > high ? bits : high;
  }
  DISSENT_BOTH void merge(const ScaleCheck& other) {
    low = other.low < low ? other.low : low;
    high = other.high > high ? other.high : high;
  }
  DISSENT_BOTH bool is_empty() const { return low == 0x7fffffff; }
  template <class T>
  DISSENT_BOTH bool passed(T least, T most) const {
    return low > upper_bits(least) && high < upper_bits(most);
  }
};

}  // namespace dissent::score
