// Layers forward and backward, of the warp's own rows (train_tensor.cuh). Weights are read where they are.
#pragma once

#include "dissent/device/train_tensor.cuh"

namespace dissent::device {

// What sums begin with: biases of the columns, or zero without any.
template <int kTiles>
__device__ __forceinline__ void begin_with(const float* biases, int columns, Sums<kTiles>& sums) {
#pragma unroll
  for (int n = 0; n < kTiles; ++n) {
#pragma unroll
    for (int e = 0; e < 2; ++e) {
      const float bias = biases != nullptr && sum_column(n, e) < columns ? biases[sum_column(n, e)] : 0.0F;
#pragma unroll
      for (int m = 0; m < 2; ++m) {
        sums.at[m][n][e] = bias;
        sums.at[m][n][e + 2] = bias;
      }
    }
  }
}

// each(sum, row, column) for all sums of the lane that are of use.
template <int kTiles, class Each>
__device__ __forceinline__ void for_sums(int columns, Sums<kTiles>& sums, const Each& each) {
#pragma unroll
  for (int n = 0; n < kTiles; ++n) {
#pragma unroll
    for (int e = 0; e < 4; ++e) {
      if (sum_column(n, e) < columns) {
#pragma unroll
        for (int m = 0; m < 2; ++m) {
          each(sums.at[m][n][e], sum_row(m, e), sum_column(n, e));
        }
      }
    }
  }
}

// A ReLU's way back.
template <int kTiles>
__device__ __forceinline__ void keep_where_positive(const Sums<kTiles>& units, Sums<kTiles>& sums) {
#pragma unroll
  for (int n = 0; n < kTiles; ++n) {
#pragma unroll
    for (int e = 0; e < 4; ++e) {
#pragma unroll
      for (int m = 0; m < 2; ++m) {
        sums.at[m][n][e] = units.at[m][n][e] > 0 ? sums.at[m][n][e] : 0.0F;
      }
    }
  }
}

// Puts the gradient with respect to units, in columns, in their place.
template <int kRows, int kTiles>
__device__ __forceinline__ void replace_units(int region, int count, Sums<kTiles>& grad) {
  for_sums(count, grad, [&](float sum, int row, int column) {
    float& unit = shared_floats()[region + column * Block<kRows>::kStride + row];
    unit = unit > 0 ? sum : 0.0F;
  });
  __syncwarp();
}

// Inputs of a layer that are in columns, to some of its outputs.
struct ForwardCall {
  int in;  // offset in shared memory
  int inputs;
  const float* weights;  // [outputs][by_output]
  int by_output;
  const float* biases;  // null: the sums are added to what is in `out`
  int out;              // may be `in`: nothing is stored before the end
  int outputs;
  bool relu;
  float* kept;  // the same in scratch memory; may be null
};

template <int kRows, int kTiles>
__device__ __noinline__ void forward_tiles(ForwardCall call) {
  constexpr int kStride = Block<kRows>::kStride;
  Sums<kTiles> sums;
  begin_with(call.biases, call.outputs, sums);
  if (call.biases == nullptr) {
    for_sums(call.outputs, sums,
             [&](float& sum, int row, int column) { sum = shared_floats()[call.out + column * kStride + row]; });
  }
  add_products<kRows, kTiles>(call.in, call.inputs, SumWeights<kTiles>(call.weights, 1, call.by_output, call.outputs),
                              sums);
  __syncwarp();
  for_sums(call.outputs, sums, [&](float sum, int row, int column) {
    const float value = call.relu && sum < 0 ? 0.0F : sum;
    shared_floats()[call.out + column * kStride + row] = value;
    if (call.kept != nullptr) {
      call.kept[column * kRows + row] = value;
    }
  });
  __syncwarp();
}

template <int kRows>
__device__ __forceinline__ void forward(const ForwardCall& call) {
  switch ((call.outputs + 7) / 8) {
    case 1:
      forward_tiles<kRows, 1>(call);
      break;
    case 2:
      forward_tiles<kRows, 2>(call);
      break;
    case 3:
      forward_tiles<kRows, 3>(call);
      break;
    default:
      forward_tiles<kRows, 4>(call);
      break;
  }
}

// Inputs [first, first + inputs) of a layer, in columns; the first bring the biases, the last the ReLU.
// kept: of all outputs, in scratch memory, or null.
template <int kRows>
__device__ __forceinline__ void dense_forward(const DenseLayer& layer, const float* parameters, int in, int first,
                                              int inputs, int out, float* kept) {
  const bool last = first + inputs == layer.inputs;
  for (int o = 0; o < layer.outputs; o += kUnitsAtOnce) {
    forward<kRows>({in, inputs, parameters + layer.weight + o * layer.inputs + first, layer.inputs,
                    first == 0 ? parameters + layer.bias + o : nullptr, out + o * Block<kRows>::kStride,
                    min(kUnitsAtOnce, layer.outputs - o), last, last && kept != nullptr ? kept + o * kRows : nullptr});
  }
}

// Outputs of a layer whose gradients are in columns, to the gradient of some of its inputs.
struct BackwardCall {
  int in;  // offset in shared memory
  int outputs;
  const float* weights;  // [outputs][by_output]
  int by_output;
  int inputs;
  const float* units;  // the inputs' values [..][by_unit]: the gradient is zero where they are ...
  int by_unit;
  int out;         // ... and goes here, which may be `in` ...
  float* carried;  // ... or into scratch memory, if this is not null
};

template <int kRows, int kTiles>
__device__ __noinline__ void backward_tiles(BackwardCall call) {
  Sums<kTiles> units;  // they may be far: asked for first
  for_sums(call.inputs, units,
           [&](float& unit, int row, int column) { unit = call.units[column * call.by_unit + row]; });
  Sums<kTiles> sums;
  begin_with(nullptr, 0, sums);
  add_products<kRows, kTiles>(call.in, call.outputs, SumWeights<kTiles>(call.weights, call.by_output, 1, call.inputs),
                              sums);
  __syncwarp();
  keep_where_positive(units, sums);
  for_sums(call.inputs, sums, [&](float sum, int row, int column) {
    if (call.carried != nullptr) {
      call.carried[column * kRows + row] = sum;
    } else {
      shared_floats()[call.out + column * Block<kRows>::kStride + row] = sum;
    }
  });
  __syncwarp();
}

template <int kRows>
__device__ __forceinline__ void backward(const BackwardCall& call) {
  switch ((call.inputs + 7) / 8) {
    case 1:
      backward_tiles<kRows, 1>(call);
      break;
    case 2:
      backward_tiles<kRows, 2>(call);
      break;
    case 3:
      backward_tiles<kRows, 3>(call);
      break;
    default:
      backward_tiles<kRows, 4>(call);
      break;
  }
}

}  // namespace dissent::device
