// Building blocks of the batched kernels, compiled once per instruction set (Highway's foreach_target).
//
// C is the type computed in, T the input's type. Components lie in scratch memory as arrays of vectors. A lane holds
// either one output of a single input (large D; sums over lanes follow) or one input of several (small D; no sums); the
// arithmetic over vectors is the same for both, only loading and storing differ.
#if defined(DISSENT_DIVERGENCE_LANES_INL_) == defined(HWY_TARGET_TOGGLE)
#ifdef DISSENT_DIVERGENCE_LANES_INL_
#undef DISSENT_DIVERGENCE_LANES_INL_
#else
#define DISSENT_DIVERGENCE_LANES_INL_
#endif

#include <hwy/highway.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <type_traits>
#include <utility>

#include "dissent/base/simd_math-inl.hpp"
#include "dissent/divergence/kernels.hpp"

HWY_BEFORE_NAMESPACE();
namespace dissent::kernels::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

using dissent::HWY_NAMESPACE::Format;
using dissent::HWY_NAMESPACE::Tag;
using dissent::HWY_NAMESPACE::Vec;

constexpr double kLn2 = 0.69314718055994530941723212145818;

// Folds the lanes of v together by a commutative operation; the result is the first lane's.
template <class C, class Combine>
HWY_INLINE C fold_lanes(Vec<C> v, const Combine& combine) {
  const Tag<C> d;
  if constexpr (hn::MaxLanes(Tag<C>()) >= 2) {
    v = combine(v, hn::Reverse2(d, v));
  }
  if constexpr (hn::MaxLanes(Tag<C>()) >= 4) {
    v = combine(v, hn::Reverse4(d, v));
  }
  if constexpr (hn::MaxLanes(Tag<C>()) >= 8) {
    v = combine(v, hn::Reverse8(d, v));
  }
  if constexpr (hn::MaxLanes(Tag<C>()) >= 16) {
    v = combine(v, hn::Reverse(d, v));
  }
  return hn::GetLane(v);
}

// Splits positive normal x: returns the mantissa in [1, 2) and adds the exponent to `exponent`.
template <class C>
HWY_INLINE Vec<C> split_exponent(Vec<C> x, Vec<C>& exponent) {
  const Tag<C> d;
  const hn::RebindToSigned<Tag<C>> di;
  using F = Format<C>;
  using Int = hn::TFromD<decltype(di)>;
  constexpr Int kFraction = (Int{1} << F::kMantissaBits) - 1;
  const auto bits = hn::BitCast(di, x);
  // The biased exponent, in the low bits of 2^52 (2^23), is a number without a conversion instruction.
  const C magic = F::kDouble ? C{0x1p52} : C{0x1p23};
  const auto biased =
      hn::BitCast(d, hn::Or(hn::ShiftRight<F::kMantissaBits>(bits), hn::BitCast(di, hn::Set(d, magic))));
  exponent = hn::Add(exponent, hn::Sub(biased, hn::Set(d, magic + C{F::kBias})));
  return hn::BitCast(d, hn::Or(hn::And(bits, hn::Set(di, kFraction)), hn::BitCast(di, hn::Set(d, C{1}))));
}

// A running product of positive normal numbers, held as a mantissa in [1, 2) and an exponent that is split off every
// kFold factors, so that factors in the range of RangeCheck never overflow and one logarithm serves for all of them.
template <class C>
struct Product {
  static constexpr std::size_t kFold = Format<C>::kDouble ? 8 : 4;  // (1e9)^4 and (1e18)^8 are in range
  Vec<C> mantissa;
  Vec<C> exponent;

  // Written out, since an implicit constructor would not be compiled for the target.
  HWY_INLINE Product() : mantissa(hn::Set(Tag<C>(), C{1})), exponent(hn::Zero(Tag<C>())) {}

  // At most kFold factors between two calls of normalise().
  HWY_INLINE void multiply(Vec<C> factor) { mantissa = hn::Mul(mantissa, factor); }
  HWY_INLINE void normalise() { mantissa = split_exponent<C>(mantissa, exponent); }
};

// A logarithm in two parts, ln x = exponent ln 2 + ln mantissa, so that differences of large ones stay exact.
struct LogParts {
  double* mantissa;
  double* exponent;
  HWY_INLINE LogParts at(std::size_t offset) const { return {mantissa + offset, exponent + offset}; }
};

