// The two shapes a bin can have, as functions of (theta, alpha, beta), and how end slopes follow from raw parameters.
//
// A shape maps theta in [0, 1] onto [0, 1] with slopes alpha and beta at the ends (relative to the bin's mean slope).
// Slopes are summed from terms of Bernstein form, which for alpha + beta <= 3 are all positive: no cancellation where a
// slope is nearly zero. See transform_reference.hpp for the formulas.
#if defined(DISSENT_FLOW_SPLINE_SHAPES_INL_) == defined(HWY_TARGET_TOGGLE)
#ifdef DISSENT_FLOW_SPLINE_SHAPES_INL_
#undef DISSENT_FLOW_SPLINE_SHAPES_INL_
#else
#define DISSENT_FLOW_SPLINE_SHAPES_INL_
#endif

#include <limits>

#include "dissent/flow/spline_bins-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace dissent::HWY_NAMESPACE {

template <class D>
struct ShapeGradient {  // of the value p and of ln p', p' = dp/dtheta
  V<D> value;
  V<D> slope;
  V<D> log_slope_by_theta;
  V<D> value_by_alpha;
  V<D> value_by_beta;
  V<D> log_slope_by_alpha;
  V<D> log_slope_by_beta;
};

template <class D>
struct CubicShape {
  D d;
  V<D> alpha;
  V<D> beta;

  // theta (theta (1 + 2 rest) + rest (alpha rest - beta theta)): no term above 1, and exactly 1 at theta = 1, where the
  // coefficients of powers of theta would cancel.
  DISSENT_LANE_INLINE V<D> value(V<D> theta) const {
    const V<D> rest = hn::Sub(constant(d, 1), theta);
    const V<D> straight = hn::Mul(theta, hn::MulAdd(constant(d, 2), rest, constant(d, 1)));
    const V<D> bend = hn::MulSub(alpha, rest, hn::Mul(beta, theta));
    return hn::Mul(theta, hn::MulAdd(rest, bend, straight));
  }

  DISSENT_LANE_INLINE V<D> slope(V<D> theta) const {
    const V<D> rest = hn::Sub(constant(d, 1), theta);
    const V<D> middle = hn::Mul(constant(d, 2), hn::Sub(hn::Sub(constant(d, 3), alpha), beta));
    return hn::MulAdd(rest, hn::MulAdd(alpha, rest, hn::Mul(middle, theta)), hn::Mul(beta, hn::Mul(theta, theta)));
  }

  DISSENT_LANE_INLINE ShapeGradient<D> gradient(V<D> theta) const {
    const V<D> rest = hn::Sub(constant(d, 1), theta);
    const V<D> p_slope = slope(theta);
    const V<D> over = hn::Div(constant(d, 1), p_slope);
    // p'' = 2 (3 - 2 alpha - beta) + 6 (alpha + beta - 2) theta
    const V<D> b = hn::Sub(hn::Sub(constant(d, 3), hn::Add(alpha, alpha)), beta);
    const V<D> a = hn::Sub(hn::Add(alpha, beta), constant(d, 2));
    const V<D> curvature = hn::Mul(constant(d, 2), hn::MulAdd(hn::Mul(constant(d, 3), a), theta, b));
    const V<D> three_theta = hn::Mul(constant(d, 3), theta);
    return {value(theta),
            p_slope,
            hn::Mul(curvature, over),
            hn::Mul(theta, hn::Mul(rest, rest)),
            hn::Neg(hn::Mul(rest, hn::Mul(theta, theta))),
            hn::Mul(hn::Mul(rest, hn::Sub(constant(d, 1), three_theta)), over),
            hn::Mul(hn::Mul(theta, hn::Sub(three_theta, constant(d, 2))), over)};
  }
};

template <class D>
struct RationalShape {
  D d;
  V<D> alpha;
  V<D> beta;

