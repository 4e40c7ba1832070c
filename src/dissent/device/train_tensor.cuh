// Small matrix products by a warp on tensor cores, with single-precision accuracy: each number is split into two parts
// of 11 bits (three products, an error of about 2^-22).
//
// Each warp owns 32 rows of the tile and waits for no other. Of 32 rows x 8 columns, lane L holds rows
// L / 4 + {0, 8, 16, 24} and columns 2 (L % 4) + {0, 1}.
#pragma once

#include "dissent/device/train_block.cuh"

namespace dissent::device {

// Tensor cores ignore the lower bits of an operand. The high part is rounded to the nearest, so that what they cut off
// the low part errs to either side: otherwise all products would be too small, and training would drift.
struct Split {
  std::uint32_t high;
  std::uint32_t low;
};

__device__ __forceinline__ Split split(float value) {
  constexpr std::uint32_t kHalf = 0x1000U;  // of the last bit that they read
  const std::uint32_t high = (__float_as_uint(value) + kHalf) & 0xffffe000U;
  return {high, __float_as_uint(value - __uint_as_float(high))};
}

__device__ __forceinline__ void multiply_add(float (&sum)[4], const std::uint32_t (&a)[4],
                                             const std::uint32_t (&b)[2]) {
  asm("mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};"
      : "+f"(sum[0]), "+f"(sum[1]), "+f"(sum[2]), "+f"(sum[3])
      : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
}

// The same, starting from zero.
__device__ __forceinline__ void multiply(float (&sum)[4], const std::uint32_t (&a)[4], const std::uint32_t (&b)[2]) {
  asm("mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%10,%10,%10,%10};"
      : "=f"(sum[0]), "=f"(sum[1]), "=f"(sum[2]), "=f"(sum[3])
      : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]), "f"(0.0F));
}

// sum += a b for numbers in two parts, [high or low]: low x high, high x low, high x high, in an order in which no
// product waits for the one before it. With kFirst, starts from zero.
template <bool kFirst, int kTall, int kWide>
__device__ __forceinline__ void add_terms(const std::uint32_t (&a)[2][kTall][4], const std::uint32_t (&b)[2][kWide][2],
                                          float (&sum)[kTall][kWide][4]) {
#pragma unroll
  for (int term = 0; term < 3; ++term) {
#pragma unroll
    for (int n = 0; n < kWide; ++n) {
#pragma unroll
      for (int m = 0; m < kTall; ++m) {
        if (kFirst && term == 0) {
          multiply(sum[m][n], a[1][m], b[0][n]);
        } else {
          multiply_add(sum[m][n], a[term == 0 ? 1 : 0][m], b[term == 1 ? 1 : 0][n]);
        }
      }
    }
  }
}

// Sums of the warp's 32 rows x 8 kTiles columns.
template <int kTiles>
struct Sums {
  float at[2][kTiles][4];
};
template <>
struct Sums<0> {};

// The warp's row and the column of element [m][n][e].
__device__ __forceinline__ int sum_row(int m, int e) { return lane_of_warp() / 4 + 16 * m + e / 2 * 8; }
__device__ __forceinline__ int sum_column(int n, int e) { return 8 * n + 2 * (lane_of_warp() % 4) + e % 2; }

// Calls each(sum, row, column) for all sums of the lane in the first `count` columns, rounded up to a multiple of
// eight; sums beyond `count` are meaningless.
template <int kTiles, class Each>
__device__ __forceinline__ void for_sums(int count, Sums<kTiles>& sums, const Each& each) {
#pragma unroll
  for (int n = 0; n < kTiles; ++n) {
    if (8 * n < count) {
#pragma unroll
      for (int e = 0; e < 4; ++e) {
#pragma unroll
        for (int m = 0; m < 2; ++m) {
          each(sums.at[m][n][e], sum_row(m, e), sum_column(n, e));
        }
      }
    }
  }
}

template <int kTiles>
__device__ __forceinline__ void set_zero(Sums<kTiles>& sums) {
  for_sums(8 * kTiles, sums, [](float& sum, int, int) { sum = 0; });
}

// The operands of sums: eight k at a time, two of them (k, k + 1) per lane. Weights for sums over k with columns n come
// in three kinds: in the card's memory at data[k * by_k + n * by_n] for k < count and n < columns, ...
template <int kTiles>
struct FarWeights {
  using Two = float2;
  const float* data;
  int count;
  int by_k;
  int column[kTiles];

