// Runs the lanes of spline_lanes-inl.hpp over dimensions and batch, on the best instruction set of the machine.
//
// Dimensions run outside, rows inside: each raw parameter is then read as a sequential stream.
#include "dissent/flow/transform.hpp"

#include <algorithm>

#include "dissent/base/error.hpp"
#include "dissent/matrix/simd.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "dissent/flow/transform.cpp"
#include <hwy/foreach_target.h>  // IWYU pragma: keep
#include <hwy/highway.h>

// After foreach_target.h, as they too are compiled for each target.
#include "dissent/flow/spline_lanes-inl.hpp"
#include "dissent/flow/spline_quadratic-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace dissent::HWY_NAMESPACE {
namespace {

constexpr int kUsualBins = 10;  // a constant trip count lets the compiler keep the bins in registers

template <class Kind, bool kInverse, class T>
DISSENT_LANE_INLINE void map_block(int num_bins, const Transform& transform, const TransformCall<T>& call) {
  const Tag<T> d;
  const Domain<Tag<T>> domain(d, transform.tail_bound);
  const std::size_t num_params = static_cast<std::size_t>(transform.num_params());
  for (std::size_t dim = 0; dim < call.in.rows; ++dim) {
    const T* raw = call.raw.row(dim * num_params);
    for (std::size_t b = 0; b < call.batch; b += hn::Lanes(d)) {
      const V<Tag<T>> in = hn::LoadU(d, call.in.row(dim) + b);
      LaneResult<Tag<T>> result;
      if constexpr (kInverse) {
        result = Kind::inverse(d, num_bins, domain, in, raw + b, call.raw.stride);
      } else {
        result = Kind::forward(d, num_bins, domain, in, raw + b, call.raw.stride);
      }
      hn::StoreU(result.value, d, call.out.row(dim) + b);
      hn::StoreU(hn::Add(hn::LoadU(d, call.log_slope + b), result.log_slope), d, call.log_slope + b);
    }
  }
}

template <class T>
void clear_padding(const Panel<T>& panel, std::size_t first, std::size_t count, std::size_t batch) {
  for (std::size_t r = first; r < first + count; ++r) {
    std::fill(panel.row(r) + batch, panel.row(r) + padded_batch(batch), T(0));
  }
}

template <class Kind, class T>
DISSENT_LANE_INLINE void gradient_block(int num_bins, const Transform& transform, const TransformGradient<T>& call) {
  const Tag<T> d;
  const Domain<Tag<T>> domain(d, transform.tail_bound);
  const std::size_t num_params = static_cast<std::size_t>(transform.num_params());
  for (std::size_t dim = 0; dim < call.in.rows; ++dim) {
    const RawParameters<T> raw{call.raw.row(dim * num_params), call.raw.stride, call.grad_raw.row(dim * num_params),
                               call.grad_raw.stride};
    for (std::size_t b = 0; b < call.batch; b += hn::Lanes(d)) {
      const LaneGradient<Tag<T>> grad{hn::LoadU(d, call.grad_out.row(dim) + b), hn::LoadU(d, call.grad_log_slope + b)};
      const V<Tag<T>> in = hn::LoadU(d, call.in.row(dim) + b);
      const V<Tag<T>> grad_in = Kind::backward(d, num_bins, domain, in, raw.at(b), grad);
      if (call.grad_in.data != nullptr) {
        hn::StoreU(grad_in, d, call.grad_in.row(dim) + b);
      }
    }
    clear_padding(call.grad_raw, dim * num_params, num_params, call.batch);
    if (call.grad_in.data != nullptr) {
      clear_padding(call.grad_in, dim, 1, call.batch);
    }
  }
}

template <class Kind, class T>
DISSENT_LANE_INLINE LaneStep<Tag<T>> lane_step(int num_bins, const Domain<Tag<T>>& domain, V<Tag<T>> in,
                                               const RawParameters<T>& raw, const LanePull<Tag<T>>& pull) {
  const Tag<T> d;
  if constexpr (requires { Kind::step(d, num_bins, domain, in, raw, pull); }) {
    return Kind::step(d, num_bins, domain, in, raw, pull);
  } else {
    const LaneResult<Tag<T>> result = Kind::forward(d, num_bins, domain, in, raw.value, raw.stride);
    return {result, Kind::backward(d, num_bins, domain, in, raw, pull.gradient(result.value))};
  }
}

template <class Kind, class T>
DISSENT_LANE_INLINE void step_block(int num_bins, const Transform& transform, const TransformStep<T>& step) {
  const Tag<T> d;
  const Domain<Tag<T>> domain(d, transform.tail_bound);
  const TransformCall<T>& call = step.call;
  const std::size_t num_params = static_cast<std::size_t>(transform.num_params());
  for (std::size_t dim = 0; dim < call.in.rows; ++dim) {
    const RawParameters<T> raw{call.raw.row(dim * num_params), call.raw.stride, step.grad_raw.row(dim * num_params),
                               step.grad_raw.stride};
    for (std::size_t b = 0; b < call.batch; b += hn::Lanes(d)) {
      const LanePull<Tag<T>> pull{hn::LoadU(d, step.center.row(dim) + b), hn::LoadU(d, step.curvature.row(dim) + b),
                                  hn::LoadU(d, step.grad_log_slope + b)};
      const LaneStep<Tag<T>> lanes =
          lane_step<Kind>(num_bins, domain, hn::LoadU(d, call.in.row(dim) + b), raw.at(b), pull);
      hn::StoreU(lanes.result.value, d, call.out.row(dim) + b);
      hn::StoreU(hn::Add(hn::LoadU(d, call.log_slope + b), lanes.result.log_slope), d, call.log_slope + b);
      if (step.grad_in.data != nullptr) {
        hn::StoreU(lanes.grad_in, d, step.grad_in.row(dim) + b);
      }
    }
    clear_padding(step.grad_raw, dim * num_params, num_params, call.batch);
    if (step.grad_in.data != nullptr) {
      clear_padding(step.grad_in, dim, 1, call.batch);
    }
  }
}

template <bool kInverse, class T>
void map_any(const Transform& transform, const TransformCall<T>& call) {
  const int num_bins = std::max(transform.num_bins, Transform::kMinBins);
  switch (transform.kind) {
    case TransformKind::kCubic:
      return num_bins == kUsualBins ? map_block<CubicKind, kInverse>(kUsualBins, transform, call)
                                    : map_block<CubicKind, kInverse>(num_bins, transform, call);
    case TransformKind::kQuadratic:
      return map_block<QuadraticKind, kInverse>(num_bins, transform, call);
    case TransformKind::kRationalQuadratic:
      return map_block<RationalKind, kInverse>(num_bins, transform, call);
    case TransformKind::kAffine:
      return map_block<AffineKind, kInverse>(num_bins, transform, call);
  }
}

template <class T>
void gradient_any(const Transform& transform, const TransformGradient<T>& call) {
  const int num_bins = std::max(transform.num_bins, Transform::kMinBins);
  switch (transform.kind) {
    case TransformKind::kCubic:
      return num_bins == kUsualBins ? gradient_block<CubicKind>(kUsualBins, transform, call)
                                    : gradient_block<CubicKind>(num_bins, transform, call);
    case TransformKind::kQuadratic:
      return gradient_block<QuadraticKind>(num_bins, transform, call);
    case TransformKind::kRationalQuadratic:
      return gradient_block<RationalKind>(num_bins, transform, call);
    case TransformKind::kAffine:
      return gradient_block<AffineKind>(num_bins, transform, call);
  }
}

template <class T>
void step_any(const Transform& transform, const TransformStep<T>& step) {
  const int num_bins = std::max(transform.num_bins, Transform::kMinBins);
  switch (transform.kind) {
    case TransformKind::kCubic:
      return num_bins == kUsualBins ? step_block<CubicKind>(kUsualBins, transform, step)
                                    : step_block<CubicKind>(num_bins, transform, step);
    case TransformKind::kQuadratic:
      return step_block<QuadraticKind>(num_bins, transform, step);
    case TransformKind::kRationalQuadratic:
      return step_block<RationalKind>(num_bins, transform, step);
    case TransformKind::kAffine:
      return step_block<AffineKind>(num_bins, transform, step);
  }
}

// Highway's dispatch tables hold plain functions.
void forward_f32(const Transform& transform, const TransformCall<float>& call) { map_any<false>(transform, call); }
void forward_f64(const Transform& transform, const TransformCall<double>& call) { map_any<false>(transform, call); }
void inverse_f32(const Transform& transform, const TransformCall<float>& call) { map_any<true>(transform, call); }
void inverse_f64(const Transform& transform, const TransformCall<double>& call) { map_any<true>(transform, call); }
void backward_f32(const Transform& transform, const TransformGradient<float>& call) { gradient_any(transform, call); }
void backward_f64(const Transform& transform, const TransformGradient<double>& call) { gradient_any(transform, call); }
void step_f32(const Transform& transform, const TransformStep<float>& step) { step_any(transform, step); }
void step_f64(const Transform& transform, const TransformStep<double>& step) { step_any(transform, step); }

}  // namespace
}  // namespace dissent::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace dissent {