  // 1 + (alpha + beta - 2) q as a sum of positive terms
  DISSENT_LANE_INLINE V<D> denominator(V<D> q) const {
    return hn::MulAdd(hn::Add(alpha, beta), q, hn::NegMulAdd(constant(d, 2), q, constant(d, 1)));
  }
  DISSENT_LANE_INLINE V<D> slope_numerator(V<D> theta, V<D> rest) const {
    return hn::MulAdd(rest, hn::MulAdd(alpha, rest, hn::Add(theta, theta)), hn::Mul(beta, hn::Mul(theta, theta)));
  }

  DISSENT_LANE_INLINE V<D> value(V<D> theta) const {
    const V<D> rest = hn::Sub(constant(d, 1), theta);
    return hn::Div(hn::Mul(theta, hn::MulAdd(alpha, rest, theta)), denominator(hn::Mul(theta, rest)));
  }

  DISSENT_LANE_INLINE V<D> slope(V<D> theta) const {
    const V<D> rest = hn::Sub(constant(d, 1), theta);
    const V<D> under = denominator(hn::Mul(theta, rest));
    return hn::Div(slope_numerator(theta, rest), hn::Mul(under, under));
  }

  DISSENT_LANE_INLINE ShapeGradient<D> gradient(V<D> theta) const {
    const V<D> two = constant(d, 2);
    const V<D> rest = hn::Sub(constant(d, 1), theta);
    const V<D> q = hn::Mul(theta, rest);
    const V<D> over = hn::Div(constant(d, 1), denominator(q));
    const V<D> numerator = slope_numerator(theta, rest);
    const V<D> over_numerator = hn::Div(constant(d, 1), numerator);
    const V<D> p = hn::Mul(hn::Mul(theta, hn::MulAdd(alpha, rest, theta)), over);
    const V<D> q_over = hn::Mul(q, over);
    // d ln p' / dtheta = numerator' / numerator - 2 denominator' / denominator
    const V<D> tilt = hn::Sub(rest, theta);  // q'
    const V<D> numerator_slope = hn::Mul(two, hn::Add(hn::MulSub(beta, theta, hn::Mul(alpha, rest)), tilt));
    const V<D> denominator_slope = hn::Mul(hn::Sub(hn::Add(alpha, beta), two), tilt);
    return {p,
            hn::Mul(numerator, hn::Mul(over, over)),
            hn::MulSub(numerator_slope, over_numerator, hn::Mul(two, hn::Mul(denominator_slope, over))),
            hn::Mul(q_over, hn::Sub(constant(d, 1), p)),
            hn::Neg(hn::Mul(q_over, p)),
            hn::MulSub(hn::Mul(rest, rest), over_numerator, hn::Mul(two, q_over)),
            hn::MulSub(hn::Mul(theta, theta), over_numerator, hn::Mul(two, q_over))};
  }
};

// theta with shape.value(theta) = v, v in [0, 1]. Starts from the rational shape's closed inverse, which has the right
// end slopes and so the right behaviour (a square root, where alpha is 0) at both ends; then Newton steps, kept in a
// bracket, with bisection when one would leave it. A discriminant rounded below zero counts as zero. It takes a few
// rounds, at most 60.
template <class D, class Shape>
DISSENT_LANE_INLINE V<D> solve_shape(D d, const Shape& shape, V<D> v) {
  using T = hn::TFromD<D>;
  const V<D> one = constant(d, 1);
  const V<D> excess = hn::Mul(v, hn::Sub(hn::Add(shape.alpha, shape.beta), constant(d, 2)));
  const V<D> a = hn::Add(excess, hn::Sub(one, shape.alpha));
  const V<D> b = hn::Sub(shape.alpha, excess);
  const V<D> discriminant = hn::MulAdd(b, b, hn::Mul(constant(d, 4), hn::Mul(a, v)));
  const V<D> root = hn::Sqrt(hn::Max(discriminant, hn::Zero(d)));
  const V<D> smallest = constant(d, std::numeric_limits<T>::min());
  V<D> theta = hn::Div(hn::Add(v, v), hn::Max(hn::Add(b, root), smallest));
  theta = hn::Max(hn::Zero(d), hn::Min(theta, one));
  const V<D> enough = hn::Mul(constant(d, 2 * std::numeric_limits<T>::epsilon()), v);
  V<D> low = hn::Zero(d);
  V<D> high = one;
  for (int round = 0; round < 60; ++round) {
    const V<D> residual = hn::Sub(shape.value(theta), v);
    const auto done = hn::Le(hn::Abs(residual), enough);
    low = hn::IfThenElse(hn::Le(residual, hn::Zero(d)), theta, low);
    high = hn::IfThenElse(hn::Ge(residual, hn::Zero(d)), theta, high);
    const V<D> newton = hn::Sub(theta, hn::Div(residual, hn::Max(shape.slope(theta), smallest)));
    const auto kept = hn::And(hn::Ge(newton, low), hn::Le(newton, high));
    const V<D> bisected = hn::Mul(constant(d, 0.5), hn::Add(low, high));
    const V<D> next = hn::IfThenElse(done, theta, hn::IfThenElse(kept, newton, bisected));
    const bool settled = hn::AllTrue(d, hn::Eq(next, theta));
    theta = next;
    if (settled) {
      break;
    }
  }
  return theta;
}

