#include "dissent/estimator/combine.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "dissent/estimator/combine.cpp"
#define HWY_DISABLED_TARGETS (HWY_SSSE3 | HWY_SSE4)
#include <hwy/foreach_target.h>
// foreach_target.h must come first
#include <hwy/contrib/math/math-inl.h>
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace dissent::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

using D64 = hn::ScalableTag<double>;
using V64 = hn::Vec<D64>;

struct Exponential {
  V64 exp;
  V64 expm1;
};

// exp(x) and exp(x) - 1 for x <= 0, both to a few ulp. x = k ln 2 + f, |f| <= (ln 2) / 2; expm1(f) by its Taylor
// polynomial, whose remainder is below 1e-17; then exp = 2^k expm1(f) + 2^k. Below -708 exp is (nearly) 0.
HWY_INLINE Exponential exponential(V64 x) {
  const D64 d;
  const hn::RebindToSigned<D64> di;
  x = hn::Max(x, hn::Set(d, -708.0));
  const V64 k = hn::Round(hn::Mul(x, hn::Set(d, 1.4426950408889634074)));
  V64 f = hn::NegMulAdd(k, hn::Set(d, 0x1.62e42fefa38p-1), x);  // ln 2 in two parts, the first with trailing zeros
  f = hn::NegMulAdd(k, hn::Set(d, 0x1.ef35793c7673p-45), f);
  V64 p = hn::Set(d, 1.0 / 6227020800.0);
  for (const double inverse_factorial : {1.0 / 479001600, 1.0 / 39916800, 1.0 / 3628800, 1.0 / 362880, 1.0 / 40320,
                                         1.0 / 5040, 1.0 / 720, 1.0 / 120, 1.0 / 24, 1.0 / 6, 0.5}) {
    p = hn::MulAdd(p, f, hn::Set(d, inverse_factorial));
  }
  p = hn::MulAdd(hn::Mul(f, f), p, f);
  const auto exponent = hn::Add(hn::ConvertTo(di, k), hn::Set(di, 1023));
  const V64 scale = hn::BitCast(d, hn::ShiftLeft<52>(exponent));
  return {hn::MulAdd(scale, p, scale), hn::MulAdd(scale, p, hn::Sub(scale, hn::Set(d, 1.0)))};
}

// ln sum_{i != j} w_j exp(-D_ij): the log deficit where all terms are tiny, so that log1p(x) is x.
HWY_INLINE V64 far_log_deficit(const Weights& weights, const DivergenceBlock& block, std::size_t n) {
  const D64 d;
  const std::size_t num_components = weights.size();
  V64 high = hn::Set(d, -1e308);
  const auto for_terms = [&](const auto& visit) HWY_ATTR {
    for (std::size_t i = 0; i < num_components; ++i) {
      for (std::size_t j = 0; j < num_components; ++j) {
        if (i != j && weights.value[i] > 0 && weights.value[j] > 0) {
          visit(hn::Sub(hn::Set(d, weights.log[j]),
                        hn::LoadU(d, block.divergence + (i * num_components + j) * block.stride + n)));
        }
      }
    }
  };
  for_terms([&](V64 term) HWY_ATTR { high = hn::Max(high, term); });
  V64 sum = hn::Zero(d);
  for_terms([&](V64 term) HWY_ATTR { sum = hn::Add(sum, exponential(hn::Sub(term, high)).exp); });
  const V64 value = hn::Add(high, hn::Log(d, sum));
  const V64 nothing = hn::Set(d, -std::numeric_limits<double>::infinity());
  return hn::IfThenElse(hn::Gt(high, hn::Set(d, -1e308)), value, nothing);
}

void combine_lanes(const Weights& weights, const DivergenceBlock& block, double* epistemic_out,
                   double* log_deficit_out) {
  const D64 d;
  const std::size_t num_components = weights.size();
  const V64 zero = hn::Zero(d);
  for (std::size_t n = 0; n < block.count; n += hn::Lanes(d)) {
    V64 epistemic = zero;
    V64 deficit = zero;
    for (std::size_t i = 0; i < num_components; ++i) {
      if (weights.value[i] == 0) {
        continue;
      }
      V64 below_one = zero;  // sum_j w_j expm1(-D_ij)
      V64 others = zero;     // sum_{j != i} w_j exp(-D_ij)
      for (std::size_t j = 0; j < num_components; ++j) {
        if (j != i) {
          const V64 distance = hn::LoadU(d, block.divergence + (i * num_components + j) * block.stride + n);
          const Exponential e = exponential(hn::Sub(zero, distance));
          const V64 weight = hn::Set(d, weights.value[j]);
          below_one = hn::MulAdd(weight, e.expm1, below_one);
          others = hn::MulAdd(weight, e.exp, others);
        }
      }
      // One logarithm serves both: ln(1 + below_one) = ln w_i + ln(1 + others / w_i); take it where it is exact.
      const V64 weight_i = hn::Set(d, weights.value[i]);
      const V64 log_weight_i = hn::Set(d, weights.log[i]);
      const auto near = hn::Gt(below_one, hn::Set(d, -0.5));
      const V64 log = hn::Log1p(d, hn::IfThenElse(near, below_one, hn::Div(others, weight_i)));
      const V64 log_near = hn::IfThenElse(near, log, hn::Add(log, log_weight_i));
      const V64 log_far = hn::IfThenElse(near, hn::Sub(log, log_weight_i), log);
      epistemic = hn::NegMulAdd(weight_i, log_near, epistemic);
      deficit = hn::MulAdd(weight_i, log_far, deficit);
    }
    epistemic = hn::Max(epistemic, zero);
    V64 log_deficit = hn::Log(d, hn::Max(deficit, hn::Set(d, 1e-300)));
    const auto far = hn::Lt(deficit, hn::Set(d, 1e-200));
    if (!hn::AllFalse(d, far)) {
      log_deficit = hn::IfThenElse(far, far_log_deficit(weights, block, n), log_deficit);
    }
    HWY_ALIGN double lanes[2][hn::MaxLanes(d)];
    hn::Store(epistemic, d, lanes[0]);
    hn::Store(log_deficit, d, lanes[1]);
    const std::size_t left = std::min(hn::Lanes(d), block.count - n);
    std::copy_n(lanes[0], left, epistemic_out + n);
    std::copy_n(lanes[1], left, log_deficit_out + n);
  }
}

}  // namespace dissent::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace dissent {

HWY_EXPORT(combine_lanes);

void combine_block(const Weights& weights, const DivergenceBlock& block, double* epistemic, double* log_deficit) {
  HWY_DYNAMIC_DISPATCH(combine_lanes)(weights, block, epistemic, log_deficit);
}

Combined combine(const Weights& weights, std::span<const double> divergence) {
  const std::size_t num_components = weights.size();
  double epistemic = 0;
  double high = -std::numeric_limits<double>::infinity();  // largest ln(w_j exp(-D_ij)), i != j
  for (std::size_t i = 0; i < num_components; ++i) {
    double below_one = 0;
    for (std::size_t j = 0; j < num_components; ++j) {
      below_one += weights.value[j] * std::expm1(-divergence[i * num_components + j]);
      if (i != j && weights.value[i] > 0) {
        high = std::max(high, weights.log[j] - divergence[i * num_components + j]);
      }
    }
    if (weights.value[i] > 0) {
      epistemic -= weights.value[i] * std::log1p(below_one);
    }
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
