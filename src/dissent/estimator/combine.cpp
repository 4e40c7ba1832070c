#include "dissent/estimator/combine.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "dissent/base/aligned.hpp"
#include "dissent/base/simd_targets.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "dissent/estimator/combine.cpp"
#include <hwy/foreach_target.h>
// foreach_target.h must come first
#include <hwy/highway.h>

#include "dissent/base/simd_math-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace dissent::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

struct Rows {
  const Weights& weights;
  const CombineBlock& block;
  double* memory;  // for 2 M vectors
  bool symmetric;

  HWY_INLINE const double* at(std::size_t i, std::size_t j, std::size_t n) const {
    return block.divergence + (i * weights.size() + j) * block.stride + n;
  }
};

// Loads doubles as C: two vectors of double make one of float.
template <class C>
HWY_INLINE Vec<C> load_as(const double* from) {
  if constexpr (Format<C>::kDouble) {
    return hn::LoadU(Tag<C>(), from);
  } else {
    HWY_ALIGN float lanes[hn::MaxLanes(Tag<float>())];
    const Tag<double> dd;
    const hn::Rebind<float, Tag<double>> half;
    for (std::size_t k = 0; k < hn::Lanes(Tag<float>()); k += hn::Lanes(dd)) {
      hn::Store(hn::DemoteTo(half, hn::LoadU(dd, from + k)), half, lanes + k);
    }
    return hn::Load(Tag<float>(), lanes);
  }
}

// ln sum_{i != j} w_j exp(-D_ij): the log deficit where all terms are tiny, so that log1p(x) is x.
HWY_INLINE Vec<double> far_log_deficit(const Rows& rows, std::size_t n) {
  const Tag<double> d;
  const Weights& weights = rows.weights;
  Vec<double> high = hn::Set(d, -1e308);
  const auto for_terms = [&](const auto& visit) HWY_ATTR {
    for (std::size_t i = 0; i < weights.size(); ++i) {
      for (std::size_t j = 0; j < weights.size(); ++j) {
        if (i != j && weights.value[i] > 0 && weights.value[j] > 0) {
          visit(hn::Sub(hn::Set(d, weights.log[j]), hn::LoadU(d, rows.at(i, j, n))));
        }
      }
    }
  };
  for_terms([&](Vec<double> term) HWY_ATTR { high = hn::Max(high, term); });
  Vec<double> sum = hn::Zero(d);
  for_terms([&](Vec<double> term) HWY_ATTR { sum = hn::Add(sum, exponential<double>(hn::Sub(term, high)).exp); });
  const Vec<double> nothing = hn::Set(d, -std::numeric_limits<double>::infinity());
  return hn::IfThenElse(hn::Gt(high, hn::Set(d, -1e308)), hn::Add(high, log<double>(sum)), nothing);
}

// Row sums over j != i, in memory: sum_j w_j expm1(-D_ij) at 2 i, sum_j w_j exp(-D_ij) at 2 i + 1.
template <class C>
HWY_INLINE void sum_rows(const Rows& rows, std::size_t n) {
  const Tag<C> d;
  const Weights& weights = rows.weights;
  const std::size_t num_components = weights.size();
  const std::size_t lanes = hn::Lanes(d);
  C* memory = reinterpret_cast<C*>(rows.memory);
  if (!rows.symmetric) {
    for (std::size_t i = 0; i < num_components; ++i) {
      Vec<C> below_one = hn::Zero(d);
      Vec<C> others = hn::Zero(d);
      for (std::size_t j = 0; j < num_components; ++j) {
        if (j != i) {
          const Exponential<C> e = exponential<C>(hn::Neg(load_as<C>(rows.at(i, j, n))));
          const Vec<C> weight = hn::Set(d, static_cast<C>(weights.value[j]));
          below_one = hn::MulAdd(weight, e.expm1, below_one);
          others = hn::MulAdd(weight, e.exp, others);
        }
      }
      hn::Store(below_one, d, memory + 2 * i * lanes);
      hn::Store(others, d, memory + (2 * i + 1) * lanes);
    }
    return;
  }
  for (std::size_t k = 0; k < 2 * num_components; ++k) {
    hn::Store(hn::Zero(d), d, memory + k * lanes);
  }
  const auto add = [&](std::size_t row, std::size_t from, const Exponential<C>& e) HWY_ATTR {
    C* to = memory + 2 * row * lanes;
    const Vec<C> weight = hn::Set(d, static_cast<C>(weights.value[from]));
    hn::Store(hn::MulAdd(weight, e.expm1, hn::Load(d, to)), d, to);
    hn::Store(hn::MulAdd(weight, e.exp, hn::Load(d, to + lanes)), d, to + lanes);
  };
  for (std::size_t i = 0; i < num_components; ++i) {
    for (std::size_t j = i + 1; j < num_components; ++j) {
      const Exponential<C> e = exponential<C>(hn::Neg(load_as<C>(rows.at(i, j, n))));
      add(i, j, e);
      add(j, i, e);
    }
  }
}

