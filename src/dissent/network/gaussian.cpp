#include "dissent/network/gaussian.hpp"

#include <algorithm>
#include <cmath>

#include "dissent/base/error.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "dissent/network/gaussian.cpp"
#include "dissent/matrix/simd.hpp"
//
#include <hwy/foreach_target.h>
#include <hwy/highway.h>
//
#include <hwy/contrib/math/math-inl.h>

#ifndef DISSENT_NETWORK_GAUSSIAN_ONCE
#define DISSENT_NETWORK_GAUSSIAN_ONCE
namespace dissent {

// The options in the kernels' precision.
template <class T>
struct GaussianLimits {
  T min;
  T max;
  T floor;
  T half_log_floor;  // log(floor) / 2; unused without a floor
  T scale;           // 1 / (batch * outputs)
};

template <class T>
struct GaussianBatch {
  Panel<const T> heads;
  Panel<const T> targets;
  Panel<T> gradient;  // may be `heads` itself; no data: not wanted
  std::size_t batch;
};

}  // namespace dissent
#endif  // DISSENT_NETWORK_GAUSSIAN_ONCE

HWY_BEFORE_NAMESPACE();
namespace dissent {
namespace HWY_NAMESPACE {
namespace {

namespace hn = hwy::HWY_NAMESPACE;

// The limit comes first in Max and Min, so that a NaN gets through on x86.
template <class D, class V = hn::Vec<D>, class T = hn::TFromD<D>>
HWY_INLINE V clamp_log_stddev(D d, V log_stddev, const GaussianLimits<T>& limits) {
  return hn::Min(hn::Set(d, limits.max), hn::Max(hn::Set(d, limits.min), log_stddev));
}

// Sum of the loss over one output; rows are summed in T (short), outputs in double by the caller.
template <bool kGradient, bool kFloor, class T>
HWY_INLINE double nll_row(const GaussianLimits<T>& limits, const GaussianBatch<T>& b, std::size_t output) {
  const hn::ScalableTag<T> d;
  using Vec = hn::Vec<decltype(d)>;
  const std::size_t num_outputs = b.targets.rows;
  const std::size_t columns = padded_batch(b.batch);
  const T* mean_row = b.heads.row(output);
  const T* log_stddev_row = b.heads.row(num_outputs + output);
  const T* target_row = b.targets.row(output);
  const Vec one = hn::Set(d, T(1));
  const Vec half = hn::Set(d, T(0.5));
  const Vec scale = hn::Set(d, limits.scale);
  Vec total = hn::Zero(d);
  for (std::size_t c = 0; c < columns; c += hn::Lanes(d)) {
    const auto inside = hn::FirstN(d, c < b.batch ? std::min(b.batch - c, hn::Lanes(d)) : 0);
    const Vec raw = hn::Load(d, log_stddev_row + c);
    const Vec log_stddev = clamp_log_stddev(d, raw, limits);
    const Vec twice = hn::Add(log_stddev, log_stddev);
    // Without a floor one exponential gives the precision itself; with one, the variance is needed too.
    const Vec variance = kFloor ? hn::Exp(d, twice) : one;
    const Vec precision =
        kFloor ? hn::Div(one, hn::Max(hn::Set(d, limits.floor), variance)) : hn::Exp(d, hn::Neg(twice));
    const Vec residual = hn::Sub(hn::Load(d, mean_row + c), hn::Load(d, target_row + c));
    const Vec scaled = hn::Mul(residual, precision);
    const Vec square = hn::Mul(residual, scaled);
    const Vec log_scale = kFloor ? hn::Max(hn::Set(d, limits.half_log_floor), log_stddev) : log_stddev;
    const Vec loss = hn::MulAdd(half, square, log_scale);
    total = hn::Add(total, hn::IfThenElseZero(inside, loss));
    if constexpr (kGradient) {
      const auto free = hn::And(inside, hn::Eq(raw, log_stddev));
      const Vec excess = hn::Sub(one, square);
      const Vec slope = kFloor ? hn::Mul(hn::Mul(variance, precision), excess) : excess;
      hn::Store(hn::IfThenElseZero(inside, hn::Mul(scaled, scale)), d, b.gradient.row(output) + c);
      hn::Store(hn::IfThenElseZero(free, hn::Mul(slope, scale)), d, b.gradient.row(num_outputs + output) + c);
    }
  }
  return static_cast<double>(hn::GetLane(hn::SumOfLanes(d, total)));
}

template <bool kGradient, bool kFloor, class T>
double nll_rows(const GaussianLimits<T>& limits, const GaussianBatch<T>& b) {
  double sum = 0;
  for (std::size_t output = 0; output < b.targets.rows; ++output) {
    sum += nll_row<kGradient, kFloor>(limits, b, output);
  }
  return sum;
}

template <class T>
double nll_any(const GaussianLimits<T>& limits, const GaussianBatch<T>& b) {
  if (b.gradient.data == nullptr) {
    return limits.floor > 0 ? nll_rows<false, true>(limits, b) : nll_rows<false, false>(limits, b);
  }
  return limits.floor > 0 ? nll_rows<true, true>(limits, b) : nll_rows<true, false>(limits, b);
}

template <class T>
void stddev_any(const GaussianLimits<T>& limits, Panel<T> log_stddev, std::size_t batch) {
  const hn::ScalableTag<T> d;
  const std::size_t columns = padded_batch(batch);
  for (std::size_t r = 0; r < log_stddev.rows; ++r) {
    T* row = log_stddev.row(r);
    for (std::size_t c = 0; c < columns; c += hn::Lanes(d)) {
      hn::Store(hn::Exp(d, clamp_log_stddev(d, hn::Load(d, row + c), limits)), d, row + c);
    }
  }
}

template <class T>
void curvature_any(const GaussianLimits<T>& limits, Panel<const T> log_stddev, std::size_t batch, Panel<T> out) {
  const hn::ScalableTag<T> d;
  using Vec = hn::Vec<decltype(d)>;
  const std::size_t columns = padded_batch(batch);
  const Vec scale = hn::Set(d, limits.scale);
  for (std::size_t r = 0; r < log_stddev.rows; ++r) {
    for (std::size_t c = 0; c < columns; c += hn::Lanes(d)) {
      const Vec s = clamp_log_stddev(d, hn::Load(d, log_stddev.row(r) + c), limits);
      hn::Store(hn::Mul(scale, hn::Exp(d, hn::Mul(hn::Set(d, T(-2)), s))), d, out.row(r) + c);
    }
  }
}

}  // namespace

double nll_float(const GaussianLimits<float>& limits, const GaussianBatch<float>& b) { return nll_any(limits, b); }
double nll_double(const GaussianLimits<double>& limits, const GaussianBatch<double>& b) { return nll_any(limits, b); }

void curvature_float(const GaussianLimits<float>& limits, Panel<const float> log_stddev, std::size_t batch,
                     Panel<float> out) {
  curvature_any(limits, log_stddev, batch, out);
}

void curvature_double(const GaussianLimits<double>& limits, Panel<const double> log_stddev, std::size_t batch,
                      Panel<double> out) {
  curvature_any(limits, log_stddev, batch, out);
}

void stddev_float(const GaussianLimits<float>& limits, Panel<float> log_stddev, std::size_t batch) {
  stddev_any(limits, log_stddev, batch);
}

void stddev_double(const GaussianLimits<double>& limits, Panel<double> log_stddev, std::size_t batch) {
  stddev_any(limits, log_stddev, batch);
}

}  // namespace HWY_NAMESPACE
}  // namespace dissent
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace dissent {

HWY_EXPORT(nll_float);
HWY_EXPORT(nll_double);
HWY_EXPORT(curvature_float);
HWY_EXPORT(curvature_double);
HWY_EXPORT(stddev_float);
HWY_EXPORT(stddev_double);

namespace {

template <class T>
GaussianLimits<T> limits_of(const GaussianOptions& options, double scale = 1) {
  const double half_log_floor = options.variance_floor > 0 ? 0.5 * std::log(options.variance_floor) : 0;
  return {static_cast<T>(options.log_stddev_min), static_cast<T>(options.log_stddev_max),
          static_cast<T>(options.variance_floor), static_cast<T>(half_log_floor), static_cast<T>(scale)};
}

void check_shapes(const char* function, std::size_t head_rows, std::size_t target_rows) {
  check(head_rows == 2 * target_rows, "{}: heads have {} rows and targets {}; heads hold a mean and a log-stddev each",
        function, head_rows, target_rows);
}

double nll(const GaussianLimits<float>& limits, const GaussianBatch<float>& b) {
  return HWY_DYNAMIC_DISPATCH(nll_float)(limits, b);
}

double nll(const GaussianLimits<double>& limits, const GaussianBatch<double>& b) {
  return HWY_DYNAMIC_DISPATCH(nll_double)(limits, b);
}

template <class T>
double mean_nll(const char* function, const GaussianOptions& options, const GaussianBatch<T>& b) {
  check_shapes(function, b.heads.rows, b.targets.rows);
  if (b.batch == 0 || b.targets.rows == 0) {
    return 0;
  }
  const double scale = 1 / (static_cast<double>(b.batch) * static_cast<double>(b.targets.rows));
  return nll(limits_of<T>(options, scale), b) * scale;
}

}  // namespace

double gaussian_nll(const GaussianOptions& options, Panel<const float> heads, Panel<const float> targets,
                    std::size_t batch) {
  return mean_nll<float>("gaussian_nll", options, {heads, targets, {}, batch});
}

double gaussian_nll(const GaussianOptions& options, Panel<const double> heads, Panel<const double> targets,
                    std::size_t batch) {
  return mean_nll<double>("gaussian_nll", options, {heads, targets, {}, batch});
}

double gaussian_nll_gradient(const GaussianOptions& options, Panel<float> heads, Panel<const float> targets,
                             std::size_t batch) {
  return mean_nll<float>("gaussian_nll_gradient", options, {heads, targets, heads, batch});
}

double gaussian_nll_gradient(const GaussianOptions& options, Panel<double> heads, Panel<const double> targets,
                             std::size_t batch) {
  return mean_nll<double>("gaussian_nll_gradient", options, {heads, targets, heads, batch});
}

void gaussian_curvature(const GaussianOptions& options, Panel<const float> log_stddev, std::size_t batch, double scale,
                        Panel<float> out) {
  HWY_DYNAMIC_DISPATCH(curvature_float)(limits_of<float>(options, scale), log_stddev, batch, out);
}

void gaussian_curvature(const GaussianOptions& options, Panel<const double> log_stddev, std::size_t batch, double scale,
                        Panel<double> out) {
  HWY_DYNAMIC_DISPATCH(curvature_double)(limits_of<double>(options, scale), log_stddev, batch, out);
}

void exponentiate_log_stddev(const GaussianOptions& options, Panel<float> log_stddev, std::size_t batch) {
  HWY_DYNAMIC_DISPATCH(stddev_float)(limits_of<float>(options), log_stddev, batch);
}

void exponentiate_log_stddev(const GaussianOptions& options, Panel<double> log_stddev, std::size_t batch) {
  HWY_DYNAMIC_DISPATCH(stddev_double)(limits_of<double>(options), log_stddev, batch);
}

}  // namespace dissent
#endif  // HWY_ONCE
