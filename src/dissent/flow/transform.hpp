// Element-wise monotone maps y = f(x; raw) with log-slopes: the building blocks of a flow.
//
// Kinds (K bins on the square [-B, B]^2, identity outside, B the tail bound):
//   cubic               monotone cubics (Durkan et al. 2019, "Cubic-Spline Flows"): softmax widths and heights,
//                       Steffen's slopes at the interior knots, free slopes at both ends.
//                       raw: K widths, K heights, left, right.
//   quadratic           piecewise linear density (Mueller et al. 2019). raw: K widths, K - 1 interior densities.
//   rational quadratic  ratios of quadratics (Durkan et al. 2019, "Neural Spline Flows"), end slopes 1.
//                       raw: K widths, K heights, K - 1 interior slopes.
//   affine              y = shift + x (sigmoid(u + 2) + 1e-3), no tails. raw: shift, u.
// The formulas are written out, one value at a time, in transform_reference.hpp.
//
// Layout: panels (matrix/panel.hpp), one row per dimension, contiguous along the batch; raw parameter p of dimension d
// is row d * num_params + p. One SIMD lane is one item of the batch.
//
// Hazards: cubic and quadratic slopes jump at +-B (the published parametrisation; see the reference). The inverse's
// residual |f(f^-1(y)) - y| stays below 1e-6 (float) and 1e-12 (double) unless f is so steep that it changes by more
// over the rounding of x itself (slopes reach 3000 where a bin has the least width): then within three roundings.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "dissent/flow/transform_kind.hpp"
#include "dissent/matrix/panel.hpp"

namespace dissent {

template <class T>
struct TransformCall {
  std::size_t batch = 0;
  Panel<const T> in;       // one row per dimension
  Panel<const T> raw;      // in.rows * num_params rows
  Panel<T> out;            // may be `in`
  T* log_slope = nullptr;  // [padded batch]; the log-slopes of all dimensions are added to it
};

// out = f(in), log_slope[b] += sum_d ln f'(in[d][b]). Any value is allowed; NaN gives NaN.
void transform_forward(const Transform& transform, const TransformCall<float>& call);
void transform_forward(const Transform& transform, const TransformCall<double>& call);

// out = f^-1(in), log_slope[b] += sum_d ln (f^-1)'(in[d][b]).
void transform_inverse(const Transform& transform, const TransformCall<float>& call);
void transform_inverse(const Transform& transform, const TransformCall<double>& call);

template <class T>
struct TransformGradient {
  std::size_t batch = 0;
  Panel<const T> in;  // as given to transform_forward
  Panel<const T> raw;
  Panel<const T> grad_out;
  const T* grad_log_slope = nullptr;  // [padded batch]
  Panel<T> grad_raw;                  // written; may be `raw`. Padding columns become zero
  Panel<T> grad_in;                   // written, likewise; no data: not wanted; may be `grad_out`
};

// Gradient of sum_db grad_out[d][b] f(in[d][b]) + sum_b grad_log_slope[b] sum_d ln f'(in[d][b]).
void transform_backward(const Transform& transform, const TransformGradient<float>& call);
void transform_backward(const Transform& transform, const TransformGradient<double>& call);

// Both at once, for a loss that is quadratic in the result, as a Gaussian's is:
//   L = sum_db curvature[d][b] / 2 (f(in[d][b]) - center[d][b])^2 + sum_b grad_log_slope[b] sum_d ln f'(in[d][b]).
template <class T>
struct TransformStep {
  TransformCall<T> call;
  Panel<const T> center;  // shaped like `in`, as is `curvature`
  Panel<const T> curvature;
  const T* grad_log_slope = nullptr;  // [padded batch]
  Panel<T> grad_raw;                  // as in TransformGradient
  Panel<T> grad_in;
};

// What transform_forward does, and the gradient of L.
void transform_step(const Transform& transform, const TransformStep<float>& step);
void transform_step(const Transform& transform, const TransformStep<double>& step);

}  // namespace dissent
