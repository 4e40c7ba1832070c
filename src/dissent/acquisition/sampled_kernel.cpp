#include "dissent/acquisition/sampled_kernel.hpp"

#include <algorithm>

#include "dissent/base/simd_targets.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "dissent/acquisition/sampled_kernel.cpp"
#include <hwy/foreach_target.h>
// foreach_target.h must come first
#include <hwy/highway.h>

#include "dissent/base/simd_math-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace dissent::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

// With high = max(0, r): high + log1p(sum_i exp(r_i - high) + expm1(-high)). No exponential overflows, and if all r are
// negative it is log1p(sum) itself.
double sum_lanes(Panel<double> ratios, Panel<const double> chosen, std::size_t count) {
  const Tag<double> d;
  Vec<double> total = hn::Zero(d);
  for (std::size_t n = 0; n < count; n += hn::Lanes(d)) {
    Vec<double> high = hn::Zero(d);
    for (std::size_t i = 0; i < ratios.rows; ++i) {
      const Vec<double> ratio = hn::Add(hn::Load(d, ratios.row(i) + n), hn::Load(d, chosen.row(i) + n));
      hn::Store(ratio, d, ratios.row(i) + n);
      high = hn::Max(high, ratio);
    }
    Vec<double> sum = exponential<double>(hn::Neg(high)).expm1;
    for (std::size_t i = 0; i < ratios.rows; ++i) {
      sum = hn::Add(sum, exponential<double>(hn::Sub(hn::Load(d, ratios.row(i) + n), high)).exp);
    }
    const Vec<double> term = hn::Add(high, log1p<double>(sum));
    total = hn::Add(total, hn::IfThenElseZero(hn::FirstN(d, std::min(count - n, hn::Lanes(d))), term));
  }
  return hn::GetLane(hn::SumOfLanes(d, total));
}

}  // namespace dissent::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace dissent {

HWY_EXPORT(sum_lanes);

double sum_log1p_exp(Panel<double> ratios, Panel<const double> chosen, std::size_t count) {
  return HWY_DYNAMIC_DISPATCH(sum_lanes)(ratios, chosen, count);
}

}  // namespace dissent
#endif
