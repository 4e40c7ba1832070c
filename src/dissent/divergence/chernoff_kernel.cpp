// Chernoff alpha for all pairs. With v_ij = alpha v_j + (1 - alpha) v_i,
//   C_ij = alpha (1 - alpha) / 2 sum_d delta^2 / v_ij  +  1/2 ln prod_d v_ij  -  alpha ln prod_d s_j ...
// Per output everything is measured in units of component 0 (any linear map leaves C unchanged), so that products of
// several v_ij stay near 1. They serve twice: as the argument of the logarithm, taken once per pair, and as the common
// denominator of several quotients, a / b + c / d = (a d + c b) / (b d), so that a division is needed only every few
// outputs.
#include <cmath>

#include "dissent/base/simd_targets.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "dissent/divergence/chernoff_kernel.cpp"
#include <hwy/foreach_target.h>
// foreach_target.h must come first
#include "dissent/divergence/lanes-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace dissent::kernels::HWY_NAMESPACE {

// Products of kQuotients factors v_ij, each within [kRatio^-2, kRatio^2], times a mantissa below 2, must not overflow.
template <class C>
struct Limits {
  static constexpr std::size_t kQuotients = 8;
  static constexpr C kRatio = std::is_same_v<C, double> ? C{1e18} : C{100};
};

// One running pair: sum of delta^2 / v_ij, and prod v_ij.
template <class C>
struct Pair {
  Vec<C> sum;
  Vec<C> numerator;
  Product<C> product;

  HWY_INLINE Pair() : sum(hn::Zero(Tag<C>())), numerator(sum), product() {}
  HWY_INLINE void add(Vec<C> square, Vec<C> v) {
    numerator = hn::MulAdd(numerator, v, hn::Mul(square, product.mantissa));
    product.mantissa = hn::Mul(product.mantissa, v);
  }
  HWY_INLINE void fold() {
    sum = hn::Add(sum, hn::Div(numerator, product.mantissa));
    numerator = hn::Zero(Tag<C>());
    product.normalise();
  }
};

// Arrays of a component: mean, (1 - alpha) v, alpha v; those of component M, past the last, hold 1 / s_0 and 1 / s_0^2.
template <class C>
struct ChernoffSums {
  std::size_t num_components;
  const double* alpha;  // [kBlock]
  double* sums;         // [M][M][kBlock]
  LogParts logs;        // [M][kBlock]: product of s_m / s_0; for m = 0: product of s_0
  LogParts pair_logs;   // [M][M][kBlock]: product of v_ij

  template <class Source, class Store>
  HWY_INLINE hn::Mask<Tag<C>> run(const Source& source, const Packed<C>& packed, std::size_t input,
                                  const Store& store) const {
    RangeCheck<C> range;
    RangeCheck<C> ratio;
    const Vec<C> alphas = store.of_input(alpha, input);
    pack_first(source, packed, alphas, range, store, logs.at(input));
    for (std::size_t m = 1; m < num_components; ++m) {
      pack(source, packed, m, alphas, ratio, store, logs.at(m * kBlock + input));
    }
    for (std::size_t i = 0; i + 1 < num_components; ++i) {
      for_each_tile<2>(i + 1, num_components, [&](auto width, std::size_t j) HWY_ATTR {
        tile<decltype(width)::value>(packed, i, j, input, store);
      });
    }
    return hn::And(range.passed(StddevRange<C>::kLeast, StddevRange<C>::kMost),
                   ratio.passed(1 / Limits<C>::kRatio, Limits<C>::kRatio));
  }

  template <class Source, class Store>
  HWY_INLINE void pack_first(const Source& source, const Packed<C>& packed, Vec<C> alphas, RangeCheck<C>& range,
                             const Store& store, const LogParts& log) const {
    const Tag<C> d;
    const auto product =
        multiply_steps<C>(source, packed, [&](const auto& from, std::size_t k) HWY_ATTR DISSENT_INLINE_LAMBDA {
          const std::size_t at = k * hn::Lanes(d);
          const Vec<C> s = from.stddev(packed, 0, k);
          range.add(from.mean(packed, 0, k), s);
          const Vec<C> inverse = hn::Div(hn::Set(d, C{1}), s);
          hn::Store(inverse, d, packed.array(num_components, 0) + at);
          hn::Store(hn::Mul(inverse, inverse), d, packed.array(num_components, 1) + at);
          store_variance(hn::Set(d, C{1}), alphas, packed, 0, at);
          return s;
        });
    store_log(product, log, store);
  }

