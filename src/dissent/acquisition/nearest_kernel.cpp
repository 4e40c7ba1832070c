#include "dissent/acquisition/nearest_kernel.hpp"

#include "dissent/base/simd_targets.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "dissent/acquisition/nearest_kernel.cpp"
#include <hwy/foreach_target.h>
// foreach_target.h must come first
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace dissent::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

void nearest_lanes(const NearestCentres& task) {
  const hn::ScalableTag<float> d;
  const hn::RebindToSigned<decltype(d)> di;
  const auto minus_two = hn::Set(d, -2.0F);
  for (std::size_t n = 0; n < task.count; n += hn::Lanes(d)) {
    auto gap = hn::LoadU(d, task.gap + n);
    auto centre = hn::LoadU(di, task.centre + n);
    for (std::size_t c = 0; c < task.products.rows; ++c) {
      const auto other = hn::MulAdd(minus_two, hn::Load(d, task.products.row(c) + n), hn::Set(d, task.norms[c]));
      const auto nearer = hn::Lt(other, gap);
      gap = hn::IfThenElse(nearer, other, gap);
      centre =
          hn::IfThenElse(hn::RebindMask(di, nearer), hn::Set(di, task.first + static_cast<std::int32_t>(c)), centre);
    }
    hn::StoreU(gap, d, task.gap + n);
    hn::StoreU(centre, di, task.centre + n);
  }
}

}  // namespace dissent::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace dissent {

HWY_EXPORT(nearest_lanes);

void nearest_centres(const NearestCentres& task) { HWY_DYNAMIC_DISPATCH(nearest_lanes)(task); }

}  // namespace dissent
#endif
