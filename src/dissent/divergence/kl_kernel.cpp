// Kullback-Leibler for all pairs. With g = v_i - v_j (v the variances) and delta the gap of the means,
//   2 KL_ij = sum_d (delta^2 + g) / v_j  +  2 sum_d ln(s_j / s_i),   2 KL_ji = sum_d (delta^2 - g) / v_i  +  ...
// which is six operations per pair and output for both directions, and cancels only where the divergence is small.
#include <cmath>

#include "dissent/base/simd_targets.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "dissent/divergence/kl_kernel.cpp"
#include <hwy/foreach_target.h>
// foreach_target.h must come first
#include "dissent/divergence/lanes-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace dissent::kernels::HWY_NAMESPACE {

// 1 / v. In single precision, a Newton step on the CPU's estimate of 12 bits or more gives it to one or two roundings.
HWY_INLINE Vec<float> inverse(Vec<float> v) {
  const Vec<float> estimate = hn::ApproximateReciprocal(v);
  return hn::Mul(estimate, hn::NegMulAdd(v, estimate, hn::Set(Tag<float>(), 2.0F)));
}
HWY_INLINE Vec<double> inverse(Vec<double> v) { return hn::Div(hn::Set(Tag<double>(), 1.0), v); }

// Sums over vectors for all pairs of the packed components; arrays: mean, variance, 1 / variance.
template <class C>
struct KlSums {
  std::size_t num_components;
  double* sums;   // [M][M][kBlock]
  LogParts logs;  // [M][kBlock]: product of the standard deviations

  template <class Source, class Store>
  HWY_INLINE hn::Mask<Tag<C>> run(const Source& source, const Packed<C>& packed, std::size_t input,
                                  const Store& store) const {
    if (num_components == 1) {  // no sums would show what is not finite
      return run_with<RangeCheck<C>>(source, packed, input, store);
    }
    return run_with<ScaleCheck<C>>(source, packed, input, store);
  }

  template <class Check, class Source, class Store>
  HWY_INLINE hn::Mask<Tag<C>> run_with(const Source& source, const Packed<C>& packed, std::size_t input,
                                       const Store& store) const {
    Check range;
    for (std::size_t m = 0; m < num_components; ++m) {
      pack(source, packed, m, range, store, logs.at(m * kBlock + input));
    }
    auto ahead = source.ahead();
    for (std::size_t i = 0; i + 1 < num_components; ++i) {
      for_each_tile<4>(i + 1, num_components, [&](auto width, std::size_t j) HWY_ATTR {
        tile<decltype(width)::value>(packed, i, j, input, ahead, store);
      });
    }
    return range.passed(StddevRange<C>::kLeast, StddevRange<C>::kMost);
  }

  template <class Check, class Source, class Store>
  HWY_INLINE void pack(const Source& source, const Packed<C>& packed, std::size_t m, Check& range, const Store& store,
                       const LogParts& log) const {
    const Tag<C> d;
    C* variance = packed.array(m, 1);
    C* precision = packed.array(m, 2);
    const auto product =
        multiply_steps<C>(source, packed, [&](const auto& from, std::size_t k) HWY_ATTR DISSENT_INLINE_LAMBDA {
          const Vec<C> s = from.stddev(packed, m, k);
          const Vec<C> mean = from.mean(packed, m, k);
          if constexpr (std::is_same_v<Check, RangeCheck<C>>) {
            range.add(mean, s);
          } else {
            range.add(s);
          }
          const Vec<C> v = hn::Mul(s, s);
          hn::Store(v, d, variance + k * hn::Lanes(d));
          hn::Store(inverse(v), d, precision + k * hn::Lanes(d));
          return s;
        });
    store_log(product, log, store);
  }