  template <class Source, class Store>
  HWY_INLINE void pack(const Source& source, const Packed<C>& packed, std::size_t m, Vec<C> alphas,
                       RangeCheck<C>& ratio, const Store& store, const LogParts& log) const {
    const Tag<C> d;
    const auto product =
        multiply_steps<C>(source, packed, [&](const auto& from, std::size_t k) HWY_ATTR DISSENT_INLINE_LAMBDA {
          const std::size_t at = k * hn::Lanes(d);
          const Vec<C> inverse = hn::Load(d, packed.array(num_components, 0) + at);
          const Vec<C> s = hn::Mul(from.stddev(packed, m, k), inverse);
          ratio.add(from.mean(packed, m, k), s);
          store_variance(hn::Mul(s, s), alphas, packed, m, at);
          return s;
        });
    store_log(product, log, store);
  }

  HWY_INLINE void store_variance(Vec<C> v, Vec<C> alphas, const Packed<C>& packed, std::size_t m,
                                 std::size_t at) const {
    const Tag<C> d;
    hn::Store(hn::Mul(hn::Sub(hn::Set(d, C{1}), alphas), v), d, packed.array(m, 1) + at);
    hn::Store(hn::Mul(alphas, v), d, packed.array(m, 2) + at);
  }

  template <std::size_t kWidth, class Store>
  HWY_INLINE void tile(const Packed<C>& packed, std::size_t i, std::size_t j, std::size_t input,
                       const Store& store) const {
    const Tag<C> d;
    const std::size_t stride = packed.stride();
    const std::size_t kind = packed.kind_stride();
    const std::size_t fold = Limits<C>::kQuotients * hn::Lanes(d);
    const C* array_i = packed.array(i, 0);
    const C* scale = packed.array(num_components, 1);
    const C* array_j[kWidth];
    Pair<C> ij[kWidth];
    Pair<C> ji[kWidth];
    for (std::size_t c = 0; c < kWidth; ++c) {
      array_j[c] = packed.array(j + c, 0);
    }
    for (std::size_t begin = 0; begin < stride; begin += fold) {
      const std::size_t end = std::min(stride, begin + fold);
      for (std::size_t k = begin; k < end; k += hn::Lanes(d)) {
        const Vec<C> mean_i = hn::Load(d, array_i + k);
        const Vec<C> first_i = hn::Load(d, array_i + kind + k);
        const Vec<C> second_i = hn::Load(d, array_i + 2 * kind + k);
        const Vec<C> unit = hn::Load(d, scale + k);
        for (std::size_t c = 0; c < kWidth; ++c) {
          const Vec<C> delta = hn::Sub(mean_i, hn::Load(d, array_j[c] + k));
          const Vec<C> square = hn::Mul(hn::Mul(delta, delta), unit);
          const Vec<C> first_j = hn::Load(d, array_j[c] + kind + k);
          ij[c].add(square, hn::Add(first_i, hn::Load(d, array_j[c] + 2 * kind + k)));
          ji[c].add(square, hn::Add(first_j, second_i));
        }
      }
      for (std::size_t c = 0; c < kWidth; ++c) {
        ij[c].fold();
        ji[c].fold();
      }
    }
    for (std::size_t c = 0; c < kWidth; ++c) {
      put(ij[c], (i * num_components + j + c) * kBlock + input, store);
      put(ji[c], ((j + c) * num_components + i) * kBlock + input, store);
    }
  }

  template <class Store>
  HWY_INLINE void put(const Pair<C>& pair, std::size_t at, const Store& store) const {
    store.sum(pair.sum, sums + at);
    store_log(pair.product, pair_logs.at(at), store);
  }
};

struct ChernoffCall {
  std::size_t count;
  std::size_t num_components;
  const double* alpha;
  double least;
};