HWY_EXPORT(forward_f32);
HWY_EXPORT(forward_f64);
HWY_EXPORT(inverse_f32);
HWY_EXPORT(inverse_f64);
HWY_EXPORT(backward_f32);
HWY_EXPORT(backward_f64);
HWY_EXPORT(step_f32);
HWY_EXPORT(step_f64);

void transform_forward(const Transform& transform, const TransformCall<float>& call) {
  HWY_DYNAMIC_DISPATCH(forward_f32)(transform, call);
}
void transform_forward(const Transform& transform, const TransformCall<double>& call) {
  HWY_DYNAMIC_DISPATCH(forward_f64)(transform, call);
}
void transform_inverse(const Transform& transform, const TransformCall<float>& call) {
  HWY_DYNAMIC_DISPATCH(inverse_f32)(transform, call);
}
void transform_inverse(const Transform& transform, const TransformCall<double>& call) {
  HWY_DYNAMIC_DISPATCH(inverse_f64)(transform, call);
}
void transform_backward(const Transform& transform, const TransformGradient<float>& call) {
  HWY_DYNAMIC_DISPATCH(backward_f32)(transform, call);
}
void transform_backward(const Transform& transform, const TransformGradient<double>& call) {
  HWY_DYNAMIC_DISPATCH(backward_f64)(transform, call);
}
void transform_step(const Transform& transform, const TransformStep<float>& step) {
  HWY_DYNAMIC_DISPATCH(step_f32)(transform, step);
}
void transform_step(const Transform& transform, const TransformStep<double>& step) {
  HWY_DYNAMIC_DISPATCH(step_f64)(transform, step);
}

