#include "dissent/acquisition/exact_kernel.hpp"

#include <algorithm>
#include <functional>

#include "dissent/base/simd_targets.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "dissent/acquisition/exact_kernel.cpp"
#include <hwy/foreach_target.h>
// foreach_target.h must come first
#include <hwy/highway.h>

#include "dissent/base/simd_math-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace dissent::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

// Factors multiplied before one logarithm is taken: (1e-9)^8 is still a normal number.
constexpr std::size_t kTogether = 8;

// sum[n] -= ln of the product over the aim's rows [first, last).
void dependence_lanes(const Dependence& rows, std::size_t first, std::size_t last, const double* precision,
                      double* sum) {
  const Tag<double> d;
  const Vec<double> one = hn::Set(d, 1.0);
  const Vec<double> most = hn::Set(d, Dependence::kMostCorrelated);
  for (std::size_t n = 0; n < rows.precision.size(); n += hn::Lanes(d)) {
    const Vec<double> own = hn::Load(d, precision + n);
    Vec<double> product = one;
    for (std::size_t a = first; a < last; ++a) {
      const Vec<double> with = hn::LoadU(d, rows.covariance.row(a) + rows.begin + n);
      const Vec<double> squared = hn::Mul(hn::Mul(hn::Mul(with, with), own), hn::Set(d, rows.aim_precision[a]));
      product = hn::Mul(product, hn::Sub(one, hn::Min(squared, most)));
    }
    hn::Store(hn::Sub(hn::Load(d, sum + n), log<double>(product)), d, sum + n);
  }
}

void dependence_block(const Dependence& rows, std::span<double> sum) {
  HWY_ALIGN double precision[Dependence::kMostCandidates] = {};
  HWY_ALIGN double own[Dependence::kMostCandidates] = {};
  std::ranges::copy(rows.precision, precision);
  for (std::size_t a = 0; a < rows.aim_precision.size(); a += kTogether) {
    dependence_lanes(rows, a, std::min(a + kTogether, rows.aim_precision.size()), precision, own);
  }
  std::ranges::transform(sum, own, sum.begin(), std::plus<>());
}

}  // namespace dissent::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace dissent {

HWY_EXPORT(dependence_block);

void add_dependence(const Dependence& rows, std::span<double> sum) {
  HWY_DYNAMIC_DISPATCH(dependence_block)(rows, sum);
}

}  // namespace dissent
#endif
