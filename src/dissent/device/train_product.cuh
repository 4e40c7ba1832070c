// Gradients of weights: products over the rows of a tile, on tensor cores.
//
// Each warp forms the product over its own 32 rows. Parts of 32 rows are added in the order of the slice, so that a run
// repeats to the bit, however many rows a tile has.
#pragma once

#include "dissent/device/train_tensor.cuh"

namespace dissent::device {

// Where the numbers of a product go for one n: number m goes to to[m * stride].
struct ProductColumn {
  float* to;
  int stride;
};

// Where the gradient of a layer goes, from output number `output` and input number `input` on; the input after the last
// is the bias. m counts outputs, n inputs.
__device__ __forceinline__ ProductColumn layer_column(const DenseLayer& layer, float* gradient, int output, int input,
                                                      int n) {
  return input + n == layer.inputs
             ? ProductColumn{gradient + layer.bias + output, 1}
             : ProductColumn{gradient + layer.weight + output * layer.inputs + input + n, layer.inputs};
}

// The numbers of a product over the warp's own rows.
template <int kTall, int kWide>
using ProductSums = float[kTall][kWide][4];

// sum[m][n] = sum over the warp's 32 rows of a[m][row] b[n][row], from columns of two panels, for 16 kTall values of m
// and 8 kWide of n. Sums beyond the `rows` of a, or of columns of b that were not filled, are meaningless.
template <int kTall, int kWide, class ColumnsA, class ColumnsB>
__device__ __forceinline__ void warp_product(int a, int rows, int b, ProductSums<kTall, kWide>& sum) {
  const int lane = lane_of_warp();
  int a_column[kTall][2];
#pragma unroll
  for (int m = 0; m < kTall; ++m) {
#pragma unroll
    for (int e = 0; e < 2; ++e) {
      a_column[m][e] = min(m * 16 + e * 8 + lane / 4, rows - 1);
    }
  }
#pragma unroll
  for (int k = 0; k < 32; k += 8) {
    std::uint32_t a_part[2][kTall][4];  // [high or low]
    std::uint32_t b_part[2][kWide][2];
#pragma unroll
    for (int e = 0; e < 4; ++e) {
#pragma unroll
      for (int m = 0; m < kTall; ++m) {
        const Split value = ColumnsA::parts(ColumnsA::load(a, a_column[m][e % 2], k + e / 2 * 4 + lane % 4));
        a_part[0][m][e] = value.high;
        a_part[1][m][e] = value.low;
      }
    }
#pragma unroll
    for (int n = 0; n < kWide; ++n) {
#pragma unroll
      for (int e = 0; e < 2; ++e) {
        const Split value = ColumnsB::parts(ColumnsB::load(b, n * 8 + lane / 4, k + e * 4 + lane % 4));
        b_part[0][n][e] = value.high;
        b_part[1][n][e] = value.low;
      }
    }
    if (k == 0) {
      add_terms<true, kTall, kWide>(a_part, b_part, sum);
    } else {
      add_terms<false, kTall, kWide>(a_part, b_part, sum);
    }
  }
}

// Stores element [m][n] of a warp's part at m * kPanelStride + n of its columns.
template <int kTall, int kWide>
__device__ __forceinline__ void stage_parts(int columns, const ProductSums<kTall, kWide>& sum) {
  const int lane = lane_of_warp();
#pragma unroll
  for (int m = 0; m < kTall; ++m) {
#pragma unroll
    for (int n = 0; n < kWide; ++n) {
      float* low = shared_floats() + columns + (m * 16 + lane / 4) * kPanelStride + n * 8 + 2 * (lane % 4);
      *reinterpret_cast<float2*>(low) = {sum[m][n][0], sum[m][n][1]};
      *reinterpret_cast<float2*>(low + 8 * kPanelStride) = {sum[m][n][2], sum[m][n][3]};
    }
  }
}

// Adds the warps' parts and stores the sums: lanes are columns, warps take rows, at most kMost, in turn. Calls
// between() when all parts are there.
template <int kRows, int kMost, class Between>
__device__ __forceinline__ void add_parts(int columns, int panels, int rows, int count, const ProductColumn& column,
                                          bool add, const Between& between) {
  constexpr int kWarps = Block<kRows>::kWarps;
  const int lane = lane_of_warp();
  const int warp = warp_of_block();
  const int most = lane < count ? rows : 0;
  if (add) {  // what they are added to may be far away
#pragma unroll
    for (int m = warp; m < kMost; m += kWarps) {
      if (m < most) {
        asm volatile("prefetch.L1 [%0];" ::"l"(column.to + m * column.stride));
      }
    }
  }
  __syncthreads();
  between();
  constexpr int kEach = (kMost + kWarps - 1) / kWarps;
  constexpr int kBatch = kEach <= 6 ? kEach : 4;
  const auto place = [&](int m) {
    return reinterpret_cast<float*>(reinterpret_cast<char*>(column.to) +
                                    static_cast<std::ptrdiff_t>(m) * (column.stride * int{sizeof(float)}));
  };
  const float* parts = shared_floats() + columns - warp * panels + lane;
#pragma unroll 1
  for (int first = warp; first < most; first += kBatch * kWarps) {
    float* to[kBatch];
    float total[kBatch];
#pragma unroll
    for (int k = 0; k < kBatch; ++k) {
      to[k] = place(min(first + k * kWarps, most - 1));
      total[k] = add ? *to[k] : 0.0F;
    }
#pragma unroll
    for (int w = 0; w < kWarps; ++w) {
#pragma unroll
      for (int k = 0; k < kBatch; ++k) {
        total[k] += parts[w * panels + (first + k * kWarps) * kPanelStride];
      }
    }
#pragma unroll
    for (int k = 0; k < kBatch; ++k) {
      if (first + k * kWarps < most) {
        *to[k] = total[k];
      }
    }
  }
}

// Sums a[m] b[n] over the rows of the tile, from columns of two panels, m < rows <= kMost, n < count <= 8 kWide. The
// sums go to `column`, that of n = this thread's lane. Overwrites the columns of the block, which may be one of the two
// panels. All threads of the block call it; a busy warp's operands must be ready, and are free afterwards.
template <int kRows, int kTall, int kWide, class ColumnsA, class ColumnsB, int kMost, class Between>
__device__ __forceinline__ void product(int columns, int panels, bool busy, int a, int rows, int b, int count,
                                        const ProductColumn& column, bool add, const Between& between) {
  ProductSums<kTall, kWide> sum = {};
  if (busy) {
    warp_product<kTall, kWide, ColumnsA, ColumnsB>(a, rows, b, sum);
  }
  __syncwarp();
  stage_parts<kTall, kWide>(columns, sum);
  add_parts<kRows, kMost>(columns, panels, rows, count, column, add, between);
  __syncthreads();
}

// The same as a function call, for use outside loops: the program stays small.
template <int kRows, int kTall, int kWide>
__device__ __noinline__ void product_call(int columns, int panels, bool busy, int a, int rows, int b, int count,
                                          float* to, int stride, bool add) {
  product<kRows, kTall, kWide, PanelColumns, PanelColumns, 16 * kTall>(columns, panels, busy, a, rows, b, count,
                                                                       {to, stride}, add, [] {});
}

template <int kRows>
__device__ __forceinline__ void any_product(const Block<kRows>& block, int a, int rows, int b, int count,
                                            const ProductColumn& column, bool add) {
  const auto call = [&](auto run) {
    run(block.columns, block.panels, block.busy, a, rows, b, count, column.to, column.stride, add);
  };
  if (rows <= 16 && count <= 24) {
    call(product_call<kRows, 1, 3>);
  } else if (count <= 8) {
    call(product_call<kRows, 2, 1>);
  } else if (count <= 24) {
    call(product_call<kRows, 2, 3>);
  } else {
    call(product_call<kRows, 2, 4>);
  }
}

}  // namespace dissent::device