// What the kernels do at the boundary when a lane is an output: numbers of an input go to, and come from, all its
// lanes.
template <class C>
struct ReduceLanes {
  static constexpr bool kKeepsLanes = false;
  HWY_INLINE Vec<C> of_input(const double* values, std::size_t input) const {
    return hn::Set(Tag<C>(), static_cast<C>(values[input]));
  }
  HWY_INLINE void sum(Vec<C> v, double* to) const {
    *to = static_cast<double>(hn::GetLane(hn::SumOfLanes(Tag<C>(), v)));
  }
  template <class Combine>
  HWY_INLINE void fold(Vec<C> v, double* to, const Combine& combine) const {
    *to = static_cast<double>(fold_lanes<C>(v, combine));
  }
};

// And when a lane is an input: numbers of several inputs lie side by side.
template <class C>
struct KeepLanes {
  static constexpr bool kKeepsLanes = true;
  HWY_INLINE Vec<C> of_input(const double* values, std::size_t input) const {
    static_assert(Format<C>::kDouble);
    return hn::LoadU(Tag<C>(), values + input);
  }
  HWY_INLINE void sum(Vec<C> v, double* to) const {
    if constexpr (Format<C>::kDouble) {
      hn::StoreU(v, Tag<C>(), to);
    } else {
      HWY_ALIGN C lanes[hn::MaxLanes(Tag<C>())];
      hn::Store(v, Tag<C>(), lanes);
      const Tag<double> d;
      const hn::Rebind<C, Tag<double>> part;
      for (std::size_t k = 0; k < hn::Lanes(Tag<C>()); k += hn::Lanes(d)) {
        hn::StoreU(hn::PromoteTo(d, hn::Load(part, lanes + k)), d, to + k);
      }
    }
  }
  template <class Combine>
  HWY_INLINE void fold(Vec<C> v, double* to, const Combine&) const {
    sum(v, to);
  }
};

template <class C, class Store>
HWY_INLINE void store_log(Product<C> product, const LogParts& to, const Store& store) {
  product.normalise();
  store.fold(product.mantissa, to.mantissa, [](Vec<C> a, Vec<C> b) HWY_ATTR { return hn::Mul(a, b); });
  store.sum(product.exponent, to.exponent);
}

// Up to M + 1 components, three arrays each: array `which` of component m is `steps` vectors. The arrays of one kind
// follow each other, [which][m][step][lane].
template <class C>
struct Packed {
  C* data;
  std::size_t num_components;
  std::size_t steps;

  HWY_INLINE std::size_t stride() const { return steps * hn::Lanes(Tag<C>()); }
  HWY_INLINE std::size_t kind_stride() const { return (num_components + 1) * stride(); }
  HWY_INLINE C* array(std::size_t m, std::size_t which) const { return data + which * kind_stride() + m * stride(); }
  HWY_INLINE C* end() const { return data + 3 * kind_stride(); }
};

// Whether a masked load leaves memory alone where the mask is false.
constexpr bool kMasksLoads = HWY_TARGET == HWY_AVX2 || HWY_TARGET == HWY_AVX3 || HWY_TARGET == HWY_AVX3_DL;

// Prefetches the next input's rows into the second-level cache, a few cache lines at each step of the pair sums. Those
// work on packed arrays; without this, memory would be idle meanwhile.
struct Ahead {
  static constexpr std::size_t kLine = 64;    // bytes
  static constexpr std::size_t kPerStep = 2;  // of either array; M / (M - 1) vectors per step are needed
  const char* mean;
  const char* stddev;
  std::size_t lines;  // still to come, of either array

  HWY_INLINE void step() {
    if (lines < kPerStep) {
      return;
    }
    lines -= kPerStep;
    for (std::size_t k = 0; k < kPerStep; ++k) {
      __builtin_prefetch(mean, 0, 2);
      __builtin_prefetch(stddev, 0, 2);
      mean += kLine;
      stddev += kLine;
    }
  }
};

// The vectors of one input, lanes running over its outputs; padded with mean 0, stddev 1, which add nothing to any sum.
// kWhole: full vectors only.
template <class C, class T, bool kWhole = false>
struct OutputsSource {
  const T* mean_row;  // [M][D] of the input
  const T* stddev_row;
  std::size_t num_components;
  std::size_t num_outputs;
  bool last;  // no input follows in memory

