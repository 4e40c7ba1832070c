#include "dissent/network/activation.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "dissent/network/activation.cpp"
#include "dissent/matrix/simd.hpp"
//
#include <hwy/foreach_target.h>
#include <hwy/highway.h>
//
#include <hwy/contrib/math/math-inl.h>

HWY_BEFORE_NAMESPACE();
namespace dissent {
namespace HWY_NAMESPACE {
namespace {

namespace hn = hwy::HWY_NAMESPACE;

template <class T>
void tanh_any(Panel<T> values, std::size_t batch) {
  const hn::ScalableTag<T> d;
  const std::size_t columns = padded_batch(batch);
  for (std::size_t r = 0; r < values.rows; ++r) {
    T* row = values.row(r);
    for (std::size_t b = 0; b < columns; b += hn::Lanes(d)) {
      hn::Store(hn::Tanh(d, hn::Load(d, row + b)), d, row + b);
    }
  }
}

template <class T>
void silu_any(Panel<T> values, Panel<T> derivative, std::size_t batch) {
  const hn::ScalableTag<T> d;
  using Vec = hn::Vec<decltype(d)>;
  const std::size_t columns = padded_batch(batch);
  const Vec one = hn::Set(d, T(1));
  for (std::size_t r = 0; r < values.rows; ++r) {
    T* row = values.row(r);
    T* slope = derivative.row(r);
    for (std::size_t b = 0; b < columns; b += hn::Lanes(d)) {
      const Vec z = hn::Load(d, row + b);
      const Vec decay = hn::Exp(d, hn::Neg(hn::Abs(z)));  // never overflows
      const Vec larger = hn::Div(one, hn::Add(one, decay));
      const Vec sigmoid = hn::IfThenElse(hn::Ge(z, hn::Zero(d)), larger, hn::Mul(decay, larger));
      hn::Store(hn::Mul(z, sigmoid), d, row + b);
      hn::Store(hn::Mul(sigmoid, hn::MulAdd(z, hn::Sub(one, sigmoid), one)), d, slope + b);
    }
  }
}

}  // namespace

void tanh_float(Panel<float> values, std::size_t batch) { tanh_any(values, batch); }
void tanh_double(Panel<double> values, std::size_t batch) { tanh_any(values, batch); }
void silu_float(Panel<float> values, Panel<float> slope, std::size_t batch) { silu_any(values, slope, batch); }
void silu_double(Panel<double> values, Panel<double> slope, std::size_t batch) { silu_any(values, slope, batch); }

}  // namespace HWY_NAMESPACE
}  // namespace dissent
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace dissent {

HWY_EXPORT(tanh_float);
HWY_EXPORT(tanh_double);
HWY_EXPORT(silu_float);
HWY_EXPORT(silu_double);

void apply_tanh(Panel<float> values, std::size_t batch) { HWY_DYNAMIC_DISPATCH(tanh_float)(values, batch); }
void apply_tanh(Panel<double> values, std::size_t batch) { HWY_DYNAMIC_DISPATCH(tanh_double)(values, batch); }

void apply_silu(Panel<float> values, Panel<float> derivative, std::size_t batch) {
  HWY_DYNAMIC_DISPATCH(silu_float)(values, derivative, batch);
}

void apply_silu(Panel<double> values, Panel<double> derivative, std::size_t batch) {
  HWY_DYNAMIC_DISPATCH(silu_double)(values, derivative, batch);
}

}  // namespace dissent
#endif  // HWY_ONCE
