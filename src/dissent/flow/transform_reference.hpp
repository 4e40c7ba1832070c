// The element-wise maps of transform.hpp, one value at a time: the mathematics, and the oracle of the fast kernels.
//
// T is float, double or any type with their arithmetic (the tests use dual numbers for exact gradients). On the unit
// square, t = (x + B) / 2B, bin k has left knot (X, Y), width w, height h, mean slope s = h / w, and a value lies at
// theta = (t - X) / w in it. End slopes d0, d1 of the bin are used relative to s: alpha = d0 / s, beta = d1 / s.
//   cubic               (y - Y) / h = alpha theta + (3 - 2 alpha - beta) theta^2 + (alpha + beta - 2) theta^3
//   rational quadratic  (y - Y) / h = (theta^2 + alpha q) / (1 + (alpha + beta - 2) q),  q = theta (1 - theta)
//   quadratic           dy/dt runs linearly from H0 to H1 over the bin.
// Constants are those of the published code, so that its models can be read. So are its two oddities: in the quadratic
// spline's end density, end bins count a quarter where a half is due, hence end slopes near 1 instead of 1; and the
// cubic's end slopes are free. One departure: the cubic's end parameters are clamped to +-30, since a slope of zero at
// the border would have a log-slope of -infinity.
#pragma once

#include <cmath>
#include <cstddef>
#include <span>
#include <vector>

#include "dissent/flow/transform.hpp"
#include "dissent/flow/transform_constants.hpp"