  HWY_INLINE OutputsSource<C, T, true> whole() const {
    return {mean_row, stddev_row, num_components, num_outputs, last};
  }
  HWY_INLINE std::size_t num_whole(const Packed<C>&) const { return num_outputs / hn::Lanes(Tag<C>()); }
  HWY_INLINE Ahead ahead() const {
    const std::size_t row = num_components * num_outputs;
    return {reinterpret_cast<const char*>(mean_row + row), reinterpret_cast<const char*>(stddev_row + row),
            last ? 0 : row * sizeof(T) / Ahead::kLine + Ahead::kPerStep};
  }

  HWY_INLINE Vec<C> load(const T* row, std::size_t m, std::size_t step, C padding) const {
    const Tag<C> d;
    const hn::Rebind<T, Tag<C>> from_type;
    const std::size_t lanes = hn::Lanes(d);
    const T* from = row + m * num_outputs + step * lanes;
    const std::size_t left = num_outputs - step * lanes;
    if (kWhole || left >= lanes) {
      return widen(hn::LoadU(from_type, from));
    }
    if constexpr (kMasksLoads) {
      const Vec<C> v = widen(hn::MaskedLoad(hn::FirstN(from_type, left), from_type, from));
      return hn::IfThenElse(hn::FirstN(d, left), v, hn::Set(d, padding));
    }
    HWY_ALIGN C buffer[hn::MaxLanes(Tag<C>())];
    for (std::size_t k = 0; k < lanes; ++k) {
      buffer[k] = k < left ? static_cast<C>(from[k]) : padding;
    }
    return hn::Load(d, buffer);
  }
  HWY_INLINE Vec<C> mean(const Packed<C>& packed, std::size_t m, std::size_t step) const {
    const Vec<C> v = load(mean_row, m, step, C{0});
    hn::Store(v, Tag<C>(), packed.array(m, 0) + step * hn::Lanes(Tag<C>()));
    return v;
  }
  HWY_INLINE Vec<C> stddev(const Packed<C>&, std::size_t m, std::size_t step) const {
    return load(stddev_row, m, step, C{1});
  }

 private:
  static HWY_INLINE Vec<C> widen(hn::Vec<hn::Rebind<T, Tag<C>>> v) {
    if constexpr (std::is_same_v<C, T>) {
      return v;
    } else {
      return hn::PromoteTo(Tag<C>(), v);
    }
  }
};

// The vectors of several inputs, a lane each: transpose() has put means into array 0 and stddevs into array 1.
template <class C>
struct InputsSource {
  struct NothingAhead {
    HWY_INLINE void step() const {}
  };

  HWY_INLINE const InputsSource& whole() const { return *this; }
  HWY_INLINE std::size_t num_whole(const Packed<C>& packed) const { return packed.steps; }
  HWY_INLINE NothingAhead ahead() const { return {}; }
  HWY_INLINE Vec<C> mean(const Packed<C>& packed, std::size_t m, std::size_t step) const {
    return hn::Load(Tag<C>(), packed.array(m, 0) + step * hn::Lanes(Tag<C>()));
  }
  HWY_INLINE Vec<C> stddev(const Packed<C>& packed, std::size_t m, std::size_t step) const {
    return hn::Load(Tag<C>(), packed.array(m, 1) + step * hn::Lanes(Tag<C>()));
  }
};

// For a lambda called in several places, which would otherwise become a function and pass its vectors through memory.
#define DISSENT_INLINE_LAMBDA __attribute__((always_inline))

// Calls take(source, step) for the vectors of a component and multiplies what it returns; the caller normalises the
// product's mantissa. Whole vectors come in groups, without a branch.
template <class C, class Source, class Take>
HWY_INLINE Product<C> multiply_steps(const Source& source, const Packed<C>& packed, const Take& take) {
  constexpr std::size_t kFold = Product<C>::kFold;
  Product<C> product;
  const auto& whole = source.whole();
  const std::size_t num_whole = source.num_whole(packed);
  std::size_t k = 0;
  for (; k + kFold <= num_whole; k += kFold) {
    for (std::size_t r = 0; r < kFold; ++r) {
      product.multiply(take(whole, k + r));
    }
    product.normalise();
  }
  for (; k < num_whole; ++k) {
    product.multiply(take(whole, k));
  }
  if (k < packed.steps) {
    product.multiply(take(source, k));
  }
  return product;
}

