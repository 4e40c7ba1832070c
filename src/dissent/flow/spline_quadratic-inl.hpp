// Quadratic splines for one vector of rows: dy/dt is piecewise linear through the densities H_0 .. H_K at the knots.
//
// raw: K widths, K - 1 interior densities. With v_i = kMinSlope + softplus(raw_i) inside and v_0 = v_K = N / Q,
//   N = sum_k c_k w_k (v_k + v_k+1) without the end densities, c_k = 1/4 in end bins, else 1/2,
//   Q = 1 - (w_0 + w_K-1) / 4,
// H_i = kMinSlope + (1 - kMinSlope) v_i / area, so that the density's integral is one. The gradient walks this back.
#if defined(DISSENT_FLOW_SPLINE_QUADRATIC_INL_) == defined(HWY_TARGET_TOGGLE)
#ifdef DISSENT_FLOW_SPLINE_QUADRATIC_INL_
#undef DISSENT_FLOW_SPLINE_QUADRATIC_INL_
#else
#define DISSENT_FLOW_SPLINE_QUADRATIC_INL_
#endif

#include "dissent/flow/spline_lanes-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace dissent::HWY_NAMESPACE {

template <class D>
struct QuadraticBins {
  template <class T>
  DISSENT_LANE_INLINE QuadraticBins(D d, int bins, const T* raw, std::size_t stride) : num_bins(bins) {
    bin_sizes(d, raw, stride, num_bins, width);
    for (int i = 1; i < num_bins; ++i) {
      raw_density[i] = hn::LoadU(d, raw + (num_bins + i - 1) * stride);
      unscaled[i] = hn::Add(constant(d, kMinSlope), softplus(d, raw_density[i]));
    }
    unscaled[0] = unscaled[num_bins] = hn::Zero(d);
    V<D> inner = hn::Zero(d);
    for (int k = 0; k < num_bins; ++k) {
      inner = hn::MulAdd(hn::Mul(share(d, k), width[k]), hn::Add(unscaled[k], unscaled[k + 1]), inner);
    }
    over_q = hn::Div(constant(d, 1),
                     hn::NegMulAdd(constant(d, 0.25), hn::Add(width[0], width[num_bins - 1]), constant(d, 1)));
    unscaled[0] = unscaled[num_bins] = hn::Mul(inner, over_q);
    RunningSum<D> area(d, num_bins);  // twice the area
    for (int k = 0; k < num_bins; ++k) {
      area.add(hn::Mul(width[k], hn::Add(unscaled[k], unscaled[k + 1])));
    }
    over_area = hn::Div(constant(d, 2), area.value());
    const V<D> scale = hn::Mul(constant(d, 1 - kMinSlope), over_area);
    for (int i = 0; i <= num_bins; ++i) {
      density[i] = hn::MulAdd(unscaled[i], scale, constant(d, kMinSlope));
    }
  }

  DISSENT_LANE_INLINE V<D> share(D d, int k) const { return constant(d, k == 0 || k == num_bins - 1 ? 0.25 : 0.5); }

  int num_bins;
  V<D> over_q;
  V<D> over_area;
  V<D> width[Transform::kMaxBins];
  V<D> raw_density[Transform::kMaxBins];
  V<D> unscaled[Transform::kMaxBins + 1];  // v
  V<D> density[Transform::kMaxBins + 1];   // H
};

// The chosen bin: lower left knot, width, densities at its ends.
template <class D>
struct QuadraticBin {
  V<D> left;
  V<D> bottom;
  V<D> width;
  V<D> density0;
  V<D> density1;
  V<D> index;

  // Rise within the bin on the unit square, and its slope.
  DISSENT_LANE_INLINE V<D> rise(D d, V<D> theta) const {
    const V<D> half = hn::Mul(constant(d, 0.5), hn::Sub(density1, density0));
    return hn::Mul(hn::Mul(width, theta), hn::MulAdd(half, theta, density0));
  }
  DISSENT_LANE_INLINE V<D> slope(D d, V<D> theta) const {  // both terms positive
    return hn::MulAdd(density1, theta, hn::Mul(density0, hn::Sub(constant(d, 1), theta)));
  }
};