// From sums to divergences, vectorised over the inputs of the block.
HWY_INLINE void finish_chernoff(const ChernoffCall& call, const LogParts& logs, const LogParts& pair_logs,
                                const BlockResult& out) {
  const Tag<double> d;
  const std::size_t num_components = call.num_components;
  const Vec<double> ln2 = hn::Set(d, kLn2);
  const Vec<double> half = hn::Set(d, 0.5);
  take_logs(logs, num_components, call.count, out.sum_log_stddev);
  for (std::size_t n = 0; n < call.count; n += hn::Lanes(d)) {
    auto large = hn::Eq(ln2, ln2);
    const Vec<double> alpha = hn::LoadU(d, call.alpha + n);
    const Vec<double> beta = hn::Sub(hn::Set(d, 1.0), alpha);
    const Vec<double> factor = hn::Mul(half, hn::Mul(alpha, beta));
    // Component 0 is the unit: its own ratio is 1.
    const auto parts = [&](std::size_t m, const double* of)
                           HWY_ATTR { return m == 0 ? hn::Zero(d) : hn::LoadU(d, of + m * kBlock + n); };
    for (std::size_t i = 0; i < num_components; ++i) {
      hn::StoreU(hn::Zero(d), d, out.divergence + (i * num_components + i) * kBlock + n);
      for (std::size_t j = 0; j < num_components; ++j) {
        if (i == j) {
          continue;
        }
        const std::size_t at = (i * num_components + j) * kBlock + n;
        const LogParts pair = pair_logs.at(at);
        const auto combine = [&](Vec<double> whole, const double* of) HWY_ATTR {
          return hn::NegMulAdd(beta, parts(i, of), hn::NegMulAdd(alpha, parts(j, of), hn::Mul(half, whole)));
        };
        const Vec<double> exponents = combine(hn::LoadU(d, pair.exponent), logs.exponent);
        const Vec<double> mantissas =
            combine(dissent::HWY_NAMESPACE::log<double>(hn::LoadU(d, pair.mantissa)), logs.mantissa);
        const Vec<double> log_part = hn::MulAdd(exponents, ln2, mantissas);
        const Vec<double> value = hn::MulAdd(factor, hn::LoadU(d, out.divergence + at), log_part);
        hn::StoreU(value, d, out.divergence + at);
        large = hn::And(large, holds(value, call.least));
      }
    }
    lower_trust<double>(large, Trust::kLargeOnly, call.count - n, out.trust + n);
    for (std::size_t m = 1; m < num_components; ++m) {
      double* at = out.sum_log_stddev + m * kBlock + n;
      hn::StoreU(hn::Add(hn::LoadU(d, at), hn::LoadU(d, out.sum_log_stddev + n)), d, at);
    }
  }
}

template <class T>
HWY_INLINE void chernoff_any(const BlockInput<T>& in, const double* alpha, double* scratch, const BlockResult& out) {
  const std::size_t num_components = in.num_components;
  const std::size_t pairs = num_components * num_components;
  const LogParts logs{scratch, scratch + num_components * kBlock};
  const LogParts pair_logs{scratch + 2 * num_components * kBlock, scratch + (2 * num_components + pairs) * kBlock};
  double* memory = scratch + 2 * (num_components + pairs) * kBlock;
  if constexpr (std::is_same_v<T, float>) {
    if (in.single_precision) {
      run_lanes_over_outputs(in, reinterpret_cast<float*>(memory),
                             ChernoffSums<float>{num_components, alpha, out.divergence, logs, pair_logs}, out.trust);
      finish_chernoff({in.count, num_components, alpha, in.least}, logs, pair_logs, out);
      return;
    }
  }
  run_block<double>(in, memory, ChernoffSums<double>{num_components, alpha, out.divergence, logs, pair_logs},
                    out.trust);
  finish_chernoff({in.count, num_components, alpha, in.least}, logs, pair_logs, out);
}

void chernoff_float(const BlockInput<float>& in, const double* alpha, double* scratch, const BlockResult& out) {
  chernoff_any(in, alpha, scratch, out);
}
void chernoff_double(const BlockInput<double>& in, const double* alpha, double* scratch, const BlockResult& out) {
  chernoff_any(in, alpha, scratch, out);
}

}  // namespace dissent::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace dissent::kernels {

HWY_EXPORT(chernoff_float);
HWY_EXPORT(chernoff_double);

void chernoff_block(const BlockInput<float>& in, const double* alpha, double* scratch, const BlockResult& out) {
  HWY_DYNAMIC_DISPATCH(chernoff_float)(in, alpha, scratch, out);
}

void chernoff_block(const BlockInput<double>& in, const double* alpha, double* scratch, const BlockResult& out) {
  HWY_DYNAMIC_DISPATCH(chernoff_double)(in, alpha, scratch, out);
}

std::size_t scratch_size(std::size_t num_components, std::size_t num_outputs) {
  // Twice the arrays of M + 1 components, on vectors of 8 doubles with lanes over inputs (few outputs) or over outputs,
  // and the parts of logarithms.
  const std::size_t array = std::max<std::size_t>(8 * std::min<std::size_t>(num_outputs, 32), num_outputs + 16);
  return 6 * (num_components + 1) * array + 2 * (num_components + 1) * num_components * kBlock;
}

}  // namespace dissent::kernels
#endif