  // Component i against the kWidth components from j on, in both directions.
  template <std::size_t kWidth, class Fetch, class Store>
  HWY_INLINE void tile(const Packed<C>& packed, std::size_t i, std::size_t j, std::size_t input, Fetch& ahead,
                       const Store& store) const {
    const Tag<C> d;
    const std::size_t kind = packed.kind_stride();
    const C* array_i = packed.array(i, 0);
    const C* array_j[kWidth];
    Vec<C> sum_ij[kWidth];
    Vec<C> sum_ji[kWidth];
    for (std::size_t c = 0; c < kWidth; ++c) {
      array_j[c] = packed.array(j + c, 0);
      sum_ij[c] = hn::Zero(d);
      sum_ji[c] = hn::Zero(d);
    }
    for (std::size_t k = 0; k < packed.stride(); k += hn::Lanes(d)) {
      ahead.step();
      const Vec<C> mean_i = hn::Load(d, array_i + k);
      const Vec<C> variance_i = hn::Load(d, array_i + kind + k);
      const Vec<C> precision_i = hn::Load(d, array_i + 2 * kind + k);
      for (std::size_t c = 0; c < kWidth; ++c) {
        const Vec<C> delta = hn::Sub(mean_i, hn::Load(d, array_j[c] + k));
        const Vec<C> gap = hn::Sub(variance_i, hn::Load(d, array_j[c] + kind + k));
        const Vec<C> precision_j = hn::Load(d, array_j[c] + 2 * kind + k);
        sum_ij[c] = hn::MulAdd(hn::MulAdd(delta, delta, gap), precision_j, sum_ij[c]);
        sum_ji[c] = hn::MulAdd(hn::MulSub(delta, delta, gap), precision_i, sum_ji[c]);
      }
    }
    for (std::size_t c = 0; c < kWidth; ++c) {
      store.sum(sum_ij[c], sums + (i * num_components + j + c) * kBlock + input);
      store.sum(sum_ji[c], sums + ((j + c) * num_components + i) * kBlock + input);
    }
  }
};

// From sums to divergences, vectorised over the inputs of the block.
HWY_INLINE void finish_kl(std::size_t count, std::size_t num_components, double least, const LogParts& logs,
                          const BlockResult& out) {
  const Tag<double> d;
  const Vec<double> ln2 = hn::Set(d, kLn2);
  take_logs(logs, num_components, count, out.sum_log_stddev);
  for (std::size_t n = 0; n < count; n += hn::Lanes(d)) {
    auto large = hn::Eq(ln2, ln2);
    for (std::size_t i = 0; i < num_components; ++i) {
      const LogParts log_i = logs.at(i * kBlock + n);
      const Vec<double> mantissa_i = hn::LoadU(d, log_i.mantissa);
      const Vec<double> exponent_i = hn::LoadU(d, log_i.exponent);
      for (std::size_t j = 0; j < num_components; ++j) {
        double* at = out.divergence + (i * num_components + j) * kBlock + n;
        if (i == j) {
          hn::StoreU(hn::Zero(d), d, at);
          continue;
        }
        const LogParts log_j = logs.at(j * kBlock + n);
        const Vec<double> exponents = hn::Sub(hn::LoadU(d, log_j.exponent), exponent_i);
        const Vec<double> mantissas = hn::Sub(hn::LoadU(d, log_j.mantissa), mantissa_i);
        const Vec<double> value = hn::MulAdd(hn::Set(d, 0.5), hn::LoadU(d, at), hn::MulAdd(exponents, ln2, mantissas));
        hn::StoreU(value, d, at);
        large = hn::And(large, holds(value, least));
      }
    }
    lower_trust<double>(large, Trust::kLargeOnly, count - n, out.trust + n);
  }
}

template <class T>
HWY_INLINE void kl_any(const BlockInput<T>& in, double* scratch, const BlockResult& out) {
  const std::size_t num_components = in.num_components;
  const LogParts logs{scratch, scratch + num_components * kBlock};
  double* memory = scratch + 2 * num_components * kBlock;
  if constexpr (std::is_same_v<T, float>) {
    if (in.single_precision) {
      run_lanes_over_outputs(in, reinterpret_cast<float*>(memory), KlSums<float>{num_components, out.divergence, logs},
                             out.trust);
      finish_kl(in.count, num_components, in.least, logs, out);
      return;
    }
  }
  run_block<double>(in, memory, KlSums<double>{num_components, out.divergence, logs}, out.trust);
  finish_kl(in.count, num_components, in.least, logs, out);
}

void kl_float(const BlockInput<float>& in, double* scratch, const BlockResult& out) { kl_any(in, scratch, out); }
void kl_double(const BlockInput<double>& in, double* scratch, const BlockResult& out) { kl_any(in, scratch, out); }

}  // namespace dissent::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace dissent::kernels {

HWY_EXPORT(kl_float);
HWY_EXPORT(kl_double);

void kl_block(const BlockInput<float>& in, double* scratch, const BlockResult& out) {
  HWY_DYNAMIC_DISPATCH(kl_float)(in, scratch, out);
}

void kl_block(const BlockInput<double>& in, double* scratch, const BlockResult& out) {
  HWY_DYNAMIC_DISPATCH(kl_double)(in, scratch, out);
}

}  // namespace dissent::kernels
#endif
