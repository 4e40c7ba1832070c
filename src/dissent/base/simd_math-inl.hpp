// exp, expm1, log and log1p over vectors, float or double, to a few units in the last place, compiled once per
// instruction set (Highway's foreach_target). They serve only arguments that our kernels can have: no subnormal,
// negative or infinite arguments of the logarithms, no positive ones of the exponential.
#if defined(DISSENT_BASE_SIMD_MATH_INL_) == defined(HWY_TARGET_TOGGLE)
#ifdef DISSENT_BASE_SIMD_MATH_INL_
#undef DISSENT_BASE_SIMD_MATH_INL_
#else
#define DISSENT_BASE_SIMD_MATH_INL_
#endif

#include <hwy/highway.h>

#include <type_traits>

HWY_BEFORE_NAMESPACE();
namespace dissent::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

template <class C>
using Tag = hn::ScalableTag<C>;
template <class C>
using Vec = hn::Vec<Tag<C>>;

// The layout of a floating-point number, and ln 2 in two parts, the first with trailing zeros.
template <class C>
struct Format {
  static constexpr bool kDouble = std::is_same_v<C, double>;
  static constexpr int kMantissaBits = kDouble ? 52 : 23;
  static constexpr int kBias = kDouble ? 1023 : 127;
  static constexpr C kLn2High = kDouble ? C(0x1.62e42fefa38p-1) : C(0x1.62e4p-1);
  static constexpr C kLn2Low = kDouble ? C(0x1.ef35793c7673p-45) : C(0x1.7f7d1cf79abcap-20);
};

template <class C>
HWY_INLINE Vec<C> polynomial(Vec<C>, Vec<C> last) {
  return last;
}
// Horner: the coefficients of the highest power first.
template <class C, class... Rest>
HWY_INLINE Vec<C> polynomial(Vec<C> x, Vec<C> sum, double next, Rest... rest) {
  return polynomial<C>(x, hn::MulAdd(sum, x, hn::Set(Tag<C>(), static_cast<C>(next))), rest...);
}

template <class C>
struct Exponential {
  Vec<C> exp;
  Vec<C> expm1;
};

// exp(x) and exp(x) - 1 for x <= 0. x = k ln 2 + f, |f| <= (ln 2) / 2; expm1(f) by its Taylor polynomial, then
// exp(x) = 2^k expm1(f) + 2^k. If exp(x) would be subnormal, it stays at the smallest normal number.
template <class C>
HWY_INLINE Exponential<C> exponential(Vec<C> x) {
  const Tag<C> d;
  const hn::RebindToSigned<Tag<C>> di;
  using F = Format<C>;
  x = hn::Max(hn::Set(d, F::kDouble ? C{-708} : C{-87}), x);  // this order lets a NaN through on x86
  // Adding 1.5 * 2^52 (2^23) rounds to a whole number and leaves it in the low bits as well.
  const Vec<C> magic = hn::Set(d, F::kDouble ? C{0x1.8p52} : C{0x1.8p23});
  const Vec<C> shifted = hn::MulAdd(x, hn::Set(d, static_cast<C>(1.4426950408889634074)), magic);
  const Vec<C> k = hn::Sub(shifted, magic);
  Vec<C> f = hn::NegMulAdd(k, hn::Set(d, F::kLn2High), x);
  f = hn::NegMulAdd(k, hn::Set(d, F::kLn2Low), f);
  Vec<C> p = hn::Zero(d);
  if constexpr (F::kDouble) {
    p = polynomial<C>(f, hn::Set(d, 1.0 / 479001600), 1.0 / 39916800, 1.0 / 3628800, 1.0 / 362880, 1.0 / 40320,
                      1.0 / 5040, 1.0 / 720, 1.0 / 120, 1.0 / 24, 1.0 / 6, 0.5);
  } else {
    p = polynomial<C>(f, hn::Set(d, static_cast<C>(1.0 / 5040)), 1.0 / 720, 1.0 / 120, 1.0 / 24, 1.0 / 6, 0.5);
  }
  p = hn::MulAdd(hn::Mul(f, f), p, f);
  const auto exponent = hn::ShiftLeft<F::kMantissaBits>(hn::Add(hn::BitCast(di, shifted), hn::Set(di, F::kBias)));
  const Vec<C> scale = hn::BitCast(d, exponent);
  return {hn::MulAdd(scale, p, scale), hn::MulAdd(scale, p, hn::Sub(scale, hn::Set(d, C{1})))};
}