namespace dissent {

template <class T>
struct Transformed {
  T value;
  T log_slope;
};

namespace reference {

template <class T>
T sigmoid(T u) {
  using std::exp;
  return T(1) / (T(1) + exp(-u));
}

template <class T>
T softplus(T u) {
  using std::exp;
  using std::log1p;
  return u > T(0) ? u + log1p(exp(-u)) : log1p(exp(u));
}

template <class T>
T smaller(T a, T b) {
  return b < a ? b : a;
}

// kMinBin + (1 - K kMinBin) softmax(raw)
template <class T>
std::vector<T> bin_sizes(std::span<const T> raw) {
  using std::exp;
  T high = raw[0];
  for (const T& u : raw) {
    high = high < u ? u : high;
  }
  std::vector<T> size;
  T sum(0);
  for (const T& u : raw) {
    size.push_back(exp(u - high));
    sum = sum + size.back();
  }
  for (T& v : size) {
    v = T(kMinBin) + T(1 - kMinBin * static_cast<double>(raw.size())) * v / sum;
  }
  return size;
}

// Knots 0 = c_0 < c_1 < ... < c_K = 1.
template <class T>
std::vector<T> knots(const std::vector<T>& size) {
  std::vector<T> at{T(0)};
  for (std::size_t k = 0; k + 1 < size.size(); ++k) {
    at.push_back(at.back() + size[k]);
  }
  at.push_back(T(1));
  return at;
}

template <class T>
std::size_t find_bin(const std::vector<T>& knot, T position) {
  std::size_t k = 0;
  while (k + 2 < knot.size() && !(position < knot[k + 1])) {
    ++k;
  }
  return k;
}

// Steffen (1990): the parabola's slope at a knot, limited to twice the smaller neighbouring mean slope.
template <class T>
T steffen_slope(T w0, T s0, T w1, T s1) {
  return smaller(T(2) * smaller(s0, s1), (w1 * s0 + w0 * s1) / (w0 + w1));
}

template <class T>
std::vector<T> cubic_slopes(const std::vector<T>& w, const std::vector<T>& s, T raw_left, T raw_right) {
  const auto end_slope = [](T raw) {
    const T bounded = raw < T(-kMaxEndRaw) ? T(-kMaxEndRaw) : smaller(raw, T(kMaxEndRaw));
    return T(3) * sigmoid(bounded);
  };
  std::vector<T> slope{end_slope(raw_left) * s.front()};
  for (std::size_t k = 1; k < w.size(); ++k) {
    slope.push_back(steffen_slope(w[k - 1], s[k - 1], w[k], s[k]));
  }
  slope.push_back(end_slope(raw_right) * s.back());
  return slope;
}

// y and ln dy/dt on the unit square, for the two kinds given by knots and knot slopes.
template <class T>
Transformed<T> hermite_unit(TransformKind kind, int num_bins, T t, std::span<const T> raw) {
  using std::log;
  const std::vector<T> w = bin_sizes(raw.subspan(0, num_bins));
  const std::vector<T> h = bin_sizes(raw.subspan(num_bins, num_bins));
  std::vector<T> s;
  for (int k = 0; k < num_bins; ++k) {
    s.push_back(h[k] / w[k]);
  }
  std::vector<T> slope{T(1)};
  if (kind == TransformKind::kCubic) {
    slope = cubic_slopes(w, s, raw[2 * num_bins], raw[2 * num_bins + 1]);
  } else {
    for (const T& u : raw.subspan(2 * num_bins)) {
      slope.push_back(T(kMinSlope) + softplus(u));
    }
    slope.push_back(T(1));
  }
  const std::vector<T> left = knots(w);
  const std::vector<T> bottom = knots(h);
  const std::size_t k = find_bin(left, t);
  const T theta = (t - left[k]) / w[k];
  const T alpha = slope[k] / s[k];
  const T beta = slope[k + 1] / s[k];
  if (kind == TransformKind::kCubic) {
    const T b = T(3) - T(2) * alpha - beta;
    const T a = alpha + beta - T(2);
    return {bottom[k] + h[k] * theta * (alpha + theta * (b + theta * a)),
            log(s[k] * (alpha + theta * (T(2) * b + T(3) * theta * a)))};
  }
  const T rest = T(1) - theta;
  const T q = theta * rest;
  const T denominator = T(1) + (alpha + beta - T(2)) * q;
  return {bottom[k] + h[k] * (theta * theta + alpha * q) / denominator,
          log(s[k] * (beta * theta * theta + T(2) * q + alpha * rest * rest) / (denominator * denominator))};
}

template <class T>
Transformed<T> quadratic_unit(int num_bins, T t, std::span<const T> raw) {
  using std::log;
  const std::vector<T> w = bin_sizes(raw.subspan(0, num_bins));
  std::vector<T> density(num_bins + 1, T(0));
  T inner(0);
  for (int k = 1; k < num_bins; ++k) {
    density[k] = T(kMinSlope) + softplus(raw[num_bins + k - 1]);
  }
  for (int k = 0; k < num_bins; ++k) {  // the ends are still zero, so their bins count half of what follows
    const bool end = k == 0 || k == num_bins - 1;
    inner = inner + T(end ? 0.25 : 0.5) * w[k] * (density[k] + density[k + 1]);
  }
  density.front() = density.back() = inner / (T(1) - T(0.25) * (w.front() + w.back()));
  T area(0);
  for (int k = 0; k < num_bins; ++k) {
    area = area + T(0.5) * w[k] * (density[k] + density[k + 1]);
  }
  for (T& v : density) {
    v = T(kMinSlope) + T(1 - kMinSlope) * v / area;
  }
  const std::vector<T> left = knots(w);
  const std::size_t k = find_bin(left, t);
  T bottom(0);
  for (std::size_t j = 0; j < k; ++j) {
    bottom = bottom + T(0.5) * w[j] * (density[j] + density[j + 1]);
  }
  const T theta = (t - left[k]) / w[k];
  const T rise = density[k + 1] - density[k];
  return {bottom + w[k] * theta * (density[k] + T(0.5) * rise * theta), log(density[k] + rise * theta)};
}

}  // namespace reference

// f(x) and ln f'(x) for one value; raw holds transform.num_params() values.
template <class T>
Transformed<T> reference_forward(const Transform& transform, T x, std::span<const T> raw) {
  using std::log;
  if (transform.kind == TransformKind::kAffine) {
    const T scale = reference::sigmoid(raw[1] + T(kAffineOffset)) + T(kMinScale);
    return {raw[0] + x * scale, log(scale)};
  }
  const T bound(transform.tail_bound);
  if (x < -bound || bound < x) {
    return {x, T(0)};
  }
  const T t = (x + bound) / (T(2) * bound);
  const Transformed<T> unit = transform.kind == TransformKind::kQuadratic
                                  ? reference::quadratic_unit(transform.num_bins, t, raw)
                                  : reference::hermite_unit(transform.kind, transform.num_bins, t, raw);
  return {T(2) * bound * unit.value - bound, unit.log_slope};
}

}  // namespace dissent
