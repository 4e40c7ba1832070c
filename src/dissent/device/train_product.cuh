// Gradients of weights: products over the rows of a tile, by tensor cores.
//
// Each warp forms the product over its own 32 rows. Parts of 32 rows are added in the order of the batch, so that a run
// repeats to the bit, however many rows there are to a tile.
#pragma once

#include "dissent/device/train_tensor.cuh"

namespace dissent::device {

// Where the numbers of a product go, for one n: m to to[m * stride], but for one m of its own.
struct ProductColumn {
  float* to;
  int stride;
  int own;       // that m; -1: none
  float* apart;  // where it goes
};

// The gradient of a layer from output number `output` and input number `input` on; the input behind the last is the
// bias's. m counts outputs, n inputs ...
__device__ __forceinline__ ProductColumn by_inputs(const DenseLayer& layer, float* gradient, int output, int input,
                                                   int n) {
  return input + n == layer.inputs
             ? ProductColumn{gradient + layer.bias + output, 1, -1, nullptr}
             : ProductColumn{gradient + layer.weight + output * layer.inputs + input + n, layer.inputs, -1, nullptr};
}

// ... or m inputs, n outputs.
__device__ __forceinline__ ProductColumn by_outputs(const DenseLayer& layer, float* gradient, int output, int input,
                                                    int n) {
  return {gradient + layer.weight + (output + n) * layer.inputs + input, 1, layer.inputs - input,
          gradient + layer.bias + output + n};
}

// The numbers of a product over the warp's own rows.
template <int kTall, int kWide>
using ProductSums = float[kTall][kWide][4];

// sum[m][n] over the warp's 32 rows of a[m][row] columns[n][row], for 16 kTall values of m and 8 kWide of n. What is
// beyond the `rows` of a is of no use, nor is what was not put into the columns.
template <int kRows, int kTall, int kWide>
__device__ __forceinline__ void warp_product(int a, int rows, int b, ProductSums<kTall, kWide>& sum) {
  constexpr int kStride = Block<kRows>::kStride;
  const int lane = static_cast<int>(threadIdx.x) % 32;
  const int first = static_cast<int>(threadIdx.x) - lane + lane % 4;
  const float* shared = shared_floats();
  int a_at[kTall][2];
#pragma unroll
  for (int m = 0; m < kTall; ++m) {
#pragma unroll
    for (int e = 0; e < 2; ++e) {
      a_at[m][e] = a + min(m * 16 + e * 8 + lane / 4, rows - 1) * kStride + first;
    }
  }
  const int b_at = b + lane / 4 * kStride + first;
#pragma unroll
  for (int k = 0; k < 32; k += 8) {
    std::uint32_t a_part[2][kTall][4];  // [high or low]
    std::uint32_t b_part[2][kWide][2];
#pragma unroll
    for (int e = 0; e < 4; ++e) {
#pragma unroll
      for (int m = 0; m < kTall; ++m) {
        const Split value = split(shared[a_at[m][e % 2] + k + e / 2 * 4]);
        a_part[0][m][e] = value.high;
        a_part[1][m][e] = value.low;
      }
    }
#pragma unroll
    for (int n = 0; n < kWide; ++n) {
#pragma unroll
      for (int e = 0; e < 2; ++e) {
        const Split value = split(shared[b_at + n * 8 * kStride + k + e * 4]);
        b_part[0][n][e] = value.high;
        b_part[1][n][e] = value.low;
      }
    }
    add_terms<kTall, kWide>(a_part, b_part, sum);
  }
}

// Where element [m][n] of a warp's part stands: in its own 32 rows of the columns, which have served.
template <int kRows>
__device__ __forceinline__ int staged(int columns, int warp, int m, int n) {
  return columns + m * Block<kRows>::kStride + warp * 32 + n;
}

template <int kRows, int kTall, int kWide>
__device__ __forceinline__ void stage_parts(int columns, const ProductSums<kTall, kWide>& sum) {
  const int lane = static_cast<int>(threadIdx.x) % 32;
  const int warp = static_cast<int>(threadIdx.x) / 32;
#pragma unroll
  for (int m = 0; m < kTall; ++m) {
#pragma unroll
    for (int n = 0; n < kWide; ++n) {
      const int low = staged<kRows>(columns, warp, m * 16 + lane / 4, n * 8 + 2 * (lane % 4));
      const int high = low + 8 * Block<kRows>::kStride;
      *reinterpret_cast<float2*>(shared_floats() + low) = {sum[m][n][0], sum[m][n][1]};
      *reinterpret_cast<float2*>(shared_floats() + high) = {sum[m][n][2], sum[m][n][3]};
    }
  }
}

// Adds the warps' parts and stores the sums: lanes are columns, warps take rows in turn.
template <int kRows>
__device__ __forceinline__ void add_parts(int columns, int rows, int count, const ProductColumn& column, bool add) {
  constexpr int kWarps = Block<kRows>::kWarps;
  constexpr int kMost = kProductRows / kWarps;
  const int lane = static_cast<int>(threadIdx.x) % 32;
  const int warp = static_cast<int>(threadIdx.x) / 32;
  float before[kMost];
  if (lane < count) {
#pragma unroll
    for (int k = 0; k < kMost; ++k) {
      const int m = warp + k * kWarps;
      before[k] = add && m < rows ? *(m == column.own ? column.apart : column.to + m * column.stride) : 0.0F;
    }
  }
  __syncthreads();  // all parts are there
  if (lane < count) {
#pragma unroll
    for (int k = 0; k < kMost; ++k) {
      const int m = warp + k * kWarps;
      if (m < rows) {
        const float* part = shared_floats() + staged<kRows>(columns, 0, m, lane);
        float total = before[k];
#pragma unroll
        for (int w = 0; w < kWarps; ++w) {
          total += part[w * 32];
        }
        *(m == column.own ? column.apart : column.to + m * column.stride) = total;
      }
    }
  }
}

// Sums over the rows of the tile of a[m] columns[n], m < rows <= 16 kTall, n < count <= 8 kWide, go to `column`, which
// is that of n = this thread's lane. The columns are lost. All threads of the block call it; the columns of a busy warp
// must be there, and are free afterwards.
template <int kRows, int kTall, int kWide>
__device__ __forceinline__ void product(int a, int rows, int columns, int count, const ProductColumn& column, bool add,
                                        bool busy) {
  ProductSums<kTall, kWide> sum = {};
  if (busy) {
    warp_product<kRows, kTall, kWide>(a, rows, columns, sum);
  }
  __syncwarp();
  stage_parts<kRows, kTall, kWide>(columns, sum);
  add_parts<kRows>(columns, rows, count, column, add);
  __syncthreads();
}

// The same as a call, for where it is not in a loop: the program stays small.
template <int kRows, int kWide>
__device__ __noinline__ void product_tiles(int a, int rows, int columns, int count, float* to, int stride, int own,
                                           float* apart, bool add, bool busy) {
  if (rows > 16) {
    product<kRows, 2, kWide>(a, rows, columns, count, {to, stride, own, apart}, add, busy);
  } else {
    product<kRows, 1, kWide>(a, rows, columns, count, {to, stride, own, apart}, add, busy);
  }
}

template <int kRows>
__device__ __forceinline__ void call_product(int a, int rows, int columns, int count, const ProductColumn& column,
                                             bool add, bool busy) {
  const auto [to, stride, own, apart] = column;
  if (count <= 8) {
    product_tiles<kRows, 1>(a, rows, columns, count, to, stride, own, apart, add, busy);
  } else if (count <= 16) {
    product_tiles<kRows, 2>(a, rows, columns, count, to, stride, own, apart, add, busy);
  } else if (count <= 24) {
    product_tiles<kRows, 3>(a, rows, columns, count, to, stride, own, apart, add, busy);
  } else {
    product_tiles<kRows, 4>(a, rows, columns, count, to, stride, own, apart, add, busy);
  }
}

}  // namespace dissent::device
