#include "dissent/acquisition/bait_kernel.hpp"

#include "dissent/base/simd_targets.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "dissent/acquisition/bait_kernel.cpp"
#include <hwy/foreach_target.h>
// foreach_target.h must come first
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace dissent::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

// own -= g a^2 and cross += g a (g norm a - 2 t), for a = sqrt(scale) along and t = sqrt(scale) beyond.
void step_lanes(const BaitStep& step) {
  const hn::ScalableTag<double> d;
  const auto shrink = hn::Set(d, step.shrink);
  const auto scaled_norm = hn::Set(d, step.shrink * step.norm);
  const auto two = hn::Set(d, 2.0);
  const auto one = hn::Set(d, 1.0);
  const auto zero = hn::Zero(d);
  const auto multiplicity = hn::Set(d, step.multiplicity);
  for (std::size_t n = 0; n < step.count; n += hn::Lanes(d)) {
    const auto along = hn::Load(d, step.along + n);
    const auto factor = hn::Mul(hn::Mul(shrink, hn::Load(d, step.scale + n)), along);
    const auto turn = hn::Sub(hn::Mul(scaled_norm, along), hn::Mul(two, hn::Load(d, step.beyond + n)));
    // Both are >= 0, but rounding may make them negative once the information is nearly used up.
    const auto own = hn::Max(zero, hn::NegMulAdd(factor, along, hn::Load(d, step.own + n)));
    const auto cross = hn::Max(zero, hn::MulAdd(factor, turn, hn::Load(d, step.cross + n)));
    hn::Store(own, d, step.own + n);
    hn::Store(cross, d, step.cross + n);
    const auto gain = hn::Div(hn::Mul(multiplicity, cross), hn::Add(one, own));
    hn::Store(hn::Add(gain, hn::Load(d, step.gain + n)), d, step.gain + n);
  }
}

}  // namespace dissent::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace dissent {

HWY_EXPORT(step_lanes);

void bait_step(const BaitStep& step) { HWY_DYNAMIC_DISPATCH(step_lanes)(step); }

}  // namespace dissent
#endif