// Steffen's slope at the knot between a bin and its neighbour, relative to the bin's mean slope. With
// r = (neighbour's mean slope) / (own): min(2 min(r, 1), (w r + w_n) / (w + w_n)).
template <class D>
struct SteffenEnd {
  // One division for all: the sizes are at least kMinBin, so their products stay far from underflow.
  DISSENT_LANE_INLINE SteffenEnd(D d, V<D> w, V<D> h, V<D> w_n, V<D> h_n) {
    const V<D> sum = hn::Add(w, w_n);
    const V<D> over = hn::Div(constant(d, 1), hn::Mul(hn::Mul(w_n, h), sum));
    const V<D> sum_over = hn::Mul(sum, over);
    ratio = hn::Mul(hn::Mul(h_n, w), sum_over);
    over_sum = hn::Mul(hn::Mul(w_n, h), over);
    over_w_n = hn::Mul(h, sum_over);
    parabola = hn::Mul(hn::MulAdd(w, ratio, w_n), over_sum);
    limit = hn::Mul(constant(d, 2), hn::Min(ratio, constant(d, 1)));
  }

  V<D> slope() const { return hn::Min(parabola, limit); }

  // Adds the gradient to that of the bin's width and height, whose inverses are `over_w` and `over_h`, and sets it for
  // the neighbour's.
  DISSENT_LANE_INLINE void add_gradient(D d, V<D> grad, V<D> w, V<D> over_w, V<D> over_h, V<D> h_n, V<D>& grad_w,
                                        V<D>& grad_h, V<D>& grad_w_n, V<D>& grad_h_n) const {
    const auto on_parabola = hn::Lt(parabola, limit);
    const V<D> one = constant(d, 1);
    const V<D> limit_by_ratio = hn::IfThenElseZero(hn::Lt(ratio, one), constant(d, 2));
    const V<D> by_ratio = hn::IfThenElse(on_parabola, hn::Mul(w, over_sum), limit_by_ratio);
    const V<D> through_ratio = hn::Mul(grad, hn::Mul(by_ratio, ratio));  // d ln r = dh_n/h_n - dw_n/w_n - dh/h + dw/w
    const V<D> by_width = hn::IfThenElseZero(on_parabola, hn::Mul(grad, over_sum));
    grad_w = hn::Add(grad_w, hn::MulAdd(by_width, hn::Sub(ratio, parabola), hn::Mul(through_ratio, over_w)));
    grad_h = hn::NegMulAdd(through_ratio, over_h, grad_h);
    grad_w_n = hn::MulSub(by_width, hn::Sub(one, parabola), hn::Mul(through_ratio, over_w_n));
    grad_h_n = hn::Div(through_ratio, h_n);
  }

