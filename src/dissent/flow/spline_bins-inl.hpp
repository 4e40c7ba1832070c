// What the vectorised splines share: bins from raw parameters, the bin of a value, gradients back to raw parameters.
//
// Compiled once for each instruction set (Highway's foreach_target); one lane is one row of the batch. Positions and
// sizes are on the unit square; the bin of a value is decided on [-B, B], with the knots rounded exactly as in the
// evaluation that follows, so that forward and inverse agree on them to the bit.
#if defined(DISSENT_FLOW_SPLINE_BINS_INL_) == defined(HWY_TARGET_TOGGLE)
#ifdef DISSENT_FLOW_SPLINE_BINS_INL_
#undef DISSENT_FLOW_SPLINE_BINS_INL_
#else
#define DISSENT_FLOW_SPLINE_BINS_INL_
#endif

#include <hwy/contrib/math/math-inl.h>
#include <hwy/highway.h>

#include "dissent/base/simd_math-inl.hpp"
#include "dissent/flow/lane_inline.hpp"
#include "dissent/flow/transform.hpp"
#include "dissent/flow/transform_reference.hpp"

HWY_BEFORE_NAMESPACE();
namespace dissent::HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

template <class D>
using V = hn::Vec<D>;

// The square's edges in x and y, as vectors: f(x) = x outside [-bound, bound].
template <class D>
struct Domain {
  Domain(D d, double tail_bound)
      : bound(hn::Set(d, static_cast<hn::TFromD<D>>(tail_bound))), span(hn::Add(bound, bound)) {}

  auto contains(V<D> x) const { return hn::And(hn::Ge(x, hn::Neg(bound)), hn::Le(x, bound)); }
  V<D> clamp(V<D> x) const { return hn::Max(hn::Neg(bound), hn::Min(x, bound)); }
  V<D> from_unit(V<D> t) const { return hn::MulSub(span, t, bound); }

  V<D> bound;
  V<D> span;  // 2 B
};

template <class D>
DISSENT_LANE_INLINE V<D> constant(D d, double value) {
  return hn::Set(d, static_cast<hn::TFromD<D>>(value));
}

template <class D>
DISSENT_LANE_INLINE V<D> sigmoid(D d, V<D> u) {
  const V<D> one = constant(d, 1);
  return hn::Div(one, hn::Add(one, hn::Exp(d, hn::Neg(hn::Max(u, constant(d, -80))))));  // exp(80) is finite in float
}

// ln(1 + exp u), without overflow.
template <class D>
DISSENT_LANE_INLINE V<D> softplus(D d, V<D> u) {
  return hn::Add(hn::Max(u, hn::Zero(d)), hn::Log1p(d, hn::Exp(d, hn::Neg(hn::Abs(u)))));
}

// A sum of positive terms. In float, when there are many, it carries its rounding error along (Dekker), because knots
// summed from tens of bins would otherwise miss the border by more than the inverse may; double has room enough.
template <class D>
class RunningSum {
 public:
  DISSENT_LANE_INLINE RunningSum(D d, int num_terms)
      : sum_(hn::Zero(d)), error_(hn::Zero(d)), careful_(sizeof(hn::TFromD<D>) == 4 && num_terms > 16) {}

  DISSENT_LANE_INLINE void add(V<D> term) {
    const V<D> next = hn::Add(sum_, term);
    if (careful_) {
      error_ = hn::Add(error_, hn::Sub(term, hn::Sub(next, sum_)));
    }
    sum_ = next;
  }
  DISSENT_LANE_INLINE V<D> value() const { return careful_ ? hn::Add(sum_, error_) : sum_; }

 private:
  V<D> sum_;
  V<D> error_;
  bool careful_;
};

// size_k = kMinBin + (1 - K kMinBin) softmax(raw)_k; raw parameter k of the lanes is at raw[k * stride].
template <class D, class T>
DISSENT_LANE_INLINE void bin_sizes(D d, const T* HWY_RESTRICT raw, std::size_t stride, int num_bins,
                                   V<D>* HWY_RESTRICT size) {
  V<D> high = hn::LoadU(d, raw);
  for (int k = 1; k < num_bins; ++k) {
    high = hn::Max(high, hn::LoadU(d, raw + k * stride));
  }
  RunningSum<D> sum(d, num_bins);
  for (int k = 0; k < num_bins; ++k) {
    size[k] = exponential<T>(hn::Sub(hn::LoadU(d, raw + k * stride), high)).exp;
    sum.add(size[k]);
  }
  const V<D> least = constant(d, kMinBin);
  const V<D> scale = hn::Div(constant(d, 1 - kMinBin * num_bins), sum.value());
  for (int k = 0; k < num_bins; ++k) {
    size[k] = hn::MulAdd(size[k], scale, least);
  }
}

// One bin's left or lower knot, its size and those of its neighbours (at the ends: its own), along one axis.
template <class D>
struct BinAxis {
  V<D> start;
  V<D> size;
  V<D> before;
  V<D> after;

  BinAxis(D d, const V<D>* sizes) : start(hn::Zero(d)), size(sizes[0]), before(sizes[0]), after(sizes[1]) {}

