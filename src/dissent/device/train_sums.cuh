// Layers forward and backward: sums over inputs, for one row a thread, with weights from shared memory that all threads
// read alike, four at a time.
#pragma once

#include "dissent/device/train_block.cuh"

namespace dissent::device {

// What a sum begins with and how it ends.
enum SumFlags : int {
  kFromBiases = 1,  // begins with biases, which stand behind the weights
  kAdds = 2,        // begins with what is there
  kRelu = 4,        // ends with a ReLU
};

// Behind the weights of kUnitsAtOnce outputs for kInputsAtOnce inputs.
constexpr int kBiases = kInputsAtOnce * kUnitsAtOnce;

// sum[o] += weights[i][o] in[i]: `in` and `weights` are offsets in shared memory.
template <int kRows, int kQuads>
__device__ __forceinline__ void add_products(int in, int inputs, int weights, float (&sum)[4 * kQuads]) {
  constexpr int kStride = Block<kRows>::kStride;
  const float* x = shared_floats() + in + static_cast<int>(threadIdx.x);
  const float4* w = reinterpret_cast<const float4*>(shared_floats() + weights);
#pragma unroll 4
  for (int i = 0; i < inputs; ++i) {
    const float value = x[i * kStride];
#pragma unroll
    for (int q = 0; q < kQuads; ++q) {
      const float4 four = w[i * kQuads + q];
      sum[4 * q] += four.x * value;
      sum[4 * q + 1] += four.y * value;
      sum[4 * q + 2] += four.z * value;
      sum[4 * q + 3] += four.w * value;
    }
  }
}

// From columns in shared memory to columns in shared memory, which may be the same: nothing is stored before the end.
template <int kRows, int kQuads>
__device__ __noinline__ void sum_quads(int in, int inputs, int weights, int out, int outputs, int flags) {
  float sum[4 * kQuads];
#pragma unroll
  for (int o = 0; o < 4 * kQuads; ++o) {
    sum[o] = 0;
    if (o < outputs && (flags & (kFromBiases | kAdds)) != 0) {
      sum[o] = (flags & kFromBiases) != 0 ? shared_floats()[weights + kBiases + o] : Block<kRows>::at(out, o);
    }
  }
  add_products<kRows, kQuads>(in, inputs, weights, sum);
#pragma unroll
  for (int o = 0; o < 4 * kQuads; ++o) {
    if (o < outputs) {
      Block<kRows>::at(out, o) = (flags & kRelu) != 0 && sum[o] < 0 ? 0.0F : sum[o];
    }
  }
}

// To columns in scratch memory.
template <int kRows, int kQuads>
__device__ __noinline__ void sum_quads_out(int in, int inputs, int weights, float* out, int outputs, int flags) {
  float sum[4 * kQuads];
#pragma unroll
  for (int o = 0; o < 4 * kQuads; ++o) {
    sum[o] = o < outputs && (flags & kAdds) != 0 ? out[o * kRows] : 0.0F;
  }
  add_products<kRows, kQuads>(in, inputs, weights, sum);
#pragma unroll
  for (int o = 0; o < 4 * kQuads; ++o) {
    if (o < outputs) {
      out[o * kRows] = sum[o];
    }
  }
}

template <int kRows>
__device__ __forceinline__ void sum_columns(int in, int inputs, int weights, int out, int outputs, int flags) {
  switch ((outputs + 3) / 4) {
    case 1:
      sum_quads<kRows, 1>(in, inputs, weights, out, outputs, flags);
      break;
    case 2:
      sum_quads<kRows, 2>(in, inputs, weights, out, outputs, flags);
      break;
    case 3:
      sum_quads<kRows, 3>(in, inputs, weights, out, outputs, flags);
      break;
    case 4:
      sum_quads<kRows, 4>(in, inputs, weights, out, outputs, flags);
      break;
    case 5:
      sum_quads<kRows, 5>(in, inputs, weights, out, outputs, flags);
      break;
    case 6:
      sum_quads<kRows, 6>(in, inputs, weights, out, outputs, flags);
      break;
    case 7:
      sum_quads<kRows, 7>(in, inputs, weights, out, outputs, flags);
      break;
    default:
      sum_quads<kRows, 8>(in, inputs, weights, out, outputs, flags);
      break;
  }
}

template <int kRows>
__device__ __forceinline__ void sum_columns_out(int in, int inputs, int weights, float* out, int outputs, int flags) {
  switch ((outputs + 7) / 8) {
    case 1:
      sum_quads_out<kRows, 2>(in, inputs, weights, out, outputs, flags);
      break;
    case 2:
      sum_quads_out<kRows, 4>(in, inputs, weights, out, outputs, flags);
      break;
    case 3:
      sum_quads_out<kRows, 6>(in, inputs, weights, out, outputs, flags);
      break;
    default:
      sum_quads_out<kRows, 8>(in, inputs, weights, out, outputs, flags);
      break;
  }
}

// Weights in shared memory for sums over inputs: [inputs][width], of `width` outputs from `from` on; zeros beyond the
// `real` ones.
template <int kRows>
__device__ __forceinline__ void stage_forward(const float* from, int layer_inputs, int inputs, int real, int width,
                                              int to) {
  constexpr int kWarps = Block<kRows>::kWarps;
  float* out = shared_floats() + to;
  for (int i = threadIdx.x % 32; i < inputs; i += 32) {
    for (int o = threadIdx.x / 32; o < width; o += kAhead * kWarps) {
      float value[kAhead];
#pragma unroll
      for (int k = 0; k < kAhead; ++k) {
        const int at = o + k * kWarps;
        value[k] = at < real ? from[at * layer_inputs + i] : 0.0F;
      }
#pragma unroll
      for (int k = 0; k < kAhead; ++k) {
        const int at = o + k * kWarps;
        if (at < width) {
          out[i * width + at] = value[k];
        }
      }
    }
  }
}

// The same for sums over outputs: [outputs][width], of `width` inputs.
template <int kRows>
__device__ __forceinline__ void stage_backward(const float* from, int layer_inputs, int outputs, int real, int width,
                                               int to) {
  constexpr int kWarps = Block<kRows>::kWarps;
  float* out = shared_floats() + to;
  const int lane = threadIdx.x % 32;
  if (lane < width) {
    for (int o = threadIdx.x / 32; o < outputs; o += kAhead * kWarps) {
      float value[kAhead];
#pragma unroll
      for (int k = 0; k < kAhead; ++k) {
        const int at = o + k * kWarps;
        value[k] = at < outputs && lane < real ? from[at * layer_inputs + lane] : 0.0F;
      }
#pragma unroll
      for (int k = 0; k < kAhead; ++k) {
        const int at = o + k * kWarps;
        if (at < outputs) {
          out[at * width + lane] = value[k];
        }
      }
    }
  }
}

// Inputs [first, first + inputs) of a layer, at most kInputsAtOnce, in columns; the first bring the biases, the last
// the ReLU.
template <int kRows>
__device__ __noinline__ void dense_forward(int weights, const DenseLayer& layer, const float* parameters, int in,
                                           int first, int inputs, int out) {
  const int flags = (first == 0 ? kFromBiases : kAdds) | (first + inputs == layer.inputs ? kRelu : 0);
  for (int o = 0; o < layer.outputs; o += kUnitsAtOnce) {
    const int outputs = min(kUnitsAtOnce, layer.outputs - o);
    __syncthreads();
    if (first == 0 && static_cast<int>(threadIdx.x) < outputs) {
      shared_floats()[weights + kBiases + threadIdx.x] = parameters[layer.bias + o + threadIdx.x];
    }
    stage_forward<kRows>(parameters + layer.weight + o * layer.inputs + first, layer.inputs, inputs, outputs,
                         (outputs + 3) / 4 * 4, weights);
    __syncthreads();
    sum_columns<kRows>(in, inputs, weights, out + o * Block<kRows>::kStride, outputs, flags);
  }
}

// From the gradient of outputs [first, first + outputs), at most kInputsAtOnce, to that of all inputs, in scratch
// memory.
template <int kRows>
__device__ __noinline__ void dense_backward(int weights, const DenseLayer& layer, const float* parameters, int first,
                                            int outputs, int grad_out, float* grad_in) {
  for (int i = 0; i < layer.inputs; i += kUnitsAtOnce) {
    const int some = min(kUnitsAtOnce, layer.inputs - i);
    __syncthreads();
    stage_backward<kRows>(parameters + layer.weight + first * layer.inputs + i, layer.inputs, outputs, some,
                          (some + 7) / 8 * 8, weights);
    __syncthreads();
    sum_columns_out<kRows>(grad_out, outputs, weights, grad_in + i * kRows, some, first > 0 ? kAdds : 0);
  }
}

}  // namespace dissent::device