struct Results {
  double* epistemic;
  double* log_deficit;
};

// The smaller of epistemic and deficit is the accurate one; the other is H(w) minus it, in double. So epistemic never
// exceeds H(w), and the log deficit orders small values as accurately as they are known.
template <class C>
HWY_INLINE void finish(double entropy, const C* epistemic, const C* deficit, std::size_t count, const Results& out) {
  const Tag<double> d;
  const Vec<double> whole = hn::Set(d, entropy);
  for (std::size_t k = 0; k < count; k += hn::Lanes(d)) {
    Vec<double> value = hn::Zero(d);
    Vec<double> gap = hn::Zero(d);
    if constexpr (Format<C>::kDouble) {
      value = hn::Load(d, epistemic + k);
      gap = hn::Load(d, deficit + k);
    } else {
      const hn::Rebind<float, Tag<double>> half;
      value = hn::PromoteTo(d, hn::Load(half, epistemic + k));
      gap = hn::PromoteTo(d, hn::Load(half, deficit + k));
    }
    const auto small = hn::Lt(value, gap);
    const Vec<double> rest = hn::Max(hn::IfThenElse(small, hn::Sub(whole, value), gap), hn::Set(d, 1e-300));
    HWY_ALIGN double lanes[2][hn::MaxLanes(d)];
    hn::Store(hn::IfThenElse(small, value, hn::Sub(whole, gap)), d, lanes[0]);
    hn::Store(log<double>(rest), d, lanes[1]);
    const std::size_t left = std::min(hn::Lanes(d), count - k);
    std::copy_n(lanes[0], left, out.epistemic + k);
    std::copy_n(lanes[1], left, out.log_deficit + k);
  }
}

template <class C>
HWY_INLINE void combine_inputs(const Rows& rows, std::size_t n) {
  const Tag<C> d;
  const std::size_t count = std::min(hn::Lanes(d), rows.block.count - n);
  double* epistemic_out = rows.block.epistemic;
  double* log_deficit_out = rows.block.log_deficit;
  const Weights& weights = rows.weights;
  const C* memory = reinterpret_cast<const C*>(rows.memory);
  sum_rows<C>(rows, n);
  Vec<C> epistemic = hn::Zero(d);
  Vec<C> deficit = hn::Zero(d);
  for (std::size_t i = 0; i < weights.size(); ++i) {
    if (weights.value[i] == 0) {
      continue;
    }
    const Vec<C> below_one = hn::Load(d, memory + 2 * i * hn::Lanes(d));
    const Vec<C> others = hn::Load(d, memory + (2 * i + 1) * hn::Lanes(d));
    const Vec<C> weight = hn::Set(d, static_cast<C>(weights.value[i]));
    const Vec<C> log_weight = hn::Set(d, static_cast<C>(weights.log[i]));
    const auto near = hn::Gt(below_one, hn::Set(d, C{-0.5}));
    const Vec<C> ratio = hn::Mul(others, hn::Set(d, static_cast<C>(1 / weights.value[i])));
    const Vec<C> log = log1p<C>(hn::IfThenElse(near, below_one, ratio));
    epistemic = hn::NegMulAdd(weight, hn::IfThenElse(near, log, hn::Add(log, log_weight)), epistemic);
    // One logarithm serves both: ln(1 + below_one) = ln w_i + ln(1 + others / w_i), taken where it is exact. But beside
    // a weight above 1/4 the others may be small while below_one is near 0: the difference would cancel.
    const Vec<C> log_far =
        weights.value[i] > 0.25 ? log1p<C>(ratio) : hn::IfThenElse(near, hn::Sub(log, log_weight), log);
    deficit = hn::MulAdd(weight, log_far, deficit);
  }
  // Beyond this the exponentials underflow (or, with tiny weights, a ratio overflows).
  const Vec<C> tiny = hn::Set(d, Format<C>::kDouble ? C(1e-200) : C(1e-30));
  const auto far = hn::Not(hn::And(hn::Ge(deficit, tiny), hn::Le(deficit, hn::Set(d, C(1e30)))));
  HWY_ALIGN C lanes[2][hn::MaxLanes(d)];
  hn::Store(hn::Max(epistemic, hn::Zero(d)), d, lanes[0]);
  hn::Store(hn::IfThenElse(far, hn::Zero(d), deficit), d, lanes[1]);
  finish(weights.entropy, lanes[0], lanes[1], count, {epistemic_out + n, log_deficit_out + n});
  if (HWY_UNLIKELY(!hn::AllFalse(d, far))) {
    HWY_ALIGN C is_far[hn::MaxLanes(d)];
    HWY_ALIGN double exact[hn::MaxLanes(Tag<double>())];
    hn::Store(hn::IfThenElseZero(far, hn::Set(d, C{1})), d, is_far);
    for (std::size_t k = 0; k < count; ++k) {
      const std::size_t lane = k % hn::Lanes(Tag<double>());
      if (lane == 0) {
        hn::Store(far_log_deficit(rows, n + k), Tag<double>(), exact);
      }
      log_deficit_out[n + k] = is_far[k] != 0 ? exact[lane] : log_deficit_out[n + k];
    }
  }
}