template <bool kInverse, class D>
DISSENT_LANE_INLINE QuadraticBin<D> find_quadratic_bin(D d, const Domain<D>& domain, const QuadraticBins<D>& bins,
                                                       V<D> at) {
  const V<D> zero = hn::Zero(d);
  QuadraticBin<D> bin{zero, zero, bins.width[0], bins.density[0], bins.density[1], zero};
  RunningSum<D> widths(d, bins.num_bins);
  RunningSum<D> heights(d, bins.num_bins);
  for (int k = 1; k < bins.num_bins; ++k) {
    const V<D> mean = hn::Mul(constant(d, 0.5), hn::Add(bins.density[k - 1], bins.density[k]));
    widths.add(bins.width[k - 1]);
    heights.add(hn::Mul(mean, bins.width[k - 1]));
    const V<D> left = widths.value();
    const V<D> bottom = heights.value();
    const auto chosen = hn::Ge(at, domain.from_unit(kInverse ? bottom : left));
    bin.left = hn::IfThenElse(chosen, left, bin.left);
    bin.bottom = hn::IfThenElse(chosen, bottom, bin.bottom);
    bin.width = hn::IfThenElse(chosen, bins.width[k], bin.width);
    bin.density0 = hn::IfThenElse(chosen, bins.density[k], bin.density0);
    bin.density1 = hn::IfThenElse(chosen, bins.density[k + 1], bin.density1);
    bin.index = hn::IfThenElse(chosen, constant(d, k), bin.index);
  }
  // The last bin ends at the border exactly. Its area may be so small that only its bottom can give way in y.
  const V<D> one = constant(d, 1);
  const auto last = hn::Gt(bin.index, constant(d, bins.num_bins - 1.5));
  bin.width = hn::IfThenElse(last, hn::Sub(one, bin.left), bin.width);
  bin.bottom = hn::IfThenElse(last, hn::Sub(one, bin.rise(d, one)), bin.bottom);
  return bin;
}

struct QuadraticKind {
  template <class D>
  static DISSENT_LANE_INLINE V<D> place(D d, const Domain<D>& domain, V<D> x, const QuadraticBin<D>& bin) {
    const V<D> theta = hn::Div(hn::Sub(x, domain.from_unit(bin.left)), hn::Mul(domain.span, bin.width));
    return hn::Max(hn::Zero(d), hn::Min(theta, constant(d, 1)));
  }

  template <class D, class T>
  static DISSENT_LANE_INLINE LaneResult<D> forward(D d, int num_bins, const Domain<D>& domain, V<D> x, const T* raw,
                                                   std::size_t stride) {
    const QuadraticBins<D> bins(d, num_bins, raw, stride);
    const V<D> at = domain.clamp(x);
    const QuadraticBin<D> bin = find_quadratic_bin<false>(d, domain, bins, at);
    const V<D> theta = place(d, domain, at, bin);
    const V<D> y = hn::MulAdd(domain.span, bin.rise(d, theta), domain.from_unit(bin.bottom));
    const auto inside = domain.contains(x);
    return {hn::IfThenElse(inside, domain.clamp(y), x), hn::IfThenElseZero(inside, hn::Log(d, bin.slope(d, theta)))};
  }

  // Solves rise = w (H0 theta + (H1 - H0) theta^2 / 2) by the root form that does not cancel, then one Newton step.
  template <class D, class T>
  static DISSENT_LANE_INLINE LaneResult<D> inverse(D d, int num_bins, const Domain<D>& domain, V<D> y, const T* raw,
                                                   std::size_t stride) {
    const QuadraticBins<D> bins(d, num_bins, raw, stride);
    const V<D> at = domain.clamp(y);
    const QuadraticBin<D> bin = find_quadratic_bin<true>(d, domain, bins, at);
    const V<D> one = constant(d, 1);
    const V<D> goal = hn::Max(hn::Zero(d), hn::Div(hn::Sub(at, domain.from_unit(bin.bottom)), domain.span));
    const V<D> v = hn::Div(goal, bin.width);
    const V<D> twice_v = hn::Add(v, v);
    const V<D> discriminant =
        hn::MulAdd(bin.density0, bin.density0, hn::Mul(twice_v, hn::Sub(bin.density1, bin.density0)));
    const V<D> root = hn::Sqrt(hn::Max(discriminant, hn::Zero(d)));
    V<D> theta = hn::Min(hn::Div(twice_v, hn::Add(bin.density0, root)), one);
    const V<D> step = hn::Div(hn::Sub(bin.rise(d, theta), goal), hn::Mul(bin.width, bin.slope(d, theta)));
    theta = hn::Max(hn::Zero(d), hn::Min(hn::Sub(theta, step), one));
    const V<D> x = hn::MulAdd(hn::Mul(domain.span, bin.width), theta, domain.from_unit(bin.left));
    const auto inside = domain.contains(y);
    return {hn::IfThenElse(inside, domain.clamp(x), y),
            hn::IfThenElseZero(inside, hn::Neg(hn::Log(d, bin.slope(d, theta))))};
  }