namespace {

struct KindName {
  TransformKind kind;
  std::string_view name;
};
constexpr KindName kKindNames[] = {{TransformKind::kCubic, "cubic"},
                                   {TransformKind::kQuadratic, "quadratic"},
                                   {TransformKind::kRationalQuadratic, "rational_quadratic"},
                                   {TransformKind::kAffine, "affine"}};

}  // namespace

std::string_view transform_name(TransformKind kind) { return kKindNames[static_cast<int>(kind)].name; }

TransformKind transform_from_name(std::string_view name) {
  for (const KindName& entry : kKindNames) {
    if (entry.name == name) {
      return entry.kind;
    }
  }
  fail("transform '{}' is not one of cubic, quadratic, rational_quadratic, affine", name);
}

std::vector<std::string> transform_names() {
  std::vector<std::string> names;
  for (const KindName& entry : kKindNames) {
    names.emplace_back(entry.name);
  }
  return names;
}

int Transform::num_params() const {
  switch (kind) {
    case TransformKind::kCubic:
      return 2 * num_bins + 2;
    case TransformKind::kQuadratic:
      return 2 * num_bins - 1;
    case TransformKind::kRationalQuadratic:
      return 3 * num_bins - 1;
    case TransformKind::kAffine:
      return 2;
  }
  return 0;
}

void Transform::check() const {
  check_argument(num_bins >= kMinBins && num_bins <= kMaxBins, "bins", num_bins, "it must be from {} to {}", kMinBins,
                 kMaxBins);
  check_argument(tail_bound >= kMinTailBound && tail_bound <= kMaxTailBound, "tail_bound", tail_bound,
                 "it must be in [{}, {}]", kMinTailBound, kMaxTailBound);
}

}  // namespace dissent
#endif  // HWY_ONCE