  template <class M>
  DISSENT_LANE_INLINE void move_to(M chosen, int k, int num_bins, V<D> knot, const V<D>* sizes) {
    start = hn::IfThenElse(chosen, knot, start);
    before = hn::IfThenElse(chosen, sizes[k - 1], before);
    size = hn::IfThenElse(chosen, sizes[k], size);
    after = hn::IfThenElse(chosen, sizes[k + 1 < num_bins ? k + 1 : k], after);
  }
};

template <class D>
struct Bin {
  BinAxis<D> x;
  BinAxis<D> y;
  V<D> index;
};

// The bin that holds `at` (an x, or with kInverse a y). `visit(chosen, k)` makes further per-bin choices follow.
template <bool kInverse, class D, class Visit>
DISSENT_LANE_INLINE Bin<D> find_bin(D d, const Domain<D>& domain, V<D> at, int num_bins, const V<D>* HWY_RESTRICT width,
                                    const V<D>* HWY_RESTRICT height, Visit visit) {
  Bin<D> bin{BinAxis<D>(d, width), BinAxis<D>(d, height), hn::Zero(d)};
  RunningSum<D> widths(d, num_bins);
  RunningSum<D> heights(d, num_bins);
  for (int k = 1; k < num_bins; ++k) {
    widths.add(width[k - 1]);
    heights.add(height[k - 1]);
    const V<D> left = widths.value();
    const V<D> bottom = heights.value();
    const auto chosen = hn::Ge(at, domain.from_unit(kInverse ? bottom : left));
    bin.x.move_to(chosen, k, num_bins, left, width);
    bin.y.move_to(chosen, k, num_bins, bottom, height);
    bin.index = hn::IfThenElse(chosen, constant(d, k), bin.index);
    visit(chosen, k);
  }
  // The last bin ends at the border exactly, whatever the sizes' rounding adds up to: otherwise f(B) would miss B.
  const auto last = hn::Gt(bin.index, constant(d, num_bins - 1.5));
  bin.x.size = hn::IfThenElse(last, hn::Sub(constant(d, 1), bin.x.start), bin.x.size);
  bin.y.size = hn::IfThenElse(last, hn::Sub(constant(d, 1), bin.y.start), bin.y.size);
  return bin;
}

// (at - knot) / size within the bin, in [0, 1] whatever the rounding.
template <class D>
DISSENT_LANE_INLINE V<D> place_in_bin(D d, const Domain<D>& domain, V<D> at, const BinAxis<D>& axis) {
  const V<D> place = hn::Div(hn::Sub(at, domain.from_unit(axis.start)), hn::Mul(domain.span, axis.size));
  return hn::Max(hn::Zero(d), hn::Min(place, constant(d, 1)));
}

// Gradient with respect to one axis of the chosen bin k: its start, its own size and those of bins k - 1 and k + 1.
template <class D>
struct AxisGradient {
  V<D> start;
  V<D> size;
  V<D> before;
  V<D> after;
};

// From there to the raw parameters: start = sum of the sizes before k, and for the softmax
// d/draw_j = (size_j - kMinBin) (g_j - sum_i softmax_i g_i). The sum needs only the bins around k.
template <class D>
struct SoftmaxGradient {
  DISSENT_LANE_INLINE SoftmaxGradient(D d, const BinAxis<D>& axis, V<D> index, const AxisGradient<D>& gradient,
                                      int num_bins)
      : g(gradient), least(constant(d, kMinBin)), start_and_before(hn::Add(g.start, g.before)) {
    V<D> total = hn::Mul(g.start, hn::NegMulAdd(index, least, axis.start));
    total = hn::MulAdd(g.size, hn::Sub(axis.size, least), total);
    total = hn::MulAdd(g.before, hn::Sub(axis.before, least), total);
    total = hn::MulAdd(g.after, hn::Sub(axis.after, least), total);
    mean = hn::Mul(total, constant(d, 1 / (1 - kMinBin * num_bins)));
  }

  // For bin j, given whether k >= j - 1, j, j + 1, j + 2.
  template <class M>
  DISSENT_LANE_INLINE V<D> at(V<D> size, M before, M own, M after, M beyond) const {
    V<D> direct = hn::IfThenElseZero(before, g.after);
    direct = hn::IfThenElse(own, g.size, direct);
    direct = hn::IfThenElse(after, start_and_before, direct);
    direct = hn::IfThenElse(beyond, g.start, direct);
    return hn::Mul(hn::Sub(size, least), hn::Sub(direct, mean));
  }

  AxisGradient<D> g;
  V<D> least;
  V<D> start_and_before;
  V<D> mean;
};

// The gradient of one axis: raw parameter j of the lanes goes to grad_raw[j * stride].
template <class D, class T>
DISSENT_LANE_INLINE void store_axis_gradient(D d, const BinAxis<D>& axis, V<D> index, const AxisGradient<D>& g,
                                             int num_bins, const V<D>* HWY_RESTRICT size, std::size_t stride,
                                             T* HWY_RESTRICT grad_raw) {
  const SoftmaxGradient<D> gradient(d, axis, index, g, num_bins);
  const auto reaches = [&](int j) { return hn::Ge(index, constant(d, j)); };
  for (int j = 0; j < num_bins; ++j) {
    hn::StoreU(gradient.at(size[j], reaches(j - 1), reaches(j), reaches(j + 1), reaches(j + 2)), d,
               grad_raw + j * stride);
  }
}

}  // namespace dissent::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