  V<D> ratio;
  V<D> over_sum;  // 1 / (w + w_n)
  V<D> over_w_n;
  V<D> parabola;
  V<D> limit;
};

// Ends of a cubic: Steffen's slope towards a neighbour, 3 sigmoid(raw) at the border. raw: left, right. Most vectors
// have no lane in the first or the last bin; then the border's work is skipped.
template <class D>
class CubicEnds {
 public:
  using Shape = CubicShape<D>;

  template <class T>
  DISSENT_LANE_INLINE CubicEnds(D d, const T* raw, std::size_t stride, int num_bins)
      : num_bins_(num_bins), raw_left_(hn::LoadU(d, raw)), raw_right_(hn::LoadU(d, raw + stride)) {}

  template <class M>
  DISSENT_LANE_INLINE void visit(M, int) {}

  DISSENT_LANE_INLINE Shape shape(D d, const Bin<D>& bin) const {
    return {d, end(d, is_first(d, bin), raw_left_, left(d, bin)), end(d, is_last(d, bin), raw_right_, right(d, bin))};
  }

  template <class T>
  DISSENT_LANE_INLINE void backward(D d, const Bin<D>& bin, const Shape& shape, V<D> over_w, V<D> over_h,
                                    V<D> grad_alpha, V<D> grad_beta, AxisGradient<D>& grad_x, AxisGradient<D>& grad_y,
                                    std::size_t stride, T* grad_raw) const {
    const auto first = is_first(d, bin);
    const auto last = is_last(d, bin);
    left(d, bin).add_gradient(d, hn::IfThenZeroElse(first, grad_alpha), bin.x.size, over_w, over_h, bin.y.before,
                              grad_x.size, grad_y.size, grad_x.before, grad_y.before);
    right(d, bin).add_gradient(d, hn::IfThenZeroElse(last, grad_beta), bin.x.size, over_w, over_h, bin.y.after,
                               grad_x.size, grad_y.size, grad_x.after, grad_y.after);
    hn::StoreU(border_gradient(d, first, raw_left_, shape.alpha, grad_alpha), d, grad_raw);
    hn::StoreU(border_gradient(d, last, raw_right_, shape.beta, grad_beta), d, grad_raw + stride);
  }

 private:
  DISSENT_LANE_INLINE auto is_first(D d, const Bin<D>& bin) const { return hn::Lt(bin.index, constant(d, 0.5)); }
  DISSENT_LANE_INLINE auto is_last(D d, const Bin<D>& bin) const {
    return hn::Gt(bin.index, constant(d, num_bins_ - 1.5));
  }
  DISSENT_LANE_INLINE SteffenEnd<D> left(D d, const Bin<D>& bin) const {
    return {d, bin.x.size, bin.y.size, bin.x.before, bin.y.before};
  }
  DISSENT_LANE_INLINE SteffenEnd<D> right(D d, const Bin<D>& bin) const {
    return {d, bin.x.size, bin.y.size, bin.x.after, bin.y.after};
  }

  template <class M>
  static DISSENT_LANE_INLINE V<D> end(D d, M at_border, V<D> raw, const SteffenEnd<D>& inner) {
    if (hn::AllFalse(d, at_border)) {
      return inner.slope();
    }
    const V<D> bounded = hn::Max(constant(d, -kMaxEndRaw), hn::Min(raw, constant(d, kMaxEndRaw)));
    return hn::IfThenElse(at_border, hn::Mul(constant(d, 3), sigmoid(d, bounded)), inner.slope());
  }

  // slope = 3 sigmoid(raw), so d slope / d raw = slope (1 - slope / 3), and 0 where raw is clamped.
  template <class M>
  static DISSENT_LANE_INLINE V<D> border_gradient(D d, M at_border, V<D> raw, V<D> slope, V<D> grad) {
    const V<D> by_raw = hn::Mul(slope, hn::NegMulAdd(slope, constant(d, 1.0 / 3), constant(d, 1)));
    const auto moves = hn::And(at_border, hn::Le(hn::Abs(raw), constant(d, kMaxEndRaw)));
    return hn::IfThenElseZero(moves, hn::Mul(grad, by_raw));
  }

