// Forward, inverse and gradient of each kind of transform for one vector of rows: values in, values out.
//
// A kind is a class with static functions; transform.cpp runs them over dimensions and batch. Some have `step`, forward
// and backward for little more than the price of one.
#if defined(DISSENT_FLOW_SPLINE_LANES_INL_) == defined(HWY_TARGET_TOGGLE)
#ifdef DISSENT_FLOW_SPLINE_LANES_INL_
#undef DISSENT_FLOW_SPLINE_LANES_INL_
#else
#define DISSENT_FLOW_SPLINE_LANES_INL_
#endif

#include "dissent/flow/spline_bins-inl.hpp"
#include "dissent/flow/spline_shapes-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace dissent::HWY_NAMESPACE {

template <class D>
struct LaneResult {
  V<D> value;
  V<D> log_slope;
};

// Raw parameters of one dimension and where their gradient goes (which may be the same place).
template <class T>
struct RawParameters {
  const T* value;
  std::size_t stride;
  T* grad;
  std::size_t grad_stride;

  RawParameters at(std::size_t column) const { return {value + column, stride, grad + column, grad_stride}; }
};

template <class D>
struct LaneGradient {
  V<D> value;
  V<D> log_slope;
};

// A loss that is quadratic in the value: curvature / 2 (value - center)^2 + grad_log_slope * log_slope.
template <class D>
struct LanePull {
  V<D> center;
  V<D> curvature;
  V<D> grad_log_slope;

  DISSENT_LANE_INLINE LaneGradient<D> gradient(V<D> value) const {
    return {hn::Mul(curvature, hn::Sub(value, center)), grad_log_slope};
  }
};

template <class D>
struct LaneStep {
  LaneResult<D> result;
  V<D> grad_in;
};

// Cubic and rational quadratic: bins with knots, sizes and end slopes.
template <template <class> class Ends>
struct HermiteKind {
  // Bins from raw parameters and the place of a value in them.
  template <class D, bool kInverse = false>
  struct Place {
    template <class T>
    DISSENT_LANE_INLINE Place(D d, int bins, const Domain<D>& domain, V<D> value, const T* raw, std::size_t stride)
        : num_bins(bins),
          ends(d, raw + 2 * num_bins * stride, stride, num_bins),
          at(domain.clamp(value)),
          inside(domain.contains(value)),
          bin((bin_sizes(d, raw, stride, num_bins, width),
               bin_sizes(d, raw + num_bins * stride, stride, num_bins, height),
               find_bin<kInverse>(d, domain, at, num_bins, width, height,
                                  [&](auto chosen, int k) { ends.visit(chosen, k); }))) {}

    int num_bins;
    Ends<D> ends;
    V<D> at;
    V<D> width[Transform::kMaxBins];
    V<D> height[Transform::kMaxBins];
    hn::Mask<D> inside;
    Bin<D> bin;
  };

  template <class D>
  static DISSENT_LANE_INLINE V<D> value_at(const Domain<D>& domain, const Bin<D>& bin, V<D> shape_value) {
    return domain.clamp(hn::MulAdd(hn::Mul(domain.span, bin.y.size), shape_value, domain.from_unit(bin.y.start)));
  }

  template <class D, class T>
  static DISSENT_LANE_INLINE LaneResult<D> forward(D d, int num_bins, const Domain<D>& domain, V<D> x, const T* raw,
                                                   std::size_t stride) {
    const Place<D> place(d, num_bins, domain, x, raw, stride);
    const Bin<D>& bin = place.bin;
    const auto shape = place.ends.shape(d, bin);
    const V<D> theta = place_in_bin(d, domain, place.at, bin.x);
    const V<D> y = value_at(domain, bin, shape.value(theta));
    const V<D> slope = hn::Div(hn::Mul(bin.y.size, shape.slope(theta)), bin.x.size);
    return {hn::IfThenElse(place.inside, y, x), hn::IfThenElseZero(place.inside, hn::Log(d, slope))};
  }

