#include "dissent/acquisition/joint_kernel.hpp"

#include <algorithm>
#include <cmath>

#include "dissent/base/simd_targets.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "dissent/acquisition/joint_kernel.cpp"
#include <hwy/foreach_target.h>
// foreach_target.h must come first
#include <hwy/highway.h>

#include "dissent/base/simd_math-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace dissent::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

struct Sums {
  const JointPairs& pairs;
  Panel<const float> divergence;
  const float* running;
  bool saturated;

  HWY_INLINE Vec<float> at(std::size_t pair, std::size_t n) const {
    const Tag<float> d;
    return hn::Add(hn::Load(d, divergence.row(pair) + n), hn::Set(d, running[pair]));
  }
};

constexpr float kLight = 1e-2F;  // 1 + sum_j w_j expm1(-S_ij) may be as small as w_i; below this it loses digits

// log1p(below_one) of a light component: where it is far from all others, ln w plus what the others add.
HWY_INLINE Vec<float> log_of_light(Vec<float> below_one, Vec<float> of_others, float weight) {
  const Tag<float> d;
  const auto far = hn::Lt(below_one, hn::Set(d, -0.5F));
  return hn::IfThenElse(far, hn::Add(of_others, hn::Set(d, std::log(weight))),
                        log1p<float>(hn::IfThenZeroElse(far, below_one)));
}

// For moderate divergences: the estimate, -sum_i w_i log1p(sum_j w_j expm1(-S_ij)), and the deficit,
// sum_i w_i log1p(sum_j (w_j / w_i) exp(-S_ij)); the smaller of the two is the accurate one.
HWY_INLINE Vec<float> near_information(const Sums& sums, std::size_t n) {
  const Tag<float> d;
  const JointPairs& pairs = sums.pairs;
  Vec<float> estimate = hn::Zero(d);
  Vec<float> deficit = hn::Zero(d);
  std::size_t k = 0;
  for (const float weight : pairs.weight) {
    Vec<float> below_one = hn::Zero(d);
    Vec<float> others = hn::Zero(d);
    for (const std::size_t end = k + pairs.num_others; k < end; ++k) {
      const Exponential<float> e = exponential<float>(hn::Neg(sums.at(k, n)));
      const Vec<float> w = hn::Set(d, pairs.pairs[k].weight);
      below_one = hn::MulAdd(w, e.expm1, below_one);
      others = hn::MulAdd(w, e.exp, others);
    }
    const Vec<float> w = hn::Set(d, weight);
    const Vec<float> of_others = log1p<float>(hn::Mul(others, hn::Set(d, 1 / weight)));
    estimate = hn::NegMulAdd(w, weight < kLight ? log_of_light(below_one, of_others, weight) : log1p<float>(below_one),
                             estimate);
    deficit = hn::MulAdd(w, of_others, deficit);
  }
  const Vec<float> inverse = hn::Set(d, 1 / pairs.entropy);
  const auto small = hn::Lt(estimate, deficit);
  const Vec<float> from_estimate =
      hn::Neg(log1p<float>(hn::Neg(hn::IfThenElseZero(small, hn::Mul(estimate, inverse)))));
  return hn::IfThenElse(small, from_estimate, hn::Neg(log<float>(hn::Mul(deficit, inverse))));
}

// If all are large, log1p(x) is x: ln(deficit) = -least + ln sum_ij w_j exp(least - S_ij).
HWY_INLINE Vec<float> far_information(const Sums& sums, Vec<float> least, std::size_t n) {
  const Tag<float> d;
  Vec<float> sum = hn::Zero(d);
  for (std::size_t k = 0; k < sums.pairs.pairs.size(); ++k) {
    const Vec<float> weight = hn::Set(d, sums.pairs.pairs[k].weight);
    sum = hn::MulAdd(weight, exponential<float>(hn::Sub(least, sums.at(k, n))).exp, sum);
  }
  return hn::Sub(least, log<float>(hn::Mul(sum, hn::Set(d, 1 / sums.pairs.entropy))));
}

void joint_lanes(const Sums& sums, std::size_t count, float* information) {
  const Tag<float> d;
  for (std::size_t n = 0; n < count; n += hn::Lanes(d)) {
    Vec<float> least = hn::Set(d, 3e38F);
    for (std::size_t k = 0; k < sums.pairs.pairs.size(); ++k) {
      least = hn::Min(least, sums.at(k, n));
    }
    const auto far = hn::Gt(least, hn::Set(d, sums.saturated ? -1.0F : static_cast<float>(sums.pairs.saturated)));
    Vec<float> result = hn::Zero(d);
    if (!hn::AllTrue(d, far)) {
      result = near_information(sums, n);
    }
    if (!hn::AllFalse(d, far)) {
      result = hn::IfThenElse(far, far_information(sums, least, n), result);
    }
    hn::StoreU(result, d, information + n);
  }
}

void joint_rows(const JointPairs& pairs, Panel<const float> divergence, const RunningSums& running, std::size_t count,
                float* information) {
  joint_lanes({pairs, divergence, running.running.data(), running.taken_off > 0}, count, information);
}

}  // namespace dissent::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace dissent {

HWY_EXPORT(joint_rows);

void copy_pairs(const JointPairs& pairs, const PairwiseDivergences& block, std::size_t count, Panel<float> panel,
                std::size_t begin) {
  for (std::size_t k = 0; k < pairs.pairs.size(); ++k) {
    const std::size_t at = pairs.pairs[k].i * block.num_components() + pairs.pairs[k].j;
    const double* const from = block.divergence() + at * block.stride();
    std::transform(from, from + count, panel.row(k) + begin,
                   [](double value) { return static_cast<float>(std::min(value, kLargestDivergence)); });
  }
}

void joint_information(const JointPairs& pairs, Panel<const float> divergence, const RunningSums& running,
                       std::size_t count, float* information) {
  HWY_DYNAMIC_DISPATCH(joint_rows)(pairs, divergence, running, count, information);
}

}  // namespace dissent
#endif