  int num_bins_;
  V<D> raw_left_;
  V<D> raw_right_;
};

// Ends of a rational quadratic: kMinSlope + softplus(raw) at interior knots, 1 at the borders. raw: knots 1 to K - 1.
template <class D>
class RationalEnds {
 public:
  using Shape = RationalShape<D>;

  template <class T>
  DISSENT_LANE_INLINE RationalEnds(D d, const T* raw, std::size_t stride, int num_bins)
      : num_bins_(num_bins), raw_left_(hn::Zero(d)), raw_right_(hn::LoadU(d, raw)) {
    for (int k = 0; k + 1 < num_bins; ++k) {
      raw_[k] = hn::LoadU(d, raw + k * stride);
    }
  }

  template <class M>
  DISSENT_LANE_INLINE void visit(M chosen, int k) {
    raw_left_ = hn::IfThenElse(chosen, raw_[k - 1], raw_left_);
    raw_right_ = hn::IfThenElse(chosen, raw_[k + 1 < num_bins_ ? k : k - 1], raw_right_);
  }

  DISSENT_LANE_INLINE Shape shape(D d, const Bin<D>& bin) const {
    const V<D> over_mean = hn::Div(bin.x.size, bin.y.size);
    const V<D> one = constant(d, 1);
    const V<D> least = constant(d, kMinSlope);
    const V<D> left = hn::IfThenElse(is_first(d, bin), one, hn::Add(least, softplus(d, raw_left_)));
    const V<D> right = hn::IfThenElse(is_last(d, bin), one, hn::Add(least, softplus(d, raw_right_)));
    return {d, hn::Mul(left, over_mean), hn::Mul(right, over_mean)};
  }

  template <class T>
  DISSENT_LANE_INLINE void backward(D d, const Bin<D>& bin, const Shape& shape, V<D> over_w, V<D> over_h,
                                    V<D> grad_alpha, V<D> grad_beta, AxisGradient<D>& grad_x, AxisGradient<D>& grad_y,
                                    std::size_t stride, T* grad_raw) const {
    // alpha = d0 w / h
    const V<D> through_mean = hn::MulAdd(grad_alpha, shape.alpha, hn::Mul(grad_beta, shape.beta));
    grad_x.size = hn::MulAdd(through_mean, over_w, grad_x.size);
    grad_y.size = hn::NegMulAdd(through_mean, over_h, grad_y.size);
    const V<D> over_mean = hn::Mul(bin.x.size, over_h);
    const V<D> left =
        hn::IfThenZeroElse(is_first(d, bin), hn::Mul(grad_alpha, hn::Mul(over_mean, sigmoid(d, raw_left_))));
    const V<D> right =
        hn::IfThenZeroElse(is_last(d, bin), hn::Mul(grad_beta, hn::Mul(over_mean, sigmoid(d, raw_right_))));
    for (int k = 1; k < num_bins_; ++k) {  // knot k lies left of bin k and right of bin k - 1
      const V<D> at_left = hn::IfThenElseZero(hn::Eq(bin.index, constant(d, k)), left);
      const V<D> at_right = hn::IfThenElse(hn::Eq(bin.index, constant(d, k - 1)), right, at_left);
      hn::StoreU(at_right, d, grad_raw + (k - 1) * stride);
    }
  }

 private:
  DISSENT_LANE_INLINE auto is_first(D d, const Bin<D>& bin) const { return hn::Lt(bin.index, constant(d, 0.5)); }
  DISSENT_LANE_INLINE auto is_last(D d, const Bin<D>& bin) const {
    return hn::Gt(bin.index, constant(d, num_bins_ - 1.5));
  }

  int num_bins_;
  V<D> raw_left_;
  V<D> raw_right_;
  V<D> raw_[Transform::kMaxBins];
};

}  // namespace dissent::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
