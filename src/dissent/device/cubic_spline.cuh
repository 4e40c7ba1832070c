// The cubic spline of a flow for one value: forward and backward at once, in registers. The same function as CubicKind
// of flow/spline_lanes-inl.hpp; transform_reference.hpp has the formulas.
//
// It also compiles for the host, where tests compare it with the reference.
#pragma once

#include "dissent/flow/transform_constants.hpp"

#ifdef __CUDACC__
#define DISSENT_DEVICE_INLINE __host__ __device__ __forceinline__
#define DISSENT_UNROLL _Pragma("unroll")
#else
#include <cmath>
#define DISSENT_DEVICE_INLINE inline
#define DISSENT_UNROLL
#endif

namespace dissent::device {

// On a card: accurate to some units in the last place (more for exponents far from 0), at a fraction of the cost.
DISSENT_DEVICE_INLINE float quick_exp(float u) {
#ifdef __CUDA_ARCH__
  return __expf(u);
#else
  return std::exp(u);
#endif
}

DISSENT_DEVICE_INLINE float quick_log(float u) {
#ifdef __CUDA_ARCH__
  return __logf(u);
#else
  return std::log(u);
#endif
}

DISSENT_DEVICE_INLINE float quick_divide(float a, float b) {
#ifdef __CUDA_ARCH__
  return __fdividef(a, b);
#else
  return a / b;
#endif
}

DISSENT_DEVICE_INLINE float smaller(float a, float b) { return b < a ? b : a; }
DISSENT_DEVICE_INLINE float larger(float a, float b) { return a < b ? b : a; }

// A loss that is quadratic in the value: curvature / 2 (value - center)^2 + grad_log_slope * log_slope.
struct SplinePull {
  float center;
  float curvature;
  float grad_log_slope;
};

struct SplineResult {
  float value;
  float log_slope;
};

// One bin along one axis: its start, its size and its neighbours' sizes (at the ends: its own).
struct SplineAxis {
  float start;
  float size;
  float before;
  float after;
};

// Replaces raw parameters with the sizes of bins.
template <int kBins>
DISSENT_DEVICE_INLINE void spline_sizes(float* raw) {
  float high = raw[0];
  DISSENT_UNROLL
  for (int k = 1; k < kBins; ++k) {
    high = larger(high, raw[k]);
  }
  float sum = 0;
  DISSENT_UNROLL
  for (int k = 0; k < kBins; ++k) {
    raw[k] = quick_exp(raw[k] - high);
    sum += raw[k];
  }
  const float scale = quick_divide(static_cast<float>(1 - kMinBin * kBins), sum);
  DISSENT_UNROLL
  for (int k = 0; k < kBins; ++k) {
    raw[k] = raw[k] * scale + static_cast<float>(kMinBin);
  }
}

// Steffen's slope at the knot towards a neighbour, relative to the bin's mean slope, and its gradient.
struct SteffenKnot {
  float ratio;
  float over_sum;  // 1 / (w + w_n)
  float over_w_n;
  float parabola;
  float limit;

  DISSENT_DEVICE_INLINE SteffenKnot(float w, float h, float w_n, float h_n) {
    const float sum = w + w_n;
    const float over = quick_divide(1.0F, w_n * h * sum);
    const float sum_over = sum * over;
    ratio = h_n * w * sum_over;
    over_sum = w_n * h * over;
    over_w_n = h * sum_over;
    parabola = (w * ratio + w_n) * over_sum;
    limit = 2 * smaller(ratio, 1.0F);
  }
  DISSENT_DEVICE_INLINE float slope() const { return smaller(parabola, limit); }

