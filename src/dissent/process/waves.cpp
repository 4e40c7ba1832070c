// Distances are sums of squared differences, four rows of `others` by two vectors at a time. A turn is reduced to half
// a turn on either side; the Taylor series of half its angle, at most pi / 2, then has an error of 1e-11, and doubling
// the angle costs three operations.
#include "dissent/process/waves.hpp"

#include <algorithm>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "dissent/process/waves.cpp"
#include "dissent/matrix/simd.hpp"
//
#include <hwy/foreach_target.h>
#include <hwy/highway.h>
//
#include <hwy/contrib/math/math-inl.h>

HWY_BEFORE_NAMESPACE();
namespace dissent {
namespace HWY_NAMESPACE {
namespace {

namespace hn = hwy::HWY_NAMESPACE;

constexpr double kLargestQ = 800;  // exp(-q) has underflowed; a larger q would overflow the polynomial before it
constexpr std::size_t kTileOthers = 4;
constexpr std::size_t kTileVectors = 2;

template <class D, class V = hn::Vec<D>>
HWY_INLINE void store_matern(D d, const Matern& m, std::size_t k, std::size_t b, V squared) {
  const V q = hn::Min(hn::Sqrt(hn::Mul(squared, hn::Set(d, 5.0))), hn::Set(d, kLargestQ));
  const V decay = hn::Mul(hn::Set(d, m.signal_variance), hn::Exp(d, hn::Neg(q)));
  const V one = hn::Set(d, 1.0);
  hn::Store(hn::Mul(decay, hn::MulAdd(q, hn::MulAdd(q, hn::Set(d, 1.0 / 3), one), one)), d, m.out.row(k) + b);
  if (m.slope.data != nullptr) {
    hn::Store(hn::Mul(hn::Mul(decay, hn::Set(d, 5.0 / 3)), hn::Add(q, one)), d, m.slope.row(k) + b);
  }
}

template <std::size_t K>
HWY_INLINE void matern_tile(const Matern& m, std::size_t k, std::size_t b) {
  const hn::ScalableTag<double> d;
  using V = hn::Vec<decltype(d)>;
  V squared[K][kTileVectors];
  DISSENT_UNROLL
  for (std::size_t i = 0; i < K; ++i) {
    DISSENT_UNROLL
    for (std::size_t v = 0; v < kTileVectors; ++v) {
      squared[i][v] = hn::Zero(d);
    }
  }
  const std::size_t num_columns = m.rows.rows;
  const double* others = m.others + k * num_columns;
  for (std::size_t c = 0; c < num_columns; ++c) {
    V x[kTileVectors];
    DISSENT_UNROLL
    for (std::size_t v = 0; v < kTileVectors; ++v) {
      x[v] = hn::Load(d, m.rows.row(c) + b + v * hn::Lanes(d));
    }
    DISSENT_UNROLL
    for (std::size_t i = 0; i < K; ++i) {
      const V other = hn::Set(d, others[i * num_columns + c]);
      DISSENT_UNROLL
      for (std::size_t v = 0; v < kTileVectors; ++v) {
        const V apart = hn::Sub(x[v], other);
        squared[i][v] = hn::MulAdd(apart, apart, squared[i][v]);
      }
    }
  }
  DISSENT_UNROLL
  for (std::size_t i = 0; i < K; ++i) {
    DISSENT_UNROLL
    for (std::size_t v = 0; v < kTileVectors; ++v) {
      store_matern(d, m, k + i, b + v * hn::Lanes(d), squared[i][v]);
    }
  }
}

// cos and sin of angles within +-pi / 2.
template <class D, class V = hn::Vec<D>>
HWY_INLINE void half_angle(D d, V angle, V& cosine, V& sine) {
  const V x = hn::Mul(angle, angle);
  const auto term = [&](V sum, double coefficient) HWY_ATTR { return hn::MulAdd(sum, x, hn::Set(d, coefficient)); };
  V c = hn::Set(d, 1.0 / 20922789888000.0);
  for (const double coefficient :
       {-1.0 / 87178291200, 1.0 / 479001600, -1.0 / 3628800, 1.0 / 40320, -1.0 / 720, 1.0 / 24, -1.0 / 2, 1.0}) {
    c = term(c, coefficient);
  }
  V s = hn::Set(d, -1.0 / 1307674368000.0);
  for (const double coefficient :
       {1.0 / 6227020800, -1.0 / 39916800, 1.0 / 362880, -1.0 / 5040, 1.0 / 120, -1.0 / 6, 1.0}) {
    s = term(s, coefficient);
  }
  cosine = c;
  sine = hn::Mul(s, angle);
}

}  // namespace

void matern_any(const Matern& m) {
  const std::size_t step = kTileVectors * hn::Lanes(hn::ScalableTag<double>());
  const std::size_t end = padded_batch(m.columns);
  for (std::size_t b = 0; b < end; b += step) {
    std::size_t k = 0;
    for (; k + kTileOthers <= m.out.rows; k += kTileOthers) {
      matern_tile<kTileOthers>(m, k, b);
    }
    for (; k < m.out.rows; ++k) {
      matern_tile<1>(m, k, b);
    }
  }
}

void waves_any(const Waves& w) {
  constexpr double kPi = 3.14159265358979323846;
  const hn::ScalableTag<double> d;
  using V = hn::Vec<decltype(d)>;
  const V two = hn::Set(d, 2 * w.scale);
  for (std::size_t p = 0; p < w.turns.rows; ++p) {
    for (std::size_t b = 0; b < padded_batch(w.columns); b += hn::Lanes(d)) {
      const V turn = hn::Load(d, w.turns.row(p) + b);
      V cosine;
      V sine;
      half_angle(d, hn::Mul(hn::Sub(turn, hn::Round(turn)), hn::Set(d, kPi)), cosine, sine);
      const V doubled = hn::Mul(two, sine);
      hn::Store(hn::Mul(doubled, cosine), d, w.sine.row(p) + b);
      hn::Store(hn::NegMulAdd(doubled, sine, hn::Set(d, w.scale)), d, w.cosine.row(p) + b);
    }
  }
}

}  // namespace HWY_NAMESPACE
}  // namespace dissent
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace dissent {

HWY_EXPORT(matern_any);
HWY_EXPORT(waves_any);

void matern(const Matern& m) { HWY_DYNAMIC_DISPATCH(matern_any)(m); }
void waves(const Waves& w) { HWY_DYNAMIC_DISPATCH(waves_any)(w); }

}  // namespace dissent
#endif
