// Tiling. A tile of `affine` holds R x V accumulators (R results, V vectors of the batch) in registers while the terms
// stream by: per term V loads and R broadcasts feed R * V multiply-adds. A tile of `weight_gradient` holds L x K
// accumulators while the batch streams by, and then adds up their lanes four at a time. Sizes are split evenly (26 rows
// are 5+5+4+4+4+4, not 5 x 5 + 1), because a tile of one row is too short to hide the latency of a multiply-add.
#include "dissent/matrix/linear.hpp"

#include <algorithm>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "dissent/matrix/linear.cpp"
#include "dissent/matrix/simd.hpp"
//
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace dissent {
namespace HWY_NAMESPACE {
namespace {

namespace hn = hwy::HWY_NAMESPACE;

// Tiles that fill 32 vector registers (AVX-512), or 16. Measured: within 10% of the peak rate of multiply-adds. Results
// do not depend on them. Under a sanitizer, where speed does not matter, they are small because the compiler is slow.
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr std::size_t kTileRows = 2;
constexpr std::size_t kTileVectors = 2;
constexpr std::size_t kTileLeft = 2;
#elif HWY_TARGET <= HWY_AVX3
constexpr std::size_t kTileRows = 5;
constexpr std::size_t kTileVectors = 4;
constexpr std::size_t kTileLeft = 6;
#else
constexpr std::size_t kTileRows = 4;
constexpr std::size_t kTileVectors = 3;
constexpr std::size_t kTileLeft = 3;
#endif
constexpr std::size_t kTileRight = 4;
constexpr std::size_t kTermBlock = 64;  // terms whose tile of the input stays in the first-level cache

// Where part `index` begins when `size` items are split into `parts` parts that differ by at most one, larger first.
HWY_INLINE std::size_t part_begin(std::size_t size, std::size_t parts, std::size_t index) {
  return index * (size / parts) + std::min(index, size % parts);
}

HWY_INLINE std::size_t num_parts(std::size_t size, std::size_t largest) { return (size + largest - 1) / largest; }

// `factor` holds the value's factors; it may be empty for a finish without them.
template <Finish kFinish, class D, class V = hn::Vec<D>, class T = hn::TFromD<D>>
HWY_INLINE V apply_finish(D d, V value, [[maybe_unused]] Panel<const T> factor, [[maybe_unused]] std::size_t row,
                          [[maybe_unused]] std::size_t column) {
  if constexpr (kFinish == Finish::kRelu) {
    return hn::Max(hn::Zero(d), value);  // this order lets a NaN through on x86
  } else if constexpr (kFinish == Finish::kReluDerivative) {
    return hn::IfThenElseZero(hn::Gt(hn::Load(d, factor.row(row) + column), hn::Zero(d)), value);
  } else if constexpr (kFinish == Finish::kTanhDerivative) {
    const V tanh = hn::Load(d, factor.row(row) + column);
    return hn::Mul(value, hn::NegMulAdd(tanh, tanh, hn::Set(d, T(1))));
  } else if constexpr (kFinish == Finish::kScale) {
    return hn::Mul(value, hn::Load(d, factor.row(row) + column));
  } else {
    return value;
  }
}

struct TileRange {
  std::size_t row;
  std::size_t column;
  std::size_t term_begin;
  std::size_t term_end;
};

template <Finish kFinish, std::size_t R, std::size_t V, class T, class Vec>
HWY_INLINE void store_tile(const Affine<T>& a, const TileRange& range, const Vec (&sum)[R][V]) {
  const hn::ScalableTag<T> d;
  DISSENT_UNROLL
  for (std::size_t r = 0; r < R; ++r) {
    DISSENT_UNROLL
    for (std::size_t v = 0; v < V; ++v) {
      const std::size_t row = range.row + r;
      const std::size_t column = range.column + v * hn::Lanes(d);
      hn::Store(apply_finish<kFinish>(d, sum[r][v], a.factor, row, column), d, a.out.row(row) + column);
    }
  }
}

template <std::size_t R, std::size_t V, class T>
void affine_tile(const Affine<T>& a, TileRange range) {
  const hn::ScalableTag<T> d;
  const std::size_t lanes = hn::Lanes(d);
  using Vec = hn::Vec<decltype(d)>;
  Vec sum[R][V];
  if (range.term_begin > 0 || a.add) {
    DISSENT_UNROLL
    for (std::size_t r = 0; r < R; ++r) {
      DISSENT_UNROLL
      for (std::size_t v = 0; v < V; ++v) {
        sum[r][v] = hn::Load(d, a.out.row(range.row + r) + range.column + v * lanes);
      }
    }
  } else {
    DISSENT_UNROLL
    for (std::size_t r = 0; r < R; ++r) {
      const Vec bias = hn::Set(d, a.bias == nullptr ? T(0) : a.bias[range.row + r]);
      DISSENT_UNROLL
      for (std::size_t v = 0; v < V; ++v) {
        sum[r][v] = bias;
      }
    }
  }
  const std::size_t in_stride = a.in.stride;
  const std::size_t row_stride = a.weight_row_stride;
  const std::size_t column_stride = a.weight_column_stride;
  const T* in = a.in.row(range.term_begin) + range.column;
  const T* weight = a.weight + range.row * row_stride + range.term_begin * column_stride;
  for (std::size_t k = range.term_begin; k < range.term_end; ++k) {
    Vec x[V];
    DISSENT_UNROLL
    for (std::size_t v = 0; v < V; ++v) {
      x[v] = hn::Load(d, in + v * lanes);
    }
    DISSENT_UNROLL
    for (std::size_t r = 0; r < R; ++r) {
      const Vec w = hn::Set(d, weight[r * row_stride]);
      DISSENT_UNROLL
      for (std::size_t v = 0; v < V; ++v) {
        sum[r][v] = hn::MulAdd(w, x[v], sum[r][v]);
      }
    }
    in += in_stride;
    weight += column_stride;
  }
  switch (range.term_end == a.in.rows ? a.finish : Finish::kNone) {
    case Finish::kNone:
      return store_tile<Finish::kNone>(a, range, sum);
    case Finish::kRelu:
      return store_tile<Finish::kRelu>(a, range, sum);
    case Finish::kReluDerivative:
      return store_tile<Finish::kReluDerivative>(a, range, sum);
    case Finish::kTanhDerivative:
      return store_tile<Finish::kTanhDerivative>(a, range, sum);
    case Finish::kScale:
      return store_tile<Finish::kScale>(a, range, sum);
  }
}

// Runs the tile whose sizes are (num_rows, num_vectors), known to be within (R, V).
template <std::size_t R, std::size_t V, class T>
HWY_INLINE void affine_sized(const Affine<T>& a, const TileRange& range, std::size_t num_rows,
                             std::size_t num_vectors) {
  if constexpr (V > 1) {
    if (num_vectors < V) {
      return affine_sized<R, V - 1>(a, range, num_rows, num_vectors);
    }
  }
  if constexpr (R > 1) {
    if (num_rows < R) {
      return affine_sized<R - 1, V>(a, range, num_rows, V);
    }
  }
  affine_tile<R, V>(a, range);
}

template <class T>
void affine_any(const Affine<T>& a) {
  const std::size_t lanes = hn::Lanes(hn::ScalableTag<T>());
  const std::size_t vectors = padded_batch(a.batch) / lanes;
  const std::size_t column_parts = num_parts(vectors, kTileVectors);
  const std::size_t term_parts = std::max<std::size_t>(1, num_parts(a.in.rows, kTermBlock));
  const std::size_t row_parts = num_parts(a.out.rows, kTileRows);
  for (std::size_t column = 0; column < column_parts; ++column) {
    const std::size_t first = part_begin(vectors, column_parts, column);
    const std::size_t last = part_begin(vectors, column_parts, column + 1);
    for (std::size_t term = 0; term < term_parts; ++term) {
      TileRange range{0, first * lanes, part_begin(a.in.rows, term_parts, term),
                      part_begin(a.in.rows, term_parts, term + 1)};
      for (std::size_t part = 0; part < row_parts; ++part) {
        range.row = part_begin(a.out.rows, row_parts, part);
        const std::size_t num_rows = part_begin(a.out.rows, row_parts, part + 1) - range.row;
        affine_sized<kTileRows, kTileVectors>(a, range, num_rows, last - first);
      }
    }
  }
}

// Where the sums of a tile of `weight_gradient` go: K weights of a row and, with kBias, the row's bias after them.
template <class T>
struct GradientTarget {
  T* weight;
  T* bias;
};

#if HWY_TARGET == HWY_SCALAR

template <std::size_t K, bool kBias, class D, class V, class T>
HWY_INLINE void add_lane_sums(D, const V* v, GradientTarget<T> target) {
  for (std::size_t k = 0; k < K; ++k) {
    target.weight[k] += hn::GetLane(v[k]);
  }
  if constexpr (kBias) {
    *target.bias += hn::GetLane(v[K]);
  }
}

#else

// Adds up the 128-bit blocks of a vector.
template <class D, class V>
HWY_INLINE auto sum_blocks(D d, V v) {
  if constexpr (hn::MaxLanes(d) * sizeof(hn::TFromD<D>) <= 16) {
    return v;
  } else {
    const hn::Half<D> half;
    return sum_blocks(half, hn::Add(hn::LowerHalf(half, v), hn::UpperHalf(half, v)));
  }
}

// The sums of the lanes of four vectors: first the lanes of each 128-bit block, for all four at once by interleaving,
// then the blocks.
template <class D, class V>
HWY_INLINE void lane_sums(D d, const V* v, float* sums) {
  const hn::Repartition<double, D> wide;
  const V ab = hn::Add(hn::InterleaveLower(d, v[0], v[1]), hn::InterleaveUpper(d, v[0], v[1]));
  const V cd = hn::Add(hn::InterleaveLower(d, v[2], v[3]), hn::InterleaveUpper(d, v[2], v[3]));
  const auto ab_wide = hn::BitCast(wide, ab);
  const auto cd_wide = hn::BitCast(wide, cd);
  const V abcd = hn::Add(hn::BitCast(d, hn::InterleaveLower(wide, ab_wide, cd_wide)),
                         hn::BitCast(d, hn::InterleaveUpper(wide, ab_wide, cd_wide)));
  hn::Store(sum_blocks(d, abcd), hn::FixedTag<float, 4>(), sums);
}

template <class D, class V>
HWY_INLINE void lane_sums(D d, const V* v, double* sums) {
  const hn::FixedTag<double, 2> block;
  hn::Store(sum_blocks(d, hn::Add(hn::InterleaveLower(d, v[0], v[1]), hn::InterleaveUpper(d, v[0], v[1]))), block,
            sums);
  hn::Store(sum_blocks(d, hn::Add(hn::InterleaveLower(d, v[2], v[3]), hn::InterleaveUpper(d, v[2], v[3]))), block,
            sums + 2);
}

template <std::size_t K, bool kBias, class D, class V, class T>
HWY_INLINE void add_lane_sums(D d, const V* v, GradientTarget<T> target) {
  HWY_ALIGN T sums[4];
  lane_sums(d, v, sums);
  const hn::CappedTag<T, 4> four;
  for (std::size_t k = 0; k < K; k += hn::Lanes(four)) {
    const auto wanted = hn::FirstN(four, K - k);
    const auto sum = hn::Add(hn::MaskedLoad(wanted, four, target.weight + k), hn::Load(four, sums + k));
    hn::BlendedStore(sum, wanted, four, target.weight + k);
  }
  if constexpr (kBias) {
    *target.bias += sums[K];
  }
}

#endif  // HWY_TARGET == HWY_SCALAR

template <std::size_t L, std::size_t K, bool kBias, class T>
void gradient_tile(const WeightGradient<T>& g, std::size_t row, std::size_t term) {
  const hn::ScalableTag<T> d;
  const std::size_t lanes = hn::Lanes(d);
  using Vec = hn::Vec<decltype(d)>;
  Vec sum[L][4];  // unused columns stay zero
  DISSENT_UNROLL
  for (std::size_t l = 0; l < L; ++l) {
    DISSENT_UNROLL
    for (std::size_t k = 0; k < 4; ++k) {
      sum[l][k] = hn::Zero(d);
    }
  }
  const T* left = g.left.row(row);
  const T* right = g.right.row(term);
  const std::size_t left_stride = g.left.stride;
  const std::size_t right_stride = g.right.stride;
  const std::size_t columns = padded_batch(g.batch);
  for (std::size_t b = 0; b < columns; b += lanes) {
    Vec x[L];
    DISSENT_UNROLL
    for (std::size_t l = 0; l < L; ++l) {
      x[l] = hn::Load(d, left + l * left_stride + b);
    }
    DISSENT_UNROLL
    for (std::size_t k = 0; k < K; ++k) {
      const Vec y = hn::Load(d, right + k * right_stride + b);
      DISSENT_UNROLL
      for (std::size_t l = 0; l < L; ++l) {
        sum[l][k] = hn::MulAdd(x[l], y, sum[l][k]);
      }
    }
    if constexpr (kBias) {
      DISSENT_UNROLL
      for (std::size_t l = 0; l < L; ++l) {
        sum[l][K] = hn::Add(sum[l][K], x[l]);
      }
    }
  }
  const GradientTarget<T> target{g.gradient + row * g.right.rows + term, kBias ? g.bias_gradient + row : nullptr};
  const std::size_t row_size = g.right.rows;
  DISSENT_UNROLL
  for (std::size_t l = 0; l < L; ++l) {
    add_lane_sums<K, kBias>(d, sum[l], GradientTarget<T>{target.weight + l * row_size, target.bias + l});
  }
}

// A tile's place and size: rows of the left, terms of the right side, and whether the bias comes after these terms.
struct GradientRange {
  std::size_t row;
  std::size_t num_rows;
  std::size_t term;
  std::size_t num_terms;
  bool bias;
};

// Runs the tile of the range's sizes, known to be within (L, K).
template <std::size_t L, std::size_t K, class T>
HWY_INLINE void gradient_sized(const WeightGradient<T>& g, const GradientRange& range) {
  if constexpr (K > 0) {
    if (range.num_terms < K) {
      return gradient_sized<L, K - 1>(g, range);
    }
  }
  if constexpr (L > 1) {
    if (range.num_rows < L) {
      return gradient_sized<L - 1, K>(g, range);
    }
  }
  if constexpr (K < kTileRight) {
    if (range.bias) {
      return gradient_tile<L, K, true>(g, range.row, range.term);
    }
  }
  if constexpr (K > 0) {
    gradient_tile<L, K, false>(g, range.row, range.term);
  }
}

// The larger side is walked once, tile by tile, while the smaller one stays in the cache. The bias is one extra term,
// the last, whose right side is 1.
template <class T>
void weight_gradient_any(const WeightGradient<T>& g) {
  const std::size_t num_terms = g.right.rows + (g.bias_gradient != nullptr ? 1 : 0);
  const std::size_t row_parts = num_parts(g.left.rows, kTileLeft);
  const std::size_t term_parts = num_parts(num_terms, kTileRight);
  const bool rows_outside = g.left.rows >= g.right.rows;
  const std::size_t num_outer = rows_outside ? row_parts : term_parts;
  const std::size_t num_inner = rows_outside ? term_parts : row_parts;
  for (std::size_t outer = 0; outer < num_outer; ++outer) {
    for (std::size_t inner = 0; inner < num_inner; ++inner) {
      const std::size_t row_part = rows_outside ? outer : inner;
      const std::size_t term_part = rows_outside ? inner : outer;
      GradientRange range{part_begin(g.left.rows, row_parts, row_part), 0, part_begin(num_terms, term_parts, term_part),
                          0, g.bias_gradient != nullptr && term_part + 1 == term_parts};
      range.num_rows = part_begin(g.left.rows, row_parts, row_part + 1) - range.row;
      range.num_terms = part_begin(num_terms, term_parts, term_part + 1) - range.term - (range.bias ? 1 : 0);
      gradient_sized<kTileLeft, kTileRight>(g, range);
    }
  }
}

}  // namespace

void affine_float(const Affine<float>& product) { affine_any(product); }
void affine_double(const Affine<double>& product) { affine_any(product); }
void weight_gradient_float(const WeightGradient<float>& product) { weight_gradient_any(product); }
void weight_gradient_double(const WeightGradient<double>& product) { weight_gradient_any(product); }

}  // namespace HWY_NAMESPACE
}  // namespace dissent
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace dissent {

HWY_EXPORT(affine_float);
HWY_EXPORT(affine_double);
HWY_EXPORT(weight_gradient_float);
HWY_EXPORT(weight_gradient_double);

void affine(const Affine<float>& product) { HWY_DYNAMIC_DISPATCH(affine_float)(product); }
void affine(const Affine<double>& product) { HWY_DYNAMIC_DISPATCH(affine_double)(product); }
void weight_gradient(const WeightGradient<float>& product) { HWY_DYNAMIC_DISPATCH(weight_gradient_float)(product); }
void weight_gradient(const WeightGradient<double>& product) { HWY_DYNAMIC_DISPATCH(weight_gradient_double)(product); }

}  // namespace dissent
#endif  // HWY_ONCE
