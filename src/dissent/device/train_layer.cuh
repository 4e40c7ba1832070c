// Layers forward and backward, for the warp's own rows (train_tensor.cuh).
//
// Weights are read where they are: in the card's memory, or in padded copies in shared memory.
#pragma once

#include "dissent/device/train_tensor.cuh"

namespace dissent::device {

// The larger; NaN if either is.
__device__ __forceinline__ float larger_or_nan(float a, float b) {
  float result;
  asm("max.NaN.f32 %0, %1, %2;" : "=f"(result) : "f"(a), "f"(b));
  return result;
}

// How forward sums begin and end.
constexpr int kAddToOut = 1;  // they are added to what is there
constexpr int kRelu = 2;

// Stores the sums of some outputs in columns of a panel, which may be the one they come from: nothing is stored before
// the end. kept: stores them in scratch memory as well; may be null.
template <int kRows, int kTiles>
__device__ __forceinline__ void store_outputs(int out, int outputs, int flags, float* kept, Sums<kTiles>& sums) {
  const float least = (flags & kRelu) != 0 ? 0.0F : __uint_as_float(0xff800000U);
  __syncwarp();
  for_sums(outputs, sums, [&](float& sum, int row, int column) {
    sum = larger_or_nan(sum, least);
    shared_floats()[out + column * kPanelStride + row] = sum;
  });
  if (kept != nullptr) {
    __builtin_assume(__isGlobal(kept));
    float* own = kept + 32 * warp_of_block();
    for_sums(outputs, sums, [&](float sum, int row, int column) { own[column * kRows + row] = sum; });
  }
  __syncwarp();
}

template <int kTiles, class Bias>
__device__ __forceinline__ void begin_sums(int out, int outputs, int flags, const Bias& bias, Sums<kTiles>& sums) {
  set_zero(sums);
  if ((flags & kAddToOut) != 0) {
    for_sums(outputs, sums,
             [&](float& sum, int row, int column) { sum = shared_floats()[out + column * kPanelStride + row]; });
  } else {
    for_sums(outputs, sums, [&](float& sum, int, int column) { sum = bias(column); });
  }
}

template <int kRows, int kTiles>
__device__ __noinline__ void forward_near(int in, int count, int weights, int stride, int out, int outputs, int flags,
                                          int biases, float* kept) {
  Sums<kTiles> sums;
  begin_sums(
      out, outputs, flags, [&](int column) { return shared_floats()[biases + column * stride]; }, sums);
  add_products<kTiles>(in, count, NearWeights<kTiles>(weights, 1, stride, outputs), sums);
  store_outputs<kRows>(out, outputs, flags, kept, sums);
}

template <int kRows, int kTiles>
__device__ __noinline__ void forward_far(int in, int count, const float* weights, int stride, const float* biases,
                                         int out, int outputs, int flags, float* kept) {
  __builtin_assume(__isGlobal(biases));
  Sums<kTiles> sums;
  begin_sums(
      out, outputs, flags, [&](int column) { return biases[min(column, outputs - 1)]; }, sums);
  add_products<kTiles>(in, count, FarWeights<kTiles>(weights, count, 1, stride, outputs), sums);
  store_outputs<kRows>(out, outputs, flags, kept, sums);
}

// A layer, and where its parameters are.
struct LayerWeights {
  const DenseLayer& layer;
  const float* parameters;  // in the card's memory, by offsets of the flat block
  int copy;                 // of the network, in shared memory; negative: none