// Packs the inputs from first_input on, the last one repeated past the end of the block.
template <class C, class T>
HWY_INLINE void transpose(const BlockInput<T>& in, std::size_t first_input, const Packed<C>& packed) {
  const std::size_t lanes = hn::Lanes(Tag<C>());
  const std::size_t row = in.num_components * in.num_outputs;
  for (std::size_t lane = 0; lane < lanes; ++lane) {
    const std::size_t input = std::min(first_input + lane, in.count - 1);
    const T* mean = in.mean + input * row;
    const T* stddev = in.stddev + input * row;
    C* mean_out = packed.array(0, 0) + lane;
    C* stddev_out = packed.array(0, 1) + lane;
    for (std::size_t k = 0; k < row; ++k) {
      mean_out[k * lanes] = static_cast<C>(mean[k]);
      stddev_out[k * lanes] = static_cast<C>(stddev[k]);
    }
  }
}

// The range of standard deviations in which a product of kFold of them is safe.
template <class C>
struct StddevRange {
  static constexpr C kLeast = Format<C>::kDouble ? C(1e-18) : C(1e-9);
  static constexpr C kMost = Format<C>::kDouble ? C(1e18) : C(1e9);
};

// Whether the scales that a lane saw lay between limits. NaN is left to the sums, which it spoils.
template <class C>
struct ScaleCheck {
  Vec<C> low;
  Vec<C> high;

  HWY_INLINE ScaleCheck() : low(hn::Set(Tag<C>(), C{1})), high(low) {}
  HWY_INLINE void add(Vec<C> scale) {
    low = hn::Min(low, scale);
    high = hn::Max(high, scale);
  }
  HWY_INLINE hn::Mask<Tag<C>> passed(C least, C most) const {
    const Tag<C> d;
    return hn::And(hn::Ge(low, hn::Set(d, least)), hn::Le(high, hn::Set(d, most)));
  }
};

// The same, and whether everything was finite.
template <class C>
struct RangeCheck {
  Vec<C> low;
  Vec<C> high;
  Vec<C> poison;  // 0 * x is NaN for infinite x and NaN

  HWY_INLINE RangeCheck() : low(hn::Set(Tag<C>(), C{1})), high(low), poison(hn::Zero(Tag<C>())) {}
  HWY_INLINE void add(Vec<C> mean, Vec<C> scale) {
    low = hn::Min(low, scale);
    high = hn::Max(high, scale);
    poison = hn::MulAdd(hn::Zero(Tag<C>()), hn::Add(mean, scale), poison);
  }
  HWY_INLINE hn::Mask<Tag<C>> passed(C least, C most) const {
    const Tag<C> d;
    return hn::And(hn::And(hn::Ge(low, hn::Set(d, least)), hn::Le(high, hn::Set(d, most))),
                   hn::Eq(poison, hn::Zero(d)));
  }
};

// Lowers the trust in those of `count` inputs whose lane is false.
template <class C>
HWY_INLINE void lower_trust(hn::Mask<Tag<C>> mask, Trust to, std::size_t count, Trust* trust) {
  const Tag<C> d;
  if (HWY_LIKELY(hn::AllTrue(d, mask))) {
    return;
  }
  HWY_ALIGN C flags[hn::MaxLanes(Tag<C>())];
  hn::Store(hn::IfThenElseZero(mask, hn::Set(d, C{1})), d, flags);
  for (std::size_t lane = 0; lane < std::min(hn::Lanes(d), count); ++lane) {
    trust[lane] = flags[lane] != 0 ? trust[lane] : std::min(trust[lane], to);
  }
}

