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

// ... or in shared memory in two parts, {high, low} for each: [n][kStride], or with kAcross [k][kStride].
template <int kTiles, int kStride, bool kAcross>
struct PairWeights {
  using Two = float4;
  int at;

  __device__ __forceinline__ explicit PairWeights(int data)
      : at(data + 2 * (kAcross ? lane_of_warp() / 4 : lane_of_warp() / 4 * kStride)) {}
  __device__ __forceinline__ Two load(int k, int n) const {
    if constexpr (kAcross) {
      const float* first = shared_floats() + at + 2 * (k * kStride + 8 * n);
      const float2 a = *reinterpret_cast<const float2*>(first);
      const float2 b = *reinterpret_cast<const float2*>(first + 2 * kStride);
      return {a.x, a.y, b.x, b.y};
    } else {
      return *reinterpret_cast<const float4*>(shared_floats() + at + 2 * (8 * n * kStride + k));
    }
  }
  static __device__ __forceinline__ void parts(Two two, std::uint32_t (&b)[2][kTiles][2], int n) {
    b[0][n][0] = __float_as_uint(two.x);
    b[1][n][0] = __float_as_uint(two.y);
    b[0][n][1] = __float_as_uint(two.z);
    b[1][n][1] = __float_as_uint(two.w);
  }
};

// The operands for eight k: the warp's rows, from columns of a panel, and the weights.
template <int kTiles, class Weights>
struct SumOperands {
  float a[2][4];
  typename Weights::Two b[kTiles];

  // Column `last` stands in for columns beyond it.
  __device__ __forceinline__ void load(int panel, int last, int k, const Weights& weights) {
    const int own = k + 2 * (lane_of_warp() % 4);
#pragma unroll
    for (int e = 0; e < 2; ++e) {
      const float* at = shared_floats() + panel + min(own + e, last) * kPanelStride + lane_of_warp() / 4;
#pragma unroll
      for (int m = 0; m < 2; ++m) {
        a[m][2 * e] = at[16 * m];
        a[m][2 * e + 1] = at[16 * m + 8];
      }
    }
#pragma unroll
    for (int n = 0; n < kTiles; ++n) {
      b[n] = weights.load(own, n);
    }
  }

  template <bool kFirst>
  __device__ __forceinline__ void add_to(Sums<kTiles>& sums) const {
    std::uint32_t a_part[2][2][4];  // [high or low]
    std::uint32_t b_part[2][kTiles][2];
#pragma unroll
    for (int e = 0; e < 4; ++e) {
#pragma unroll
      for (int m = 0; m < 2; ++m) {
        const Split value = split(a[m][e]);
        a_part[0][m][e] = value.high;
        a_part[1][m][e] = value.low;
      }
    }
#pragma unroll
    for (int n = 0; n < kTiles; ++n) {
      Weights::parts(b[n], b_part, n);
    }
    add_terms<kFirst, 2, kTiles>(a_part, b_part, sums.at);
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
template <int kSteps, int kTiles, class Weights>
__device__ __forceinline__ void few_products(int panel, int count, const Weights& weights, Sums<kTiles>& sums) {
  static_assert(kSteps <= kStepsInside);
#pragma unroll
  for (int step = 0; step < kSteps; ++step) {
    if (step == 0 || 8 * step < count) {
      SumOperands<kTiles, Weights> operands;
      operands.load(panel, count - 1, 8 * step, weights);
      if (step == 0) {
        operands.template add_to<true>(sums);
      } else {
        operands.template add_to<false>(sums);
      }
    }
  }
}

// sums[row][n] += sum over k < count of column k of the panel times weights[k][n]. A loop, so that the program stays
// small.
template <int kTiles, class Weights>
__device__ __forceinline__ void add_products(int panel, int count, const Weights& weights, Sums<kTiles>& sums) {
#pragma unroll 1
  for (int first = 0; first < count; first += 8 * kStepsInside) {
    Sums<kTiles> part;
    set_zero(part);
#pragma unroll 1
    for (int k = first; k < min(count, first + 8 * kStepsInside); k += 8) {
      SumOperands<kTiles, Weights> operands;
      operands.load(panel, count - 1, k, weights);
      operands.template add_to<false>(part);
    }
    add_sums(part, sums);
  }
}

}  // namespace dissent::device