  __device__ __forceinline__ bool near() const { return copy >= 0; }
};

// Adds the products of a layer's inputs [first, first + count), in a panel, to its outputs; with the last inputs, also
// applies the ReLU. kept: all outputs in scratch memory, or null.
template <int kRows>
__device__ __forceinline__ void dense_forward(const LayerWeights& weights, int in, int first, int count, int out,
                                              float* kept) {
  const DenseLayer& layer = weights.layer;
  const bool last = first + count == layer.inputs;
  const int flags = (first > 0 ? kAddToOut : 0) | (last ? kRelu : 0);
#pragma unroll 1
  for (int o = 0; o < layer.outputs; o += kUnitsAtOnce) {
    const int outputs = min(kUnitsAtOnce, layer.outputs - o);
    const int to = out + o * kPanelStride;
    float* keep = last && kept != nullptr ? kept + o * kRows : nullptr;
    if (weights.near()) {
      const int stride = copy_stride(layer.inputs);
      const int row = weights.copy + layer.copy + o * stride;
      const int biases = row + rounded_up(layer.inputs);
      if (outputs <= 24) {
        forward_near<kRows, 3>(in, count, row + first, stride, to, outputs, flags, biases, keep);
      } else {
        forward_near<kRows, 4>(in, count, row + first, stride, to, outputs, flags, biases, keep);
      }
    } else {
      const float* from = weights.parameters + layer.weight + o * layer.inputs + first;
      const float* biases = weights.parameters + layer.bias + o;
      if (outputs <= 24) {
        forward_far<kRows, 3>(in, count, from, layer.inputs, biases, to, outputs, flags, keep);
      } else {
        forward_far<kRows, 4>(in, count, from, layer.inputs, biases, to, outputs, flags, keep);
      }
    }
  }
}

// Replaces units, in columns of a panel, with the gradient with respect to them: the backward pass of a ReLU.
template <int kTiles>
__device__ __forceinline__ void replace_units(int panel, int count, Sums<kTiles>& grad) {
  for_sums(count, grad, [&](float sum, int row, int column) {
    float& unit = shared_floats()[panel + column * kPanelStride + row];
    unit = unit > 0 ? sum : 0.0F;
  });
  __syncwarp();
}

// Writes the gradient with respect to units, which is zero where the units are, to a panel or, if `carried` is not
// null, to scratch memory.
template <int kRows, int kTiles, class Weights>
__device__ __forceinline__ void backward_tiles(int in, int outputs, const Weights& weights, int inputs,
                                               const float* units, int out, float* carried) {
  __builtin_assume(__isGlobal(units));
  const int warp_row = 32 * warp_of_block();
  Sums<kTiles> values;  // they may be far away: loaded first
  set_zero(values);
  for_sums(inputs, values, [&](float& unit, int row, int column) { unit = units[column * kRows + warp_row + row]; });
  Sums<kTiles> sums;
  set_zero(sums);
  add_products<kTiles>(in, outputs, weights, sums);
  __syncwarp();
#pragma unroll
  for (int n = 0; n < kTiles; ++n) {
#pragma unroll
    for (int e = 0; e < 4; ++e) {
#pragma unroll
      for (int m = 0; m < 2; ++m) {
        sums.at[m][n][e] = values.at[m][n][e] > 0 ? sums.at[m][n][e] : 0.0F;
      }
    }
  }
  if (carried == nullptr) {
    for_sums(inputs, sums,
             [&](float sum, int row, int column) { shared_floats()[out + column * kPanelStride + row] = sum; });
  } else {
    __builtin_assume(__isGlobal(carried));
    for_sums(inputs, sums, [&](float sum, int row, int column) { carried[column * kRows + warp_row + row] = sum; });
  }
  __syncwarp();
}

template <int kRows, int kTiles>
__device__ __noinline__ void backward_near(int in, int outputs, int weights, int stride, int inputs, const float* units,
                                           int out, float* carried) {
  backward_tiles<kRows, kTiles>(in, outputs, NearWeights<kTiles>(weights, stride, 1, inputs), inputs, units, out,
                                carried);
}

template <int kRows, int kTiles>
__device__ __noinline__ void backward_far(int in, int outputs, const float* weights, int stride, int inputs,
                                          const float* units, int out, float* carried) {
  backward_tiles<kRows, kTiles>(in, outputs, FarWeights<kTiles>(weights, outputs, stride, 1, inputs), inputs, units,
                                out, carried);
}

// Computes the gradient of a layer's inputs [first, first + kUnitsAtOnce), whose values are `units` [input][kRows],
// from that of its outputs, in a panel. Writes it to columns of the same panel or, if not null, to `carried`
// [input][kRows].
template <int kRows>
__device__ __forceinline__ void dense_backward(const LayerWeights& weights, int panel, int first, const float* units,
                                               float* carried) {
  const DenseLayer& layer = weights.layer;
  const int inputs = min(kUnitsAtOnce, layer.inputs - first);
  const float* values = units + first * kRows;
  float* carry = carried == nullptr ? nullptr : carried + first * kRows;
  if (weights.near()) {
    const int stride = copy_stride(layer.inputs);
    const int from = weights.copy + layer.copy + first;
    if (inputs <= 24) {
      backward_near<kRows, 3>(panel, layer.outputs, from, stride, inputs, values, panel, carry);
    } else {
      backward_near<kRows, 4>(panel, layer.outputs, from, stride, inputs, values, panel, carry);
    }
  } else {
    const float* from = weights.parameters + layer.weight + first;
    if (inputs <= 24) {
      backward_far<kRows, 3>(panel, layer.outputs, from, layer.inputs, inputs, values, panel, carry);
    } else {
      backward_far<kRows, 4>(panel, layer.outputs, from, layer.inputs, inputs, values, panel, carry);
    }
  }
}

}  // namespace dissent::device