  template <class D, class T>
  static DISSENT_LANE_INLINE LaneResult<D> inverse(D d, int num_bins, const Domain<D>& domain, V<D> y, const T* raw,
                                                   std::size_t stride) {
    const Place<D, true> place(d, num_bins, domain, y, raw, stride);
    const Bin<D>& bin = place.bin;
    const auto shape = place.ends.shape(d, bin);
    const V<D> theta = solve_shape(d, shape, place_in_bin(d, domain, place.at, bin.y));
    const V<D> slope = hn::Div(hn::Mul(bin.y.size, shape.slope(theta)), bin.x.size);
    const V<D> left = domain.from_unit(bin.x.start);
    const V<D> width_x = hn::Mul(domain.span, bin.x.size);
    const V<D> rounded = domain.clamp(hn::MulAdd(width_x, theta, left));
    // A last Newton step in x, within the bin, against the rounding of x and of f; kept where it helps.
    const auto residual = [&](V<D> x) {
      return hn::Sub(value_at(domain, bin, shape.value(place_in_bin(d, domain, x, bin.x))), place.at);
    };
    const V<D> stepped = hn::Sub(rounded, hn::Div(residual(rounded), slope));
    const V<D> polished = domain.clamp(hn::Max(left, hn::Min(stepped, hn::Add(left, width_x))));
    const auto better = hn::Lt(hn::Abs(residual(polished)), hn::Abs(residual(rounded)));
    const V<D> x = hn::IfThenElse(better, polished, rounded);
    return {hn::IfThenElse(place.inside, x, y), hn::IfThenElseZero(place.inside, hn::Neg(hn::Log(d, slope)))};
  }

  // Forward and backward at once: `gradient_of(value)` gives the gradient with respect to value and log-slope. `in` and
  // `raw` come first, as everywhere.
  template <class D, class T, class GradientOf>
  static DISSENT_LANE_INLINE LaneStep<D> pass(D d, int num_bins, const Domain<D>& domain, V<D> x,
                                              const RawParameters<T>& raw, const GradientOf& gradient_of) {
    const Place<D> place(d, num_bins, domain, x, raw.value, raw.stride);
    const Bin<D>& bin = place.bin;
    const auto shape = place.ends.shape(d, bin);
    const V<D> theta = place_in_bin(d, domain, place.at, bin.x);
    const ShapeGradient<D> part = shape.gradient(theta);
    const V<D> one = constant(d, 1);
    const V<D> over_w = hn::Div(one, bin.x.size);
    const V<D> over_h = hn::Div(one, bin.y.size);
    const V<D> y = hn::IfThenElse(place.inside, value_at(domain, bin, part.value), x);
    const V<D> slope = hn::Mul(hn::Mul(bin.y.size, part.slope), over_w);
    const LaneGradient<D> grad = gradient_of(y);
    const V<D> grad_unit = hn::IfThenElseZero(place.inside, hn::Mul(grad.value, domain.span));  // d/d(unit y)
    const V<D> grad_log = hn::IfThenElseZero(place.inside, grad.log_slope);
    const V<D> grad_shape = hn::Mul(grad_unit, bin.y.size);
    const V<D> grad_theta = hn::MulAdd(grad_shape, part.slope, hn::Mul(grad_log, part.log_slope_by_theta));
    const V<D> grad_alpha = hn::MulAdd(grad_shape, part.value_by_alpha, hn::Mul(grad_log, part.log_slope_by_alpha));
    const V<D> grad_beta = hn::MulAdd(grad_shape, part.value_by_beta, hn::Mul(grad_log, part.log_slope_by_beta));
    const V<D> zero = hn::Zero(d);
    const V<D> grad_start = hn::Mul(grad_theta, over_w);
    AxisGradient<D> grad_x{hn::Neg(grad_start), hn::Neg(hn::Mul(hn::MulAdd(grad_theta, theta, grad_log), over_w)), zero,
                           zero};
    AxisGradient<D> grad_y{grad_unit, hn::MulAdd(grad_unit, part.value, hn::Mul(grad_log, over_h)), zero, zero};
    place.ends.backward(d, bin, shape, over_w, over_h, grad_alpha, grad_beta, grad_x, grad_y, raw.grad_stride,
                        raw.grad + 2 * num_bins * raw.grad_stride);
    store_axis_gradient(d, bin.x, bin.index, grad_x, num_bins, place.width, raw.grad_stride, raw.grad);
    store_axis_gradient(d, bin.y, bin.index, grad_y, num_bins, place.height, raw.grad_stride,
                        raw.grad + num_bins * raw.grad_stride);
    return {{y, hn::IfThenElseZero(place.inside, hn::Log(d, slope))},
            hn::IfThenElse(place.inside, hn::Div(grad_start, domain.span), grad.value)};
  }

