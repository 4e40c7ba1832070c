#include "dissent/acquisition/aim_kernel.hpp"

#include <algorithm>

#include "dissent/base/simd_targets.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "dissent/acquisition/aim_kernel.cpp"
#include <hwy/foreach_target.h>
// foreach_target.h must come first
#include <hwy/highway.h>

#include "dissent/base/simd_math-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace dissent::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

// Aim rows at a time: their sums are multiplied, then one logarithm is taken. A sum is at least its w_i.
constexpr std::size_t kTogether = 4;

// The product of the sums for component i, whose pairs begin at `first`, and aim rows [a, a + kTogether).
HWY_INLINE Vec<float> product(const JointPairs& pairs, Panel<const float> candidates, Panel<const float> aim,
                              std::size_t first, float weight, std::size_t a, std::size_t n) {
  const Tag<float> d;
  Vec<float> s0 = hn::Set(d, weight);
  Vec<float> s1 = s0;
  Vec<float> s2 = s0;
  Vec<float> s3 = s0;
  for (std::size_t k = first; k < first + pairs.num_others; ++k) {
    const Vec<float> own = hn::Load(d, candidates.row(k) + n);
    const float* const at = aim.row(k) + a;
    s0 = hn::MulAdd(own, hn::Set(d, at[0]), s0);
    s1 = hn::MulAdd(own, hn::Set(d, at[1]), s1);
    s2 = hn::MulAdd(own, hn::Set(d, at[2]), s2);
    s3 = hn::MulAdd(own, hn::Set(d, at[3]), s3);
  }
  return hn::Mul(hn::Mul(s0, s1), hn::Mul(s2, s3));
}

HWY_INLINE Vec<float> one_sum(const JointPairs& pairs, Panel<const float> candidates, Panel<const float> aim,
                              std::size_t first, float weight, std::size_t a, std::size_t n) {
  const Tag<float> d;
  Vec<float> sum = hn::Set(d, weight);
  for (std::size_t k = first; k < first + pairs.num_others; ++k) {
    sum = hn::MulAdd(hn::Load(d, candidates.row(k) + n), hn::Set(d, aim.row(k)[a]), sum);
  }
  return sum;
}

void aim_lanes(const JointPairs& pairs, Panel<const float> candidates, std::size_t count, Panel<const float> aim,
               std::size_t aim_rows, double* sum) {
  const Tag<float> d;
  HWY_ALIGN float lanes[HWY_MAX_BYTES / sizeof(float)];
  for (std::size_t n = 0; n < count; n += hn::Lanes(d)) {
    Vec<float> total = hn::Zero(d);
    std::size_t first = 0;
    for (const float weight : pairs.weight) {
      Vec<float> logs = hn::Zero(d);
      std::size_t a = 0;
      for (; a + kTogether <= aim_rows; a += kTogether) {
        logs = hn::Add(logs, log<float>(product(pairs, candidates, aim, first, weight, a, n)));
      }
      for (; a < aim_rows; ++a) {
        logs = hn::Add(logs, log<float>(one_sum(pairs, candidates, aim, first, weight, a, n)));
      }
      total = hn::MulAdd(hn::Set(d, weight), logs, total);
      first += pairs.num_others;
    }
    hn::Store(total, d, lanes);
    for (std::size_t k = 0; k < std::min(hn::Lanes(d), count - n); ++k) {
      sum[n + k] += static_cast<double>(lanes[k]);
    }
  }
}

}  // namespace dissent::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace dissent {

HWY_EXPORT(aim_lanes);

void aim_sums(const JointPairs& pairs, Panel<const float> candidates, std::size_t count, Panel<const float> aim,
              std::size_t aim_rows, double* sum) {
  HWY_DYNAMIC_DISPATCH(aim_lanes)(pairs, candidates, count, aim, aim_rows, sum);
}

}  // namespace dissent
#endif
