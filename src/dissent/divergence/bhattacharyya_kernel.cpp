// Bhattacharyya for all pairs, half of them computed. With delta the gap of the means, gap that of the stddevs, and
//   x_d = gap^2 / (2 s_i s_j),  u_d = delta^2 / (2 s_i s_j):
//   B_ij = 1/4 sum_d u_d / (1 + x_d)  +  1/2 ln prod_d (1 + x_d)
// Every term is >= 0 and the product is kept as its excess over one, (1 + X)(1 + x) - 1 = X + x + X x, so nothing
// cancels: a tiny divergence has all its digits even in single precision, and equal components give exactly 0. The
// quotients share the product as common denominator, u / (1 + x) + N / (1 + X) = (N (1 + x) + u (1 + X)) / ((1 + x)(1 +
// X)).
#include "dissent/base/simd_targets.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "dissent/divergence/bhattacharyya_kernel.cpp"
#include <hwy/foreach_target.h>
// foreach_target.h must come first
#include "dissent/divergence/lanes-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace dissent::kernels::HWY_NAMESPACE {

// One running pair: sum_d u_d / (1 + x_d), and prod_d (1 + x_d) = 2^exponent (1 + excess).
template <class C>
struct SymmetricPair {
  Vec<C> sum;
  Vec<C> numerator;
  Vec<C> excess;
  Vec<C> exponent;

  HWY_INLINE SymmetricPair() : sum(hn::Zero(Tag<C>())), numerator(sum), excess(sum), exponent(sum) {}
  HWY_INLINE void add(Vec<C> u, Vec<C> x) {
    numerator = hn::MulAdd(numerator, x, hn::Add(numerator, hn::MulAdd(u, excess, u)));
    excess = hn::MulAdd(excess, x, hn::Add(excess, x));
  }
  HWY_INLINE Vec<C> value() const {
    const Tag<C> d;
    const Vec<C> log = hn::MulAdd(exponent, hn::Set(d, static_cast<C>(kLn2)), dissent::HWY_NAMESPACE::log1p<C>(excess));
    return hn::Mul(hn::Set(d, C(0.5)), hn::MulAdd(hn::Set(d, C(0.5)), sum, log));
  }
  // Adds the quotient to the sum; splits the exponent off a product of 2 or more, where no digit of X depends on the 1.
  HWY_INLINE void fold() {
    const Tag<C> d;
    const Vec<C> one = hn::Set(d, C{1});
    const Vec<C> product = hn::Add(one, excess);
    sum = hn::Add(sum, hn::Div(numerator, product));
    exponent = hn::MulAdd(hn::Zero(d), product, exponent);  // NaN where the product overflowed: the pair is not trusted
    numerator = hn::Zero(d);
    const auto small = hn::Lt(excess, one);
    excess = hn::IfThenElse(small, excess, hn::Sub(split_exponent<C>(product, exponent), one));
  }
};

// Arrays: mean, stddev, 1 / (sqrt(2) stddev).
template <class C>
struct BhattacharyyaSums {
  static constexpr std::size_t kFold = 8;  // (1 + x)^8 must not overflow: x below 1e4 in single, 1e37 in double

  std::size_t num_components;
  double* sums;        // [M][M][kBlock], i < j only
  double* log_stddev;  // [M][kBlock]: ln of the product of the standard deviations
  LogParts logs;       // [M][kBlock]: that product in parts, when lanes are reduced
  LogParts pair_logs;  // [M][M][kBlock], i < j only: excess and exponent of prod (1 + x), when lanes are reduced

  template <class Source, class Store>
  HWY_INLINE hn::Mask<Tag<C>> run(const Source& source, const Packed<C>& packed, std::size_t input,
                                  const Store& store) const {
    RangeCheck<C> range;
    for (std::size_t m = 0; m < num_components; ++m) {
      pack(source, packed, m, range, store, m * kBlock + input);
    }
    auto ahead = source.ahead();
    for (std::size_t i = 0; i + 1 < num_components; ++i) {
      for_each_tile<4>(i + 1, num_components, [&](auto width, std::size_t j) HWY_ATTR {
        tile<decltype(width)::value>(packed, i, j, input, ahead, store);
      });
    }
    return range.passed(StddevRange<C>::kLeast, StddevRange<C>::kMost);
  }

  template <class Source, class Store>
  HWY_INLINE void pack(const Source& source, const Packed<C>& packed, std::size_t m, RangeCheck<C>& range,
                       const Store& store, std::size_t at) const {
    const Tag<C> d;
    const Vec<C> root_half = hn::Set(d, static_cast<C>(0.70710678118654752440));
    auto product =
        multiply_steps<C>(source, packed, [&](const auto& from, std::size_t k) HWY_ATTR DISSENT_INLINE_LAMBDA {
          const Vec<C> s = from.stddev(packed, m, k);
          range.add(from.mean(packed, m, k), s);
          hn::Store(s, d, packed.array(m, 1) + k * hn::Lanes(d));
          hn::Store(hn::Div(root_half, s), d, packed.array(m, 2) + k * hn::Lanes(d));
          return s;
        });
    if constexpr (Store::kKeepsLanes) {
      product.normalise();
      const Vec<C> log = dissent::HWY_NAMESPACE::log<C>(product.mantissa);
      store.sum(hn::MulAdd(product.exponent, hn::Set(d, static_cast<C>(kLn2)), log), log_stddev + at);
    } else {
      store_log(product, logs.at(at), store);
    }
  }