  template <class D, class T>
  static DISSENT_LANE_INLINE V<D> backward(D d, int num_bins, const Domain<D>& domain, V<D> x,
                                           const RawParameters<T>& raw, const LaneGradient<D>& grad) {
    const QuadraticBins<D> bins(d, num_bins, raw.value, raw.stride);
    const V<D> at = domain.clamp(x);
    const QuadraticBin<D> bin = find_quadratic_bin<false>(d, domain, bins, at);
    const V<D> theta = place(d, domain, at, bin);
    const auto inside = domain.contains(x);
    const V<D> half = constant(d, 0.5);
    const V<D> one = constant(d, 1);
    const V<D> grad_unit = hn::IfThenElseZero(inside, hn::Mul(grad.value, domain.span));
    const V<D> slope = bin.slope(d, theta);
    const V<D> over_slope = hn::Div(hn::IfThenElseZero(inside, grad.log_slope), slope);
    const V<D> over_w = hn::Div(one, bin.width);
    const V<D> grad_rise = hn::Mul(grad_unit, bin.width);
    const V<D> grad_theta = hn::MulAdd(grad_rise, slope, hn::Mul(over_slope, hn::Sub(bin.density1, bin.density0)));
    const V<D> half_square = hn::Mul(half, hn::Mul(theta, theta));
    const V<D> grad_density0 =
        hn::MulAdd(grad_rise, hn::Sub(theta, half_square), hn::Mul(over_slope, hn::Sub(one, theta)));
    const V<D> grad_density1 = hn::MulAdd(grad_rise, half_square, hn::Mul(over_slope, theta));
    const V<D> grad_left = hn::Neg(hn::Mul(grad_theta, over_w));
    const V<D> grad_width = hn::Mul(hn::MulSub(grad_unit, bin.rise(d, theta), hn::Mul(grad_theta, theta)), over_w);

    // Densities H: those of the bin, and those under the bins before it, whose areas add up to its bottom.
    V<D> grad_density[Transform::kMaxBins + 1];
    V<D> by_area = hn::Zero(d);
    for (int i = 0; i <= num_bins; ++i) {
      V<D> under = hn::Zero(d);
      if (i > 0) {
        under = hn::IfThenElseZero(hn::Lt(constant(d, i - 1), bin.index), bins.width[i - 1]);
      }
      if (i < num_bins) {
        under = hn::Add(under, hn::IfThenElseZero(hn::Lt(constant(d, i), bin.index), bins.width[i]));
      }
      V<D> g = hn::Mul(hn::Mul(half, grad_unit), under);
      g = hn::Add(g, hn::IfThenElseZero(hn::Eq(constant(d, i), bin.index), grad_density0));
      g = hn::Add(g, hn::IfThenElseZero(hn::Eq(constant(d, i - 1), bin.index), grad_density1));
      grad_density[i] = g;
      by_area = hn::MulAdd(g, hn::Sub(bins.density[i], constant(d, kMinSlope)), by_area);
    }
    const V<D> grad_area = hn::Neg(hn::Mul(by_area, bins.over_area));
    const V<D> scale = hn::Mul(constant(d, 1 - kMinSlope), bins.over_area);
    const V<D> grad_end =
        hn::MulAdd(scale, hn::Add(grad_density[0], grad_density[num_bins]),
                   hn::Mul(hn::Mul(half, grad_area), hn::Add(bins.width[0], bins.width[num_bins - 1])));
    const V<D> grad_inner = hn::Mul(grad_end, bins.over_q);
    const V<D> grad_end_width = hn::Mul(constant(d, 0.25), hn::Mul(grad_inner, bins.unscaled[0]));

    for (int i = 1; i < num_bins; ++i) {
      const V<D> by_sides =
          hn::MulAdd(bins.share(d, i - 1), bins.width[i - 1], hn::Mul(bins.share(d, i), bins.width[i]));
      V<D> g = hn::MulAdd(scale, grad_density[i], hn::Mul(grad_inner, by_sides));
      g = hn::MulAdd(hn::Mul(half, grad_area), hn::Add(bins.width[i - 1], bins.width[i]), g);
      hn::StoreU(hn::Mul(g, sigmoid(d, bins.raw_density[i])), d, raw.grad + (num_bins + i - 1) * raw.grad_stride);
    }

    V<D> grad_widths[Transform::kMaxBins];
    V<D> total = hn::Zero(d);
    const V<D> least = constant(d, kMinBin);
    for (int j = 0; j < num_bins; ++j) {
      const V<D> before =
          hn::MulAdd(grad_unit, hn::Mul(half, hn::Add(bins.density[j], bins.density[j + 1])), grad_left);
      V<D> g = hn::IfThenElseZero(hn::Lt(constant(d, j), bin.index), before);
      g = hn::IfThenElse(hn::Eq(constant(d, j), bin.index), grad_width, g);
      g = hn::MulAdd(hn::Mul(half, grad_area), hn::Add(bins.unscaled[j], bins.unscaled[j + 1]), g);
      V<D> inner = hn::Add(bins.unscaled[j], bins.unscaled[j + 1]);
      if (j == 0 || j == num_bins - 1) {
        inner = hn::Sub(inner, bins.unscaled[0]);
        g = hn::Add(g, grad_end_width);
      }
      g = hn::MulAdd(hn::Mul(grad_inner, bins.share(d, j)), inner, g);
      grad_widths[j] = g;
      total = hn::MulAdd(g, hn::Sub(bins.width[j], least), total);
    }
    const V<D> mean = hn::Mul(total, constant(d, 1 / (1 - kMinBin * num_bins)));
    for (int j = 0; j < num_bins; ++j) {
      hn::StoreU(hn::Mul(hn::Sub(bins.width[j], least), hn::Sub(grad_widths[j], mean)), d,
                 raw.grad + j * raw.grad_stride);
    }
    return hn::IfThenElse(inside, hn::Div(hn::Mul(grad_theta, over_w), domain.span), grad.value);
  }
};

}  // namespace dissent::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
