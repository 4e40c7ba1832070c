// Small matrix products by a warp on tensor cores, to single precision: each number is taken in two parts of 11 bits
// (three products, an error of about 2^-23).
//
// A warp has 32 rows of the tile for its own and waits for no other. Of 32 rows x 8 columns, lane L holds rows
// L / 4 + {0, 8, 16, 24} and columns 2 (L % 4) + {0, 1}.
#pragma once

#include "dissent/device/train_block.cuh"

namespace dissent::device {

// The lower bits of an operand are not looked at by the tensor cores. Both parts are rounded to the nearest: cut off,
// all products would be too small, and training drifts by what errs to one side at every step.
struct Split {
  std::uint32_t high;
  std::uint32_t low;
};

__device__ __forceinline__ Split split(float value) {
  constexpr std::uint32_t kHalf = 0x1000U;  // of the last bit that is looked at
  const std::uint32_t high = (__float_as_uint(value) + kHalf) & 0xffffe000U;
  return {high, __float_as_uint(value - __uint_as_float(high)) + kHalf};
}

__device__ __forceinline__ void multiply_add(float (&sum)[4], const std::uint32_t (&a)[4],
                                             const std::uint32_t (&b)[2]) {
  asm("mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};"
      : "+f"(sum[0]), "+f"(sum[1]), "+f"(sum[2]), "+f"(sum[3])
      : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
}

// sum += a b for numbers in two parts, [high or low]: low x high, high x low, high x high, so ordered that none waits
// for the one before it.
template <int kTall, int kWide>
__device__ __forceinline__ void add_terms(const std::uint32_t (&a)[2][kTall][4], const std::uint32_t (&b)[2][kWide][2],
                                          float (&sum)[kTall][kWide][4]) {
#pragma unroll
  for (int term = 0; term < 3; ++term) {
#pragma unroll
    for (int n = 0; n < kWide; ++n) {
#pragma unroll
      for (int m = 0; m < kTall; ++m) {
        multiply_add(sum[m][n], a[term == 0 ? 1 : 0][m], b[term == 1 ? 1 : 0][n]);
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

// The row of the tile (of the block's threads) and the column of element [m][n][e].
__device__ __forceinline__ int sum_row(int m, int e) {
  const int lane = static_cast<int>(threadIdx.x) % 32;
  return static_cast<int>(threadIdx.x) - lane + lane / 4 + 16 * m + e / 2 * 8;
}
__device__ __forceinline__ int sum_column(int n, int e) {
  return 8 * n + 2 * (static_cast<int>(threadIdx.x) % 4) + e % 2;
}

// Of a layer's weights, those that sums over k with columns n take: data[k * by_k + column[n / 8]], where `column` is
// of this lane's n % 8. What is in columns beyond the last is of no use, but must be there.
template <int kTiles>
struct SumWeights {
  const float* data;
  int by_k;
  int column[kTiles];

  __device__ __forceinline__ SumWeights(const float* weights, int step_k, int step_n, int columns)
      : data(weights), by_k(step_k) {
    const int first = static_cast<int>(threadIdx.x) % 32 / 4;
#pragma unroll
    for (int n = 0; n < kTiles; ++n) {
      column[n] = min(8 * n + first, columns - 1) * step_n;
    }
  }
};

// Numbers of eight k: of the rows and of the weights. Lanes take k in pairs, so that their places in shared memory fall
// into different banks.
template <int kRows, int kTiles>
struct SumOperands {
  float a[2][4];
  float b[kTiles][2];

  __device__ __forceinline__ void load(int in, int count, int k, const SumWeights<kTiles>& weights) {
    constexpr int kStride = Block<kRows>::kStride;
    const int lane = static_cast<int>(threadIdx.x) % 32;
    const float* rows = shared_floats() + in + static_cast<int>(threadIdx.x) - lane + lane / 4;
#pragma unroll
    for (int e = 0; e < 2; ++e) {
      const int own = k + 2 * (lane % 4) + e;
      const float* at = rows + min(own, count - 1) * kStride;
#pragma unroll
      for (int m = 0; m < 2; ++m) {
        a[m][2 * e] = at[16 * m];
        a[m][2 * e + 1] = at[16 * m + 8];
      }
      const float* from = weights.data + own * weights.by_k;
#pragma unroll
      for (int n = 0; n < kTiles; ++n) {
        b[n][e] = own < count ? from[weights.column[n]] : 0.0F;
      }
    }
  }
};

// sums[row][n] += sum over k < count of columns `in`[k][row] weights[k][n].
// Tensor cores cut off where they add, always towards zero: they add eight products, and the rest is added outside.
template <int kRows, int kTiles>
__device__ __forceinline__ void add_products(int in, int count, const SumWeights<kTiles>& weights, Sums<kTiles>& sums) {
  SumOperands<kRows, kTiles> next;
  next.load(in, count, 0, weights);
#pragma unroll 1
  for (int k = 0; k < count; k += 8) {
    std::uint32_t a[2][2][4];  // [high or low]
    std::uint32_t b[2][kTiles][2];
#pragma unroll
    for (int e = 0; e < 4; ++e) {
#pragma unroll
      for (int m = 0; m < 2; ++m) {
        const Split value = split(next.a[m][e]);
        a[0][m][e] = value.high;
        a[1][m][e] = value.low;
      }
    }
#pragma unroll
    for (int n = 0; n < kTiles; ++n) {
#pragma unroll
      for (int e = 0; e < 2; ++e) {
        const Split value = split(next.b[n][e]);
        b[0][n][e] = value.high;
        b[1][n][e] = value.low;
      }
    }
    if (k + 8 < count) {
      next.load(in, count, k + 8, weights);
    }
    Sums<kTiles> part = {};
    add_terms<2, kTiles>(a, b, part.at);
#pragma unroll
    for (int n = 0; n < kTiles; ++n) {
#pragma unroll
      for (int e = 0; e < 4; ++e) {
        sums.at[0][n][e] += part.at[0][n][e];
        sums.at[1][n][e] += part.at[1][n][e];
      }
    }
  }
}

}  // namespace dissent::device
