#include "dissent/network/adam.hpp"

#include <algorithm>
#include <cmath>

#include "dissent/base/error.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "dissent/network/adam.cpp"
#include "dissent/matrix/simd.hpp"
//
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#ifndef DISSENT_NETWORK_ADAM_ONCE
#define DISSENT_NETWORK_ADAM_ONCE
namespace dissent {

template <class T>
struct AdamFactors {
  T gradient_scale;
  T shrink;  // as in AdamScales
  T beta1;
  T one_minus_beta1;
  T beta2;
  T one_minus_beta2;
  T step_size;
  T inverse_root;
  T epsilon;
};

}  // namespace dissent
#endif  // DISSENT_NETWORK_ADAM_ONCE

HWY_BEFORE_NAMESPACE();
namespace dissent {
namespace HWY_NAMESPACE {
namespace {

namespace hn = hwy::HWY_NAMESPACE;

// Short stretches are summed in T, the stretches in double.
template <class T>
double square_sum_any(const T* values, std::size_t size) {
  const hn::ScalableTag<T> d;
  using Vec = hn::Vec<decltype(d)>;
  constexpr std::size_t kStretch = 64 * kLanes;
  double sum = 0;
  for (std::size_t begin = 0; begin < size; begin += kStretch) {
    const std::size_t end = std::min(size, begin + kStretch);
    Vec total = hn::Zero(d);
    for (std::size_t k = begin; k < end; k += hn::Lanes(d)) {
      const Vec v = hn::LoadU(d, values + k);
      total = hn::MulAdd(v, v, total);
    }
    sum += static_cast<double>(hn::GetLane(hn::SumOfLanes(d, total)));
  }
  return sum;
}

template <class T>
void update_any(const AdamFactors<T>& f, const AdamRange<T>& range) {
  const hn::ScalableTag<T> d;
  using Vec = hn::Vec<decltype(d)>;
  T* parameters = range.parameters.data();
  const T* gradient = range.gradient.data();
  T* first = range.first_moment.data();
  T* second = range.second_moment.data();
  const Vec scale = hn::Set(d, f.gradient_scale);
  const Vec shrink = hn::Set(d, f.shrink);
  const Vec step_size = hn::Set(d, f.step_size);
  const Vec inverse_root = hn::Set(d, f.inverse_root);
  const Vec epsilon = hn::Set(d, f.epsilon);
  for (std::size_t k = 0; k < range.parameters.size(); k += hn::Lanes(d)) {
    const Vec p = hn::LoadU(d, parameters + k);
    const Vec g = hn::Mul(scale, hn::LoadU(d, gradient + k));
    const Vec m = hn::MulAdd(hn::Set(d, f.beta1), hn::LoadU(d, first + k), hn::Mul(hn::Set(d, f.one_minus_beta1), g));
    const Vec v = hn::MulAdd(hn::Set(d, f.beta2), hn::LoadU(d, second + k),
                             hn::Mul(hn::Mul(hn::Set(d, f.one_minus_beta2), g), g));
    const Vec denominator = hn::MulAdd(hn::Sqrt(v), inverse_root, epsilon);
    hn::StoreU(hn::NegMulAdd(step_size, hn::Div(m, denominator), hn::Mul(shrink, p)), d, parameters + k);
    hn::StoreU(m, d, first + k);
    hn::StoreU(v, d, second + k);
  }
}

}  // namespace

double square_sum_float(const float* values, std::size_t size) { return square_sum_any(values, size); }
double square_sum_double(const double* values, std::size_t size) { return square_sum_any(values, size); }
void update_float(const AdamFactors<float>& f, const AdamRange<float>& range) { update_any(f, range); }
void update_double(const AdamFactors<double>& f, const AdamRange<double>& range) { update_any(f, range); }

}  // namespace HWY_NAMESPACE
}  // namespace dissent
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace dissent {

HWY_EXPORT(square_sum_float);
HWY_EXPORT(square_sum_double);
HWY_EXPORT(update_float);
HWY_EXPORT(update_double);

namespace {

double square_sum(const float* values, std::size_t size) {
  return HWY_DYNAMIC_DISPATCH(square_sum_float)(values, size);
}

double square_sum(const double* values, std::size_t size) {
  return HWY_DYNAMIC_DISPATCH(square_sum_double)(values, size);
}

void update(const AdamFactors<float>& f, const AdamRange<float>& range) {
  HWY_DYNAMIC_DISPATCH(update_float)(f, range);
}

void update(const AdamFactors<double>& f, const AdamRange<double>& range) {
  HWY_DYNAMIC_DISPATCH(update_double)(f, range);
}

template <class T>
double step_any(const AdamOptions& options, std::uint64_t step, const AdamRange<T>& range) {
  const std::size_t size = range.parameters.size();
  check(step > 0, "adam_step: step is 0; steps count from 1");
  check(size % kLanes == 0 && range.gradient.size() == size && range.first_moment.size() == size &&
            range.second_moment.size() == size,
        "adam_step: ranges of {}, {}, {} and {} values; they must be equal and a multiple of {}", size,
        range.gradient.size(), range.first_moment.size(), range.second_moment.size(), kLanes);
  const double norm = std::sqrt(square_sum(range.gradient.data(), size));
  if (!std::isfinite(norm)) {
    return norm;
  }
  const double clip = options.clip_norm > 0 ? std::min(1.0, options.clip_norm / (norm + 1e-6)) : 1.0;
  const AdamScales scales = adam_scales(options, step);
  AdamFactors<T> f;
  f.gradient_scale = static_cast<T>(clip);
  f.shrink = static_cast<T>(scales.shrink);
  f.beta1 = static_cast<T>(options.beta1);
  f.one_minus_beta1 = static_cast<T>(1 - options.beta1);
  f.beta2 = static_cast<T>(options.beta2);
  f.one_minus_beta2 = static_cast<T>(1 - options.beta2);
  f.step_size = static_cast<T>(scales.step_size);
  f.inverse_root = static_cast<T>(scales.inverse_root);
  f.epsilon = static_cast<T>(options.epsilon);
  update(f, range);
  return norm;
}

}  // namespace

AdamScales adam_scales(const AdamOptions& options, std::uint64_t step) {
  const double exponent = static_cast<double>(step);
  return {.shrink = 1 - options.learning_rate * options.weight_decay,
          .step_size = options.learning_rate / (1 - std::pow(options.beta1, exponent)),
          .inverse_root = 1 / std::sqrt(1 - std::pow(options.beta2, exponent))};
}

double adam_step(const AdamOptions& options, std::uint64_t step, const AdamRange<float>& range) {
  return step_any(options, step, range);
}

double adam_step(const AdamOptions& options, std::uint64_t step, const AdamRange<double>& range) {
  return step_any(options, step, range);
}

}  // namespace dissent
#endif  // HWY_ONCE