// ln(1 + f) + k ln 2 for |f| <= 0.42, with s = f / (2 + f): 2 atanh(s) = 2 s (1 + s^2/3 + s^4/5 + ...).
template <class C>
HWY_INLINE Vec<C> log_reduced(Vec<C> f, Vec<C> k) {
  const Tag<C> d;
  using F = Format<C>;
  const Vec<C> s = hn::Div(f, hn::Add(hn::Set(d, C{2}), f));
  const Vec<C> z = hn::Mul(s, s);
  Vec<C> p = hn::Zero(d);
  if constexpr (F::kDouble) {
    p = polynomial<C>(z, hn::Set(d, 2.0 / 21), 2.0 / 19, 2.0 / 17, 2.0 / 15, 2.0 / 13, 2.0 / 11, 2.0 / 9, 2.0 / 7,
                      2.0 / 5, 2.0 / 3);
  } else {
    p = polynomial<C>(z, hn::Set(d, static_cast<C>(2.0 / 9)), 2.0 / 7, 2.0 / 5, 2.0 / 3);
  }
  // 2 s = f - s f exactly, so the sum begins with f itself.
  const Vec<C> tail = hn::Sub(hn::Mul(hn::Mul(s, z), p), hn::Mul(s, f));
  const Vec<C> low = hn::MulAdd(k, hn::Set(d, F::kLn2Low), tail);
  return hn::MulAdd(k, hn::Set(d, F::kLn2High), hn::Add(f, low));
}

// Splits positive normal x into 2^k m, m in [sqrt(1/2), sqrt(2)); returns m and sets k and the scale 2^-k.
template <class C>
HWY_INLINE Vec<C> split(Vec<C> x, Vec<C>& k, Vec<C>& scale) {
  const Tag<C> d;
  const hn::RebindToSigned<Tag<C>> di;
  using F = Format<C>;
  const auto one = hn::BitCast(di, hn::Set(d, C{1}));
  const auto bits = hn::BitCast(di, x);
  const auto root = hn::BitCast(di, hn::Set(d, static_cast<C>(0.70710678118654752)));
  // The whole exponent field of x / sqrt(1/2), as a number of steps of 2.
  const auto steps = hn::ShiftRight<F::kMantissaBits>(hn::Sub(bits, root));
  const auto shift = hn::ShiftLeft<F::kMantissaBits>(steps);
  k = hn::ConvertTo(d, steps);
  scale = hn::BitCast(d, hn::Sub(one, shift));
  return hn::BitCast(d, hn::Sub(bits, shift));
}

template <class C>
HWY_INLINE Vec<C> log(Vec<C> x) {
  const Tag<C> d;
  Vec<C> k = hn::Zero(d);
  Vec<C> scale = hn::Zero(d);
  const Vec<C> m = split<C>(x, k, scale);
  return log_reduced<C>(hn::Sub(m, hn::Set(d, C{1})), k);
}

// ln(1 + x) for x > -1, keeping the digits of a small x: what 1 + x rounds away is added back to the reduced argument.
template <class C>
HWY_INLINE Vec<C> log1p(Vec<C> x) {
  const Tag<C> d;
  const Vec<C> one = hn::Set(d, C{1});
  const Vec<C> sum = hn::Add(one, x);
  Vec<C> k = hn::Zero(d);
  Vec<C> scale = hn::Zero(d);
  const Vec<C> m = split<C>(sum, k, scale);
  // For x < 1 the error of 1 + x is x - (sum - 1), for larger x it is 1 - (sum - x).
  const Vec<C> lost = hn::IfThenElse(hn::Lt(x, one), hn::Sub(x, hn::Sub(sum, one)), hn::Sub(one, hn::Sub(sum, x)));
  return log_reduced<C>(hn::MulAdd(lost, scale, hn::Sub(m, one)), k);
}

}  // namespace dissent::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // include guard