  // Returns the gradient with respect to x.
  template <class D, class T>
  static DISSENT_LANE_INLINE V<D> backward(D d, int num_bins, const Domain<D>& domain, V<D> x,
                                           const RawParameters<T>& raw, const LaneGradient<D>& grad) {
    return pass(d, num_bins, domain, x, raw, [&](V<D>) { return grad; }).grad_in;
  }

  template <class D, class T>
  static DISSENT_LANE_INLINE LaneStep<D> step(D d, int num_bins, const Domain<D>& domain, V<D> x,
                                              const RawParameters<T>& raw, const LanePull<D>& pull) {
    return pass(d, num_bins, domain, x, raw, [&](V<D> value) { return pull.gradient(value); });
  }
};

using CubicKind = HermiteKind<CubicEnds>;
using RationalKind = HermiteKind<RationalEnds>;

// y = shift + x scale, scale = sigmoid(u + kAffineOffset) + kMinScale. raw: shift, u.
struct AffineKind {
  template <class D, class T>
  static DISSENT_LANE_INLINE V<D> scale(D d, const T* raw, std::size_t stride) {
    const V<D> u = hn::Add(hn::LoadU(d, raw + stride), constant(d, kAffineOffset));
    return hn::Add(sigmoid(d, u), constant(d, kMinScale));
  }

  template <class D, class T>
  static DISSENT_LANE_INLINE LaneResult<D> forward(D d, int, const Domain<D>&, V<D> x, const T* raw,
                                                   std::size_t stride) {
    const V<D> s = scale(d, raw, stride);
    return {hn::MulAdd(x, s, hn::LoadU(d, raw)), hn::Log(d, s)};
  }

  template <class D, class T>
  static DISSENT_LANE_INLINE LaneResult<D> inverse(D d, int, const Domain<D>&, V<D> y, const T* raw,
                                                   std::size_t stride) {
    const V<D> s = scale(d, raw, stride);
    return {hn::Div(hn::Sub(y, hn::LoadU(d, raw)), s), hn::Neg(hn::Log(d, s))};
  }

  template <class D, class T>
  static DISSENT_LANE_INLINE V<D> backward(D d, int, const Domain<D>&, V<D> x, const RawParameters<T>& raw,
                                           const LaneGradient<D>& grad) {
    const V<D> s = scale(d, raw.value, raw.stride);
    const V<D> squashed = hn::Sub(s, constant(d, kMinScale));
    const V<D> grad_scale = hn::MulAdd(grad.value, x, hn::Div(grad.log_slope, s));
    hn::StoreU(grad.value, d, raw.grad);
    hn::StoreU(hn::Mul(grad_scale, hn::Mul(squashed, hn::Sub(constant(d, 1), squashed))), d,
               raw.grad + raw.grad_stride);
    return hn::Mul(grad.value, s);
  }
};

}  // namespace dissent::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