// Runs a kernel over a block. Kernel::run(source, packed, out_offset, store) -> range mask packs and sums all pairs.
template <class C, class T, class Kernel>
HWY_INLINE void run_lanes_over_outputs(const BlockInput<T>& in, C* memory, const Kernel& kernel, Trust* trust) {
  const std::size_t lanes = hn::Lanes(Tag<C>());
  const std::size_t row = in.num_components * in.num_outputs;
  const Packed<C> packed{memory, in.num_components, (in.num_outputs + lanes - 1) / lanes};
  for (std::size_t n = 0; n < in.count; ++n) {
    const OutputsSource<C, T> source{in.mean + n * row, in.stddev + n * row, in.num_components, in.num_outputs,
                                     n + 1 == in.count};
    const bool valid = hn::AllTrue(Tag<C>(), kernel.run(source, packed, n, ReduceLanes<C>()));
    trust[n] = valid ? Trust::kAll : Trust::kNone;
  }
}

template <class C, class T, class Kernel>
HWY_INLINE void run_lanes_over_inputs(const BlockInput<T>& in, C* memory, const Kernel& kernel, Trust* trust) {
  const std::size_t lanes = hn::Lanes(Tag<C>());
  // Two sets of arrays in turn: the next inputs are transposed before these are computed, since a vector cannot be
  // loaded from scalars that are still on their way to the cache.
  Packed<C> packed{memory, in.num_components, in.num_outputs};
  Packed<C> next{packed.end(), in.num_components, in.num_outputs};
  std::fill_n(trust, in.count, Trust::kAll);
  transpose(in, 0, packed);
  for (std::size_t n = 0; n < in.count; n += lanes) {
    if (n + lanes < in.count) {
      transpose(in, n + lanes, next);
    }
    lower_trust<C>(kernel.run(InputsSource<C>(), packed, n, KeepLanes<C>()), Trust::kNone, in.count - n, trust + n);
    std::swap(packed, next);
  }
}

// Lanes over outputs pay when there are enough outputs to fill several vectors.
HWY_INLINE bool lanes_are_outputs(std::size_t num_outputs) { return num_outputs >= 4 * hn::Lanes(Tag<double>()); }

template <class C, class T, class Kernel>
HWY_INLINE void run_block(const BlockInput<T>& in, double* memory, const Kernel& kernel, Trust* trust) {
  C* as_c = reinterpret_cast<C*>(memory);
  if (lanes_are_outputs(in.num_outputs)) {
    run_lanes_over_outputs(in, as_c, kernel, trust);
  } else {
    run_lanes_over_inputs(in, as_c, kernel, trust);
  }
}

// Whether a divergence holds: at least `least`, finite; NaN fails.
HWY_INLINE hn::Mask<Tag<double>> holds(Vec<double> value, double least) {
  const Tag<double> d;
  return hn::And(hn::Ge(value, hn::Set(d, least)), hn::Le(value, hn::Set(d, 1e300)));
}

// ln of the mantissas, in place, and the whole logarithm into `whole`, over [rows][kBlock].
HWY_INLINE void take_logs(const LogParts& logs, std::size_t rows, std::size_t count, double* whole) {
  const Tag<double> d;
  for (std::size_t r = 0; r < rows; ++r) {
    for (std::size_t n = 0; n < count; n += hn::Lanes(d)) {
      const LogParts log = logs.at(r * kBlock + n);
      const Vec<double> log_mantissa = dissent::HWY_NAMESPACE::log<double>(hn::LoadU(d, log.mantissa));
      hn::StoreU(log_mantissa, d, log.mantissa);
      hn::StoreU(hn::MulAdd(hn::LoadU(d, log.exponent), hn::Set(d, kLn2), log_mantissa), d, whole + r * kBlock + n);
    }
  }
}

// Runs tiles over the columns [begin, end): as many of width kWidest as fit, then the rest in one.
template <std::size_t kWidest, class Tile>
HWY_INLINE void for_each_tile(std::size_t begin, std::size_t end, const Tile& tile) {
  std::size_t j = begin;
  for (; j + kWidest <= end; j += kWidest) {
    tile(std::integral_constant<std::size_t, kWidest>(), j);
  }
  if constexpr (kWidest > 1) {
    if (kWidest > 3 && end - j == 3) {
      tile(std::integral_constant<std::size_t, 3>(), j);
    } else if (kWidest > 2 && end - j == 2) {
      tile(std::integral_constant<std::size_t, 2>(), j);
    } else if (end - j == 1) {
      tile(std::integral_constant<std::size_t, 1>(), j);
    }
  }
}

}  // namespace dissent::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // include guard