  DISSENT_DEVICE_INLINE void add_gradient(float grad, float w, float over_w, float over_h, float h_n, float& grad_w,
                                          float& grad_h, float& grad_w_n, float& grad_h_n) const {
    const bool on_parabola = parabola < limit;
    const float by_ratio = on_parabola ? w * over_sum : (ratio < 1 ? 2.0F : 0.0F);
    const float through_ratio = grad * by_ratio * ratio;
    const float by_width = on_parabola ? grad * over_sum : 0.0F;
    grad_w += by_width * (ratio - parabola) + through_ratio * over_w;
    grad_h -= through_ratio * over_h;
    grad_w_n = by_width * (1 - parabola) - through_ratio * over_w_n;
    grad_h_n = quick_divide(through_ratio, h_n);
  }
};

// Passes the gradient with respect to each raw parameter of an axis to put(parameter, gradient), given the sizes of its
// bins. g: the gradient with respect to the start and size of the chosen bin `index`, and to the sizes of bins index -
// 1 and index + 1. Those three come once more at the end, at places that the compiler does not know.
template <int kBins, class Put>
DISSENT_DEVICE_INLINE void spline_axis_gradient(const float* size, const SplineAxis& axis, int index,
                                                const SplineAxis& g, int first, const Put& put) {
  constexpr auto kLeast = static_cast<float>(kMinBin);
  const float total = g.start * (axis.start - static_cast<float>(index) * kLeast) + g.size * (axis.size - kLeast) +
                      g.before * (axis.before - kLeast) + g.after * (axis.after - kLeast);
  const float mean = total * static_cast<float>(1 / (1 - kMinBin * kBins));
  const float left = g.start - mean;
  DISSENT_UNROLL
  for (int j = 0; j < kBins; ++j) {
    put(first + j, (size[j] - kLeast) * (j < index ? left : -mean));
  }
  put(first + index, (axis.size - kLeast) * (g.size - mean));
  if (index > 0) {
    put(first + index - 1, (axis.before - kLeast) * (left + g.before));
  }
  if (index + 1 < kBins) {
    put(first + index + 1, (axis.after - kLeast) * (g.after - mean));
  }
}

DISSENT_DEVICE_INLINE float border_slope(float raw) {
  const float bounded = larger(static_cast<float>(-kMaxEndRaw), smaller(raw, static_cast<float>(kMaxEndRaw)));
  return quick_divide(3.0F, 1 + quick_exp(-bounded));
}

DISSENT_DEVICE_INLINE float border_gradient(float raw, float slope, float grad) {
  const bool moves = raw <= static_cast<float>(kMaxEndRaw) && raw >= static_cast<float>(-kMaxEndRaw);
  return moves ? grad * slope * (1 - slope * (1.0F / 3)) : 0.0F;
}

// The bin that holds a value, along both axes.
struct SplineBin {
  SplineAxis x;
  SplineAxis y;
  int index;
};

template <int kBins>
DISSENT_DEVICE_INLINE SplineBin find_bin(float at, float bound, const float* width, const float* height) {
  SplineBin bin{{0, width[0], width[0], width[1]}, {0, height[0], height[0], height[1]}, 0};
  float left = 0;
  float bottom = 0;
  DISSENT_UNROLL
  for (int k = 1; k < kBins; ++k) {
    left += width[k - 1];
    bottom += height[k - 1];
    if (at >= 2 * bound * left - bound) {
      const int next = k + 1 < kBins ? k + 1 : k;
      bin = {{left, width[k], width[k - 1], width[next]}, {bottom, height[k], height[k - 1], height[next]}, k};
    }
  }
  // The last bin ends exactly at the border.
  bin.x.size = bin.index == kBins - 1 ? 1 - bin.x.start : bin.x.size;
  bin.y.size = bin.index == kBins - 1 ? 1 - bin.y.start : bin.y.size;
  return bin;
}

// A bin's shape at theta and its derivatives (CubicShape of flow/spline_shapes-inl.hpp).
struct SplineShape {
  float value;
  float slope;
  float by_alpha;
  float by_beta;
  float log_by_theta;
  float log_by_alpha;
  float log_by_beta;