  __device__ __forceinline__ FarWeights(const float* weights, int k_count, int step_k, int step_n, int columns)
      : data(weights), count(k_count), by_k(step_k) {
    __builtin_assume(__isGlobal(data));
#pragma unroll
    for (int n = 0; n < kTiles; ++n) {
      column[n] = min(8 * n + lane_of_warp() / 4, columns - 1) * step_n;
    }
  }
  __device__ __forceinline__ Two load(int k, int n) const {
    const float* at = data + k * by_k + column[n];
    return {k < count ? at[0] : 0.0F, k + 1 < count ? at[by_k] : 0.0F};
  }
  static __device__ __forceinline__ void parts(Two two, std::uint32_t (&b)[2][kTiles][2], int n) {
    const Split first = split(two.x);
    const Split second = split(two.y);
    b[0][n][0] = first.high;
    b[1][n][0] = first.low;
    b[0][n][1] = second.high;
    b[1][n][1] = second.low;
  }
};

// ... in shared memory, at data + k * by_k + n * by_n, with zeros for k up to the next multiple of eight, ...
template <int kTiles>
struct NearWeights {
  using Two = float2;
  int by_k;
  int column[kTiles];

  __device__ __forceinline__ NearWeights(int data, int step_k, int step_n, int columns) : by_k(step_k) {
    const int last = (columns - 1) / 8;
#pragma unroll
    for (int n = 0; n < kTiles; ++n) {
      column[n] = data + (8 * min(n, last) + lane_of_warp() / 4) * step_n;
    }
  }
  __device__ __forceinline__ Two load(int k, int n) const {
    const float* at = shared_floats() + column[n] + k * by_k;
    return {at[0], at[by_k]};
  }
  static __device__ __forceinline__ void parts(Two two, std::uint32_t (&b)[2][kTiles][2], int n) {
    FarWeights<kTiles>::parts(two, b, n);
  }
};

// ... or in shared memory in two parts: a plane of high ones, then one of low ones, of [n][kStride], or with kAcross
// [k][kStride]. Tensor cores take operands from neighbouring registers: loaded in that order, they need no moves.
template <int kTiles, int kStride, int kPlane, bool kAcross>
struct SplitWeights {
  using Two = float4;  // {high, high, low, low}
  int at;

  __device__ __forceinline__ explicit SplitWeights(int data)
      : at(data + (kAcross ? lane_of_warp() / 4 : lane_of_warp() / 4 * kStride)) {}
  __device__ __forceinline__ Two load(int k, int n) const {
    if constexpr (kAcross) {
      const float* first = shared_floats() + at + k * kStride + 8 * n;
      return {first[0], first[kStride], first[kPlane], first[kPlane + kStride]};
    } else {
      const float* first = shared_floats() + at + 8 * n * kStride + k;
      const float2 high = *reinterpret_cast<const float2*>(first);
      const float2 low = *reinterpret_cast<const float2*>(first + kPlane);
      return {high.x, high.y, low.x, low.y};
    }
  }
  static __device__ __forceinline__ void parts(Two two, std::uint32_t (&b)[2][kTiles][2], int n) {
    b[0][n][0] = __float_as_uint(two.x);
    b[0][n][1] = __float_as_uint(two.y);
    b[1][n][0] = __float_as_uint(two.z);
    b[1][n][1] = __float_as_uint(two.w);
  }
};

// The warp's rows, from columns of a panel.
struct PanelColumns {
  using Value = float;
  static __device__ __forceinline__ Value load(int panel, int column, int row) {
    return shared_floats()[panel + column * kPanelStride + row];
  }
  static __device__ __forceinline__ Split parts(Value value) { return split(value); }
};

// The same in two parts: a plane of kColumns high ones, then one of low ones.
template <int kColumns>
struct SplitColumns {
  using Value = Split;
  static __device__ __forceinline__ Value load(int planes, int column, int row) {
    const float* at = shared_floats() + planes + column * kPanelStride + row;
    return {__float_as_uint(at[0]), __float_as_uint(at[kColumns * kPanelStride])};
  }
  static __device__ __forceinline__ Split parts(Value value) { return value; }

  // The thread's own row.
  static __device__ __forceinline__ void put(int planes, int column, float value) {
    const Split both = split(value);
    own_row(planes, column) = __uint_as_float(both.high);
    own_row(planes, column + kColumns) = __uint_as_float(both.low);
  }
};

// The operands for eight k: the warp's rows and the weights.
template <int kTiles, class Columns, class Weights>
struct SumOperands {
  typename Columns::Value a[2][4];
  typename Weights::Two b[kTiles];

