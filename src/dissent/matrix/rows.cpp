// Single precision goes through 4 x 4 blocks held in 128-bit registers; the rest, and double precision, one by one.
#include "dissent/matrix/rows.hpp"

#include <algorithm>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "dissent/matrix/rows.cpp"
#include "dissent/matrix/simd.hpp"
//
#include <hwy/foreach_target.h>
#include <hwy/highway.h>
//
#include <hwy/cache_control.h>
#include <hwy/contrib/math/math-inl.h>

HWY_BEFORE_NAMESPACE();
namespace dissent {
namespace HWY_NAMESPACE {
namespace {

namespace hn = hwy::HWY_NAMESPACE;

constexpr std::size_t kSquare = 16;

// map.offset and map.scale begin with the vector's first column.
template <bool kExponential, class D, class V = hn::Vec<D>>
HWY_INLINE V mapped(D d, const UnpackMap& map, V value) {
  if constexpr (kExponential) {
    value = hn::Exp(d, hn::Min(hn::Set(d, map.high), hn::Max(hn::Set(d, map.low), value)));
  }
  return hn::MulAdd(hn::LoadU(d, map.scale), value, hn::LoadU(d, map.offset));
}

// One number, with the same instructions as a vector: a row's bits must not depend on its place in the batch.
template <bool kExponential>
HWY_INLINE double mapped_one(const UnpackMap& map, float value) {
  const hn::CappedTag<double, 1> d;
  return hn::GetLane(mapped<kExponential>(d, map, hn::Set(d, static_cast<double>(value))));
}

HWY_INLINE UnpackMap from_column(UnpackMap map, std::size_t column) {
  map.offset += column;
  map.scale += column;
  return map;
}

// Calls store(k, from[0][k], from[1][k], from[2][k], from[3][k]) for k < 4, as one vector or else one by one.
#if HWY_TARGET == HWY_SCALAR
template <class Store>
HWY_INLINE void transpose_block(const float* const from[4], const Store& store) {
  for (std::size_t k = 0; k < 4; ++k) {
    for (std::size_t j = 0; j < 4; ++j) {
      store(k, j, from[j][k]);
    }
  }
}

struct ToFloat {
  float* const* to;
  HWY_INLINE void operator()(std::size_t k, std::size_t j, float value) const { to[k][j] = value; }
};

template <bool kExponential>
struct ToDouble {
  double* const* to;
  UnpackMap map;
  HWY_INLINE void operator()(std::size_t k, std::size_t j, float value) const {
    to[k][j] = mapped_one<kExponential>(from_column(map, j), value);
  }
};
#else
using Four = hn::FixedTag<float, 4>;

template <class Store>
HWY_INLINE void transpose_block(const float* const from[4], const Store& store) {
  const Four d;
  const hn::Repartition<double, decltype(d)> wide;
  const auto a = hn::LoadU(d, from[0]);
  const auto b = hn::LoadU(d, from[1]);
  const auto c = hn::LoadU(d, from[2]);
  const auto e = hn::LoadU(d, from[3]);
  const auto ab_lower = hn::BitCast(wide, hn::InterleaveLower(d, a, b));
  const auto ce_lower = hn::BitCast(wide, hn::InterleaveLower(d, c, e));
  const auto ab_upper = hn::BitCast(wide, hn::InterleaveUpper(d, a, b));
  const auto ce_upper = hn::BitCast(wide, hn::InterleaveUpper(d, c, e));
  store(0, hn::BitCast(d, hn::InterleaveLower(wide, ab_lower, ce_lower)));
  store(1, hn::BitCast(d, hn::InterleaveUpper(wide, ab_lower, ce_lower)));
  store(2, hn::BitCast(d, hn::InterleaveLower(wide, ab_upper, ce_upper)));
  store(3, hn::BitCast(d, hn::InterleaveUpper(wide, ab_upper, ce_upper)));
}

struct ToFloat {
  float* const* to;
  HWY_INLINE void operator()(std::size_t k, hn::Vec<Four> values) const { hn::StoreU(values, Four(), to[k]); }
};

template <bool kExponential>
struct ToDouble {
  double* const* to;
  UnpackMap map;
  HWY_INLINE void operator()(std::size_t k, hn::Vec<Four> values) const {
    const hn::FixedTag<double, 4> d;
    hn::StoreU(mapped<kExponential>(d, map, hn::PromoteTo(d, values)), d, to[k]);
  }
};
#endif

template <class T>
HWY_INLINE const T* item(RowTable<const T> table, const std::uint32_t* chosen, std::size_t b) {
  return table.data + (chosen == nullptr ? b : chosen[b]) * table.row_stride;
}

}  // namespace

// Squares of 16 x 16 elements, so that whole cache lines are read and written. The rows of the next squares are
// prefetched: no processor can foresee rows chosen at random.
void pack_blocks(RowTable<const float> table, const std::uint32_t* chosen, std::size_t batch, Panel<float> panel) {
  const std::size_t last = batch / 4 * 4;
  const std::size_t last_row = panel.rows / 4 * 4;
  for (std::size_t square = 0; square < last; square += kSquare) {
    for (std::size_t square_row = 0; square_row < last_row; square_row += kSquare) {
      for (std::size_t b = square + kSquare; b < std::min(last, square + 2 * kSquare); ++b) {
        hwy::Prefetch(item(table, chosen, b) + square_row);
      }
      for (std::size_t b = square; b < std::min(last, square + kSquare); b += 4) {
        const float* const from[4] = {item(table, chosen, b), item(table, chosen, b + 1), item(table, chosen, b + 2),
                                      item(table, chosen, b + 3)};
        for (std::size_t c = square_row; c < std::min(last_row, square_row + kSquare); c += 4) {
          const float* const source[4] = {from[0] + c, from[1] + c, from[2] + c, from[3] + c};
          float* const target[4] = {panel.row(c) + b, panel.row(c + 1) + b, panel.row(c + 2) + b, panel.row(c + 3) + b};
          transpose_block(source, ToFloat{target});
        }
      }
    }
  }
}

namespace {

// make(c, target) returns the object that stores a block whose first column is c.
template <class T, class Make>
HWY_INLINE void unpack_any(Panel<const float> panel, std::size_t batch, RowTable<T> table, const Make& make) {
  const std::size_t last = batch / 4 * 4;
  const std::size_t last_row = panel.rows / 4 * 4;
  for (std::size_t square = 0; square < last; square += kSquare) {
    for (std::size_t square_row = 0; square_row < last_row; square_row += kSquare) {
      for (std::size_t b = square; b < std::min(last, square + kSquare); b += 4) {
        T* const to = table.data + b * table.row_stride;
        for (std::size_t c = square_row; c < std::min(last_row, square_row + kSquare); c += 4) {
          const float* const source[4] = {panel.row(c) + b, panel.row(c + 1) + b, panel.row(c + 2) + b,
                                          panel.row(c + 3) + b};
          T* const target[4] = {to + c, to + c + table.row_stride, to + c + 2 * table.row_stride,
                                to + c + 3 * table.row_stride};
          transpose_block(source, make(c, target));
        }
      }
    }
  }
}

template <bool kExponential>
void unpack_mapped_any(Panel<const float> panel, std::size_t batch, const UnpackMap& map, RowTable<double> table) {
  unpack_any(panel, batch, table, [&](std::size_t c, double* const* target) {
    return ToDouble<kExponential>{target, from_column(map, c)};
  });
  for (std::size_t b = 0; b < batch; ++b) {  // what is left
    double* const to = table.data + b * table.row_stride;
    for (std::size_t c = b < batch / 4 * 4 ? panel.rows / 4 * 4 : 0; c < panel.rows; ++c) {
      to[c] = mapped_one<kExponential>(from_column(map, c), panel(c, b));
    }
  }
}

}  // namespace

void unpack_blocks(Panel<const float> panel, std::size_t batch, RowTable<float> table) {
  unpack_any(panel, batch, table, [](std::size_t, float* const* target) { return ToFloat{target}; });
}

void unpack_mapped(Panel<const float> panel, std::size_t batch, const UnpackMap& map, RowTable<double> table) {
  map.exponential ? unpack_mapped_any<true>(panel, batch, map, table)
                  : unpack_mapped_any<false>(panel, batch, map, table);
}

}  // namespace HWY_NAMESPACE
}  // namespace dissent
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace dissent {

HWY_EXPORT(pack_blocks);
HWY_EXPORT(unpack_blocks);
HWY_EXPORT(unpack_mapped);

namespace {

// The elements outside the first `done_batch` x `done_rows` block, and the padding.
template <class T>
void pack_rest(RowTable<const T> table, const std::uint32_t* chosen, std::size_t batch, Panel<T> panel,
               std::size_t done_batch, std::size_t done_rows) {
  const std::size_t padded = padded_batch(batch);
  for (std::size_t b = 0; b < batch; ++b) {
    const T* from = table.data + (chosen == nullptr ? b : chosen[b]) * table.row_stride;
    for (std::size_t c = b < done_batch ? done_rows : 0; c < panel.rows; ++c) {
      panel(c, b) = from[c];
    }
  }
  for (std::size_t c = 0; c < panel.rows; ++c) {
    std::fill(panel.row(c) + batch, panel.row(c) + padded, T(0));
  }
}

template <class T>
void unpack_rest(Panel<const T> panel, std::size_t batch, RowTable<T> table, std::size_t done_batch,
                 std::size_t done_rows) {
  for (std::size_t b = 0; b < batch; ++b) {
    T* to = table.data + b * table.row_stride;
    for (std::size_t c = b < done_batch ? done_rows : 0; c < panel.rows; ++c) {
      to[c] = panel(c, b);
    }
  }
}

}  // namespace

void pack_rows(RowTable<const float> table, const std::uint32_t* chosen, std::size_t batch, Panel<float> panel) {
  HWY_DYNAMIC_DISPATCH(pack_blocks)(table, chosen, batch, panel);
  pack_rest(table, chosen, batch, panel, batch / 4 * 4, panel.rows / 4 * 4);
}

void pack_rows(RowTable<const double> table, const std::uint32_t* chosen, std::size_t batch, Panel<double> panel) {
  pack_rest(table, chosen, batch, panel, 0, 0);
}

void unpack_rows(Panel<const float> panel, std::size_t batch, RowTable<float> table) {
  HWY_DYNAMIC_DISPATCH(unpack_blocks)(panel, batch, table);
  unpack_rest(panel, batch, table, batch / 4 * 4, panel.rows / 4 * 4);
}

void unpack_rows(Panel<const double> panel, std::size_t batch, RowTable<double> table) {
  unpack_rest(panel, batch, table, 0, 0);
}

void unpack_rows(Panel<const float> panel, std::size_t batch, const UnpackMap& map, RowTable<double> table) {
  HWY_DYNAMIC_DISPATCH(unpack_mapped)(panel, batch, map, table);
}

}  // namespace dissent
#endif  // HWY_ONCE
