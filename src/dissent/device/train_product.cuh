// Gradients of weights: products over the rows of a tile, by tensor cores.
//
// Each warp forms the product over its own 32 rows; each number is taken in two parts of 11 bits (three products, an
// error of about 2^-21). The warps' parts are added in their order, so that a run repeats to the bit.
#pragma once

#include "dissent/device/train_block.cuh"

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

// The lower bits of an operand are not looked at by the tensor cores.
struct Split {
  std::uint32_t high;
  std::uint32_t low;
};

__device__ __forceinline__ Split split(float value) {
  const std::uint32_t high = __float_as_uint(value) & 0xffffe000U;
  return {high, __float_as_uint(value - __uint_as_float(high))};
}

__device__ __forceinline__ void multiply_add(float (&sum)[4], const std::uint32_t (&a)[4],
                                             const std::uint32_t (&b)[2]) {
  asm("mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};"
      : "+f"(sum[0]), "+f"(sum[1]), "+f"(sum[2]), "+f"(sum[3])
      : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
}

// sum[m][n] over the warp's 32 rows of a[m][row] columns[n][row], for kTall x 16 values of m. What is beyond `count` is
// of no use: there are kProductColumns of them.
template <int kRows, int kTall>
__device__ __forceinline__ void warp_product(int a, int rows, int b, int count, float (&sum)[2][3][4]) {
  constexpr int kStride = Block<kRows>::kStride;
  const int lane = threadIdx.x % 32;
  const int group = lane / 4;
  const int first = static_cast<int>(threadIdx.x) - lane + lane % 4;
  const float* shared = shared_floats();
  int a_at[kTall][2];
#pragma unroll
  for (int m = 0; m < kTall; ++m) {
#pragma unroll
    for (int e = 0; e < 2; ++e) {
      a_at[m][e] = a + min(m * 16 + e * 8 + group, rows - 1) * kStride + first;
    }
  }
#pragma unroll
  for (int k = 0; k < 4; ++k) {
    std::uint32_t a_high[kTall][4];
    std::uint32_t a_low[kTall][4];
#pragma unroll
    for (int m = 0; m < kTall; ++m) {
#pragma unroll
      for (int e = 0; e < 4; ++e) {
        const Split value = split(shared[a_at[m][e % 2] + k * 8 + e / 2 * 4]);
        a_high[m][e] = value.high;
        a_low[m][e] = value.low;
      }
    }
#pragma unroll
    for (int n = 0; n < 3; ++n) {
      if (n * 8 < count) {
        const int at = b + (n * 8 + group) * kStride + first + k * 8;
        const Split b0 = split(shared[at]);
        const Split b1 = split(shared[at + 4]);
        const std::uint32_t high[2] = {b0.high, b1.high};
        const std::uint32_t low[2] = {b0.low, b1.low};
#pragma unroll
        for (int m = 0; m < kTall; ++m) {
          multiply_add(sum[m][n], a_low[m], high);
          multiply_add(sum[m][n], a_high[m], low);
          multiply_add(sum[m][n], a_high[m], high);
        }
      }
    }
  }
}

// Where element e of a warp's part stands: in its own 32 rows of the columns, which have served.
template <int kRows>
__device__ __forceinline__ int staged(int columns, int warp, int e) {
  return columns + e / 32 * Block<kRows>::kStride + warp * 32 + e % 32;
}

template <int kRows>
__device__ __forceinline__ void stage_parts(int columns, int rows, const float (&sum)[2][3][4]) {
  const int lane = threadIdx.x % 32;
  const int warp = threadIdx.x / 32;
#pragma unroll
  for (int m = 0; m < 2; ++m) {
    if (m * 16 < rows) {
#pragma unroll
      for (int n = 0; n < 3; ++n) {
        const int e = (m * 16 + lane / 4) * kProductColumns + n * 8 + 2 * (lane % 4);
        const int low = staged<kRows>(columns, warp, e);
        const int high = staged<kRows>(columns, warp, e + 8 * kProductColumns);
        *reinterpret_cast<float2*>(shared_floats() + low) = {sum[m][n][0], sum[m][n][1]};
        *reinterpret_cast<float2*>(shared_floats() + high) = {sum[m][n][2], sum[m][n][3]};
      }
    }
  }
}

// Adds the warps' parts and stores the sums: lanes are columns, warps take rows in turn.
template <int kRows>
__device__ __forceinline__ void add_parts(int columns, int rows, int count, const ProductColumn& column, bool add) {
  constexpr int kWarps = Block<kRows>::kWarps;
  constexpr int kMost = kProductRows / kWarps;
  const int lane = threadIdx.x % 32;
  const int warp = threadIdx.x / 32;
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
        const int e = m * kProductColumns + lane;
        const float* part = shared_floats() + staged<kRows>(columns, 0, e);
        float total = part[0];
#pragma unroll
        for (int w = 1; w < kWarps; ++w) {
          total += part[w * 32];
        }
        *(m == column.own ? column.apart : column.to + m * column.stride) = before[k] + total;
      }
    }
  }
}

// Sums over the rows of the tile of a[m] columns[n], m < rows <= kProductRows, n < count <= kProductColumns, go to
// `column`, which is that of n = this thread's lane. The columns are lost. All threads of the block call it; a warp's
// own columns must be there, and are free afterwards.
template <int kRows>
__device__ __forceinline__ void product(int a, int rows, int columns, int count, const ProductColumn& column,
                                        bool add) {
  float sum[2][3][4] = {};
  if (rows > 16) {
    warp_product<kRows, 2>(a, rows, columns, count, sum);
  } else {
    warp_product<kRows, 1>(a, rows, columns, count, sum);
  }
  __syncwarp();
  stage_parts<kRows>(columns, rows, sum);
  add_parts<kRows>(columns, rows, count, column, add);
  __syncthreads();
}

// The same as a call, for where it is not in a loop: the program stays small.
template <int kRows>
__device__ __noinline__ void call_product(int a, int rows, int columns, int count, float* to, int stride, int own,
                                          float* apart, bool add) {
  product<kRows>(a, rows, columns, count, {to, stride, own, apart}, add);
}

}  // namespace dissent::device