  // Column `last` stands in for columns beyond it.
  __device__ __forceinline__ void load(int panel, int last, int k, const Weights& weights) {
    load_rows(panel, last, k);
    load_weights(k, weights);
  }
  __device__ __forceinline__ void load_rows(int panel, int last, int k) {
    const int own = k + 2 * (lane_of_warp() % 4);
#pragma unroll
    for (int e = 0; e < 2; ++e) {
      const int column = min(own + e, last);
#pragma unroll
      for (int m = 0; m < 2; ++m) {
        a[m][2 * e] = Columns::load(panel, column, lane_of_warp() / 4 + 16 * m);
        a[m][2 * e + 1] = Columns::load(panel, column, lane_of_warp() / 4 + 16 * m + 8);
      }
    }
  }
  __device__ __forceinline__ void load_weights(int k, const Weights& weights) {
#pragma unroll
    for (int n = 0; n < kTiles; ++n) {
      b[n] = weights.load(k + 2 * (lane_of_warp() % 4), n);
    }
  }
};

// The same in two parts.
template <int kTiles>
struct OperandParts {
  std::uint32_t a[2][2][4];  // [high or low]
  std::uint32_t b[2][kTiles][2];

  template <class Columns, class Weights>
  __device__ __forceinline__ explicit OperandParts(const SumOperands<kTiles, Columns, Weights>& operands) {
#pragma unroll
    for (int e = 0; e < 4; ++e) {
#pragma unroll
      for (int m = 0; m < 2; ++m) {
        const Split value = Columns::parts(operands.a[m][e]);
        a[0][m][e] = value.high;
        a[1][m][e] = value.low;
      }
    }
#pragma unroll
    for (int n = 0; n < kTiles; ++n) {
      Weights::parts(operands.b[n], b, n);
    }
  }

  template <bool kFirst>
  __device__ __forceinline__ void add_to(Sums<kTiles>& sums) const {
    add_terms<kFirst, 2, kTiles>(a, b, sums.at);
  }
};

template <int kTiles>
__device__ __forceinline__ void add_sums(const Sums<kTiles>& part, Sums<kTiles>& sums) {
#pragma unroll
  for (int n = 0; n < kTiles; ++n) {
#pragma unroll
    for (int e = 0; e < 4; ++e) {
      sums.at[0][n][e] += part.at[0][n][e];
      sums.at[1][n][e] += part.at[1][n][e];
    }
  }
}

// Tensor cores round towards zero when they add. So they add only a few products at a time; the rest is added outside.
constexpr int kStepsInside = 4;  // of eight k

// sums[row][n] = sum over k < count of column k of the panel times weights[k][n], for at most 8 kSteps columns.
template <int kSteps, class Columns, int kTiles, class Weights>
__device__ __forceinline__ void few_products(int panel, int count, const Weights& weights, Sums<kTiles>& sums) {
  static_assert(kSteps <= kStepsInside);
#pragma unroll
  for (int step = 0; step < kSteps; ++step) {
    if (step == 0 || 8 * step < count) {
      SumOperands<kTiles, Columns, Weights> operands;
      operands.load(panel, count - 1, 8 * step, weights);
      const OperandParts<kTiles> parts(operands);
      if (step == 0) {
        parts.template add_to<true>(sums);
      } else {
        parts.template add_to<false>(sums);
      }
    }
  }
}

// sums[row][n] += sum over k < count of column k of the panel times weights[k][n]. A loop, so that the program stays
// small. The next eight k are loaded before the products of these begin, since weights may be far away. `operands`: the
// first eight k.
template <int kTiles, class Weights>
__device__ __forceinline__ void add_products(int panel, int count, const Weights& weights,
                                             SumOperands<kTiles, PanelColumns, Weights>& operands, Sums<kTiles>& sums) {
#pragma unroll 1
  for (int first = 0; first < count; first += 8 * kStepsInside) {
    Sums<kTiles> part;
    set_zero(part);
#pragma unroll 1
    for (int k = first; k < min(count, first + 8 * kStepsInside); k += 8) {
      const OperandParts<kTiles> parts(operands);
      if (k + 8 < count) {
        operands.load(panel, count - 1, k + 8, weights);
      }
      parts.template add_to<false>(part);
    }
    add_sums(part, sums);
  }
}

template <int kTiles, class Weights>
__device__ __forceinline__ void add_products(int panel, int count, const Weights& weights, Sums<kTiles>& sums) {
  SumOperands<kTiles, PanelColumns, Weights> operands;
  operands.load(panel, count - 1, 0, weights);
  add_products(panel, count, weights, operands, sums);
}

}  // namespace dissent::device