void combine_lanes(const CombineRule& rule, const CombineBlock& block, double* memory) {
  const Rows rows{rule.weights, block, memory, rule.symmetric};
  if (rule.single_precision) {
    for (std::size_t n = 0; n < block.count; n += hn::Lanes(Tag<float>())) {
      combine_inputs<float>(rows, n);
    }
  } else {
    for (std::size_t n = 0; n < block.count; n += hn::Lanes(Tag<double>())) {
      combine_inputs<double>(rows, n);
    }
  }
}

}  // namespace dissent::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace dissent {

HWY_EXPORT(combine_lanes);

bool suit_floats(const Weights& weights) {
  return std::ranges::all_of(weights.value, [](double w) { return w == 0 || w > kLeastWeightOfFloats; });
}

Combiner::Combiner(CombineRule rule) : rule_(std::move(rule)), memory_(2 * rule_.weights.size() * 8 + kAlignmentSlack) {
  rule_.single_precision = rule_.single_precision && suit_floats(rule_.weights);
}

void Combiner::run(const CombineBlock& block) { HWY_DYNAMIC_DISPATCH(combine_lanes)(rule_, block, align_up(memory_)); }

Combined combine(const Weights& weights, std::span<const double> divergence) {
  const std::size_t num_components = weights.size();
  double epistemic = 0;
  double high = -std::numeric_limits<double>::infinity();  // largest ln(w_j exp(-D_ij)), i != j
  for (std::size_t i = 0; i < num_components; ++i) {
    if (weights.value[i] == 0) {
      continue;
    }
    double below_one = 0;
    double sum = 0;
    for (std::size_t j = 0; j < num_components; ++j) {
      const double distance = i == j ? 0 : divergence[i * num_components + j];
      below_one += weights.value[j] * std::expm1(-distance);
      sum += weights.value[j] * std::exp(-distance);
      if (i != j) {
        high = std::max(high, weights.log[j] - distance);
      }
    }
    epistemic -= weights.value[i] * (below_one > -0.5 ? std::log1p(below_one) : std::log(sum));
  }
  if (high == -std::numeric_limits<double>::infinity()) {
    return {std::max(0.0, epistemic), high};
  }
  // Each term's deficit w_i log1p(x_i), x_i = others / w_i, with exp(high) taken out: log1p(x) / x is 1 for tiny x.
  double scaled_deficit = 0;
  for (std::size_t i = 0; i < num_components; ++i) {
    if (weights.value[i] == 0) {
      continue;
    }
    double others = 0;
    for (std::size_t j = 0; j < num_components; ++j) {
      if (i != j) {
        others += std::exp(weights.log[j] - divergence[i * num_components + j] - high);
      }
    }
    const double x = others * std::exp(high) / weights.value[i];
    scaled_deficit += others * (x > 0 ? std::log1p(x) / x : 1);
  }
  return {std::max(0.0, epistemic), high + std::log(scaled_deficit)};
}

}  // namespace dissent
#endif