  template <std::size_t kWidth, class Fetch, class Store>
  HWY_INLINE void tile(const Packed<C>& packed, std::size_t i, std::size_t j, std::size_t input, Fetch& ahead,
                       const Store& store) const {
    const Tag<C> d;
    const std::size_t stride = packed.stride();
    const std::size_t kind = packed.kind_stride();
    const std::size_t fold = kFold * hn::Lanes(d);
    const C* array_i = packed.array(i, 0);
    const C* array_j[kWidth];
    SymmetricPair<C> pair[kWidth];
    for (std::size_t c = 0; c < kWidth; ++c) {
      array_j[c] = packed.array(j + c, 0);
    }
    for (std::size_t begin = 0; begin < stride; begin += fold) {
      const std::size_t end = std::min(stride, begin + fold);
      for (std::size_t k = begin; k < end; k += hn::Lanes(d)) {
        ahead.step();
        const Vec<C> mean_i = hn::Load(d, array_i + k);
        const Vec<C> stddev_i = hn::Load(d, array_i + kind + k);
        const Vec<C> inverse_i = hn::Load(d, array_i + 2 * kind + k);
        for (std::size_t c = 0; c < kWidth; ++c) {
          const Vec<C> delta = hn::Sub(mean_i, hn::Load(d, array_j[c] + k));
          const Vec<C> gap = hn::Sub(stddev_i, hn::Load(d, array_j[c] + kind + k));
          const Vec<C> inverse_j = hn::Load(d, array_j[c] + 2 * kind + k);
          pair[c].add(hn::Mul(hn::Mul(delta, inverse_i), hn::Mul(delta, inverse_j)),
                      hn::Mul(hn::Mul(gap, inverse_i), hn::Mul(gap, inverse_j)));
        }
      }
      for (std::size_t c = 0; c < kWidth; ++c) {
        pair[c].fold();
      }
    }
    for (std::size_t c = 0; c < kWidth; ++c) {
      const std::size_t at = (i * num_components + j + c) * kBlock + input;
      if constexpr (Store::kKeepsLanes) {  // the divergence itself
        store.sum(pair[c].value(), sums + at);
      } else {  // its parts, which finish_bhattacharyya puts together
        const LogParts log = pair_logs.at(at);
        store.sum(pair[c].sum, sums + at);
        store.fold(pair[c].excess, log.mantissa,
                   [](Vec<C> a, Vec<C> b) HWY_ATTR { return hn::MulAdd(a, b, hn::Add(a, b)); });
        store.sum(pair[c].exponent, log.exponent);
      }
    }
  }
};

// Completes a block, vectorised over its inputs: the divergences from their parts, if there are `parts`; the lower half
// of the matrix; trust.
HWY_INLINE void finish_bhattacharyya(std::size_t count, std::size_t num_components, bool parts, const LogParts& logs,
                                     const LogParts& pair_logs, const BlockResult& out) {
  const Tag<double> d;
  const Vec<double> half = hn::Set(d, 0.5);
  if (parts) {
    take_logs(logs, num_components, count, out.sum_log_stddev);
  }
  for (std::size_t n = 0; n < count; n += hn::Lanes(d)) {
    auto finite = hn::Eq(half, half);
    for (std::size_t i = 0; i < num_components; ++i) {
      hn::StoreU(hn::Zero(d), d, out.divergence + (i * num_components + i) * kBlock + n);
      for (std::size_t j = i + 1; j < num_components; ++j) {
        const std::size_t at = (i * num_components + j) * kBlock + n;
        Vec<double> value = hn::LoadU(d, out.divergence + at);
        if (parts) {
          const LogParts pair = pair_logs.at(at);
          SymmetricPair<double> whole;
          whole.sum = value;
          whole.excess = hn::LoadU(d, pair.mantissa);
          whole.exponent = hn::LoadU(d, pair.exponent);
          value = whole.value();
          hn::StoreU(value, d, out.divergence + at);
        }
        hn::StoreU(value, d, out.divergence + (j * num_components + i) * kBlock + n);
        finite = hn::And(finite, holds(value, 0.0));
      }
    }
    lower_trust<double>(finite, Trust::kLargeOnly, count - n, out.trust + n);
  }
}

template <class C, class T>
HWY_INLINE void bhattacharyya_any(const BlockInput<T>& in, double* scratch, const BlockResult& out) {
  const std::size_t num_components = in.num_components;
  const std::size_t pairs = num_components * num_components;
  const LogParts logs{scratch, scratch + num_components * kBlock};
  const LogParts pair_logs{scratch + 2 * num_components * kBlock, scratch + (2 * num_components + pairs) * kBlock};
  double* memory = scratch + 2 * (num_components + pairs) * kBlock;
  run_block<C>(in, memory, BhattacharyyaSums<C>{num_components, out.divergence, out.sum_log_stddev, logs, pair_logs},
               out.trust);
  finish_bhattacharyya(in.count, num_components, lanes_are_outputs(in.num_outputs), logs, pair_logs, out);
}

void bhattacharyya_float(const BlockInput<float>& in, double* scratch, const BlockResult& out) {
  if (in.num_outputs <= kSingleMostOutputs) {
    bhattacharyya_any<float>(in, scratch, out);
  } else {
    bhattacharyya_any<double>(in, scratch, out);
  }
}
void bhattacharyya_double(const BlockInput<double>& in, double* scratch, const BlockResult& out) {
  bhattacharyya_any<double>(in, scratch, out);
}

}  // namespace dissent::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace dissent::kernels {

HWY_EXPORT(bhattacharyya_float);
HWY_EXPORT(bhattacharyya_double);

void bhattacharyya_block(const BlockInput<float>& in, double* scratch, const BlockResult& out) {
  HWY_DYNAMIC_DISPATCH(bhattacharyya_float)(in, scratch, out);
}

void bhattacharyya_block(const BlockInput<double>& in, double* scratch, const BlockResult& out) {
  HWY_DYNAMIC_DISPATCH(bhattacharyya_double)(in, scratch, out);
}

}  // namespace dissent::kernels
#endif