  DISSENT_DEVICE_INLINE SplineShape(float theta, float alpha, float beta) {
    const float rest = 1 - theta;
    value = theta * (theta * (2 * rest + 1) + rest * (alpha * rest - beta * theta));
    slope = rest * (alpha * rest + 2 * (3 - alpha - beta) * theta) + beta * theta * theta;
    const float over = quick_divide(1.0F, slope);
    log_by_theta = 2 * (3 * (alpha + beta - 2) * theta + (3 - 2 * alpha - beta)) * over;
    by_alpha = theta * rest * rest;
    by_beta = -rest * theta * theta;
    log_by_alpha = rest * (1 - 3 * theta) * over;
    log_by_beta = theta * (3 * theta - 2) * over;
  }
};

// raw: the parameters of the bins' widths [kBins] and heights [kBins] and of both end slopes; overwritten. Passes the
// gradient of the loss with respect to parameter p to put(p, gradient), the last time with its value.
template <int kBins, class Put>
DISSENT_DEVICE_INLINE SplineResult cubic_step(float x, float bound, const SplinePull& pull, float* raw,
                                              const Put& put) {
  const float span = 2 * bound;
  const bool inside = x >= -bound && x <= bound;
  const float at = larger(-bound, smaller(x, bound));
  const float raw_left = raw[2 * kBins];
  const float raw_right = raw[2 * kBins + 1];
  spline_sizes<kBins>(raw);
  spline_sizes<kBins>(raw + kBins);
  const SplineBin bin = find_bin<kBins>(at, bound, raw, raw + kBins);
  const bool first = bin.index == 0;
  const bool last = bin.index == kBins - 1;
  const SteffenKnot left(bin.x.size, bin.y.size, bin.x.before, bin.y.before);
  const SteffenKnot right(bin.x.size, bin.y.size, bin.x.after, bin.y.after);
  const float alpha = first ? border_slope(raw_left) : left.slope();
  const float beta = last ? border_slope(raw_right) : right.slope();
  const float place = quick_divide(at - (span * bin.x.start - bound), span * bin.x.size);
  const float theta = larger(0.0F, smaller(place, 1.0F));
  const SplineShape shape(theta, alpha, beta);

  const float over_w = quick_divide(1.0F, bin.x.size);
  const float over_h = quick_divide(1.0F, bin.y.size);
  const float y = larger(-bound, smaller(span * bin.y.size * shape.value + (span * bin.y.start - bound), bound));
  const SplineResult result{inside ? y : x, inside ? quick_log(bin.y.size * shape.slope * over_w) : 0.0F};

  const float grad_unit = inside ? pull.curvature * (result.value - pull.center) * span : 0.0F;
  const float grad_log = inside ? pull.grad_log_slope : 0.0F;
  const float grad_shape = grad_unit * bin.y.size;
  const float grad_theta = grad_shape * shape.slope + grad_log * shape.log_by_theta;
  const float grad_alpha = grad_shape * shape.by_alpha + grad_log * shape.log_by_alpha;
  const float grad_beta = grad_shape * shape.by_beta + grad_log * shape.log_by_beta;
  SplineAxis gx{-grad_theta * over_w, -(grad_theta * theta + grad_log) * over_w, 0, 0};
  SplineAxis gy{grad_unit, grad_unit * shape.value + grad_log * over_h, 0, 0};
  left.add_gradient(first ? 0.0F : grad_alpha, bin.x.size, over_w, over_h, bin.y.before, gx.size, gy.size, gx.before,
                    gy.before);
  right.add_gradient(last ? 0.0F : grad_beta, bin.x.size, over_w, over_h, bin.y.after, gx.size, gy.size, gx.after,
                     gy.after);
  spline_axis_gradient<kBins>(raw, bin.x, bin.index, gx, 0, put);
  spline_axis_gradient<kBins>(raw + kBins, bin.y, bin.index, gy, kBins, put);
  put(2 * kBins, first ? border_gradient(raw_left, alpha, grad_alpha) : 0.0F);
  put(2 * kBins + 1, last ? border_gradient(raw_right, beta, grad_beta) : 0.0F);
  return result;
}

}  // namespace dissent::device
