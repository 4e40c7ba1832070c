// The loss of a tile and its gradient: heads, spline and Gaussian in one loop over outputs. The 22 parameters of each
// value's spline and their gradients never leave the multiprocessor.
#pragma once

#include "dissent/device/cubic_spline.cuh"
#include "dissent/device/train_network.cuh"

namespace dissent::device {

constexpr float kLogStddevMin = -20;  // as kGaussian of the ensemble
constexpr float kLogStddevMax = 2;

constexpr int kSplineTiles = (kSplineParams + 7) / 8;

// Stores sums in columns of a panel.
template <int kTiles>
__device__ __forceinline__ void put_sums(int panel, Sums<kTiles>& sums) {
  __syncwarp();  // other lanes have read what was there
  for_sums(8 * kTiles, sums,
           [&](float sum, int row, int column) { shared_floats()[panel + column * kPanelStride + row] = sum; });
  __syncwarp();
}

// Computes means and log-stddevs of outputs [first, first + kOutputsAtOnce) into block.heads; those beyond the last are
// meaningless.
template <int kRows>
__device__ __forceinline__ void compute_heads(const Block<kRows>& block, const Net<kRows>& net, int first,
                                              int num_outputs) {
  static_assert(2 * kOutputsAtOnce == 8);
  const DenseLayer& head = net.heads();
  const auto output = [&](int n) {
    return min((n < kOutputsAtOnce ? first : num_outputs + first - kOutputsAtOnce) + n, 2 * num_outputs - 1);
  };
  FarWeights<1> weights(net.parameters + head.weight, head.inputs, 1, 0, 1);
  weights.column[0] = output(lane_of_warp() / 4) * head.inputs;
  Sums<1> sums;
  for_sums(8, sums, [&](float& sum, int, int column) { sum = net.parameters[head.bias + output(column)]; });
  add_products<1>(block.base, head.inputs, weights, sums);
  put_sums(block.heads, sums);
}

// The weights of one output's spline parameters, in shared memory and in two parts: [parameter][kStride], with the
// biases in the column after the last, then zeros. All warps read them.
template <int kRows, int kFlowWidth>
struct SplineWeights {
  static constexpr int kStride = stage_stride(kFlowWidth);
  static constexpr int kWarps = Block<kRows>::kWarps;

  static __device__ __forceinline__ int place(const Block<kRows>& block, int output) {
    return block.stage + output % 2 * stage_size(kFlowWidth);
  }

  // Calls each(k, from) for parameters k + the warp's number, with k = 0, kWarps, ..., in the lane's column; from:
  // where the number is.
  template <class Each>
  static __device__ __forceinline__ void for_own(const Net<kRows>& net, int output, const Each& each) {
    const DenseLayer& last = net.heads();
    const int lane = lane_of_warp();
    const int row = output * kSplineParams + warp_of_block();
    const bool bias = lane == last.inputs;
    const float* from = net.parameters + (bias ? last.bias + row : last.weight + row * last.inputs + lane);
    const int step = kWarps * (bias ? 1 : last.inputs);
    __builtin_assume(__isGlobal(from));
    if (lane <= last.inputs) {
#pragma unroll
      for (int k = 0; k < kSplineParams; k += kWarps) {
        if (warp_of_block() + k < kSplineParams) {
          each(k, from);
        }
        from += step;
      }
    }
  }

  // Prefetches them, ...
  static __device__ __forceinline__ void expect(const Net<kRows>& net, int output) {
    for_own(net, output, [](int, const float* from) { asm volatile("prefetch.global.L1 [%0];" ::"l"(from)); });
  }

  // ... and puts them in their place.
  static __device__ __forceinline__ void put(const Block<kRows>& block, const Net<kRows>& net, int output) {
    float* to = shared_floats() + place(block, output) + 2 * (warp_of_block() * kStride + lane_of_warp());
    for_own(net, output, [&](int k, const float* from) {
      const Split parts = split(*from);
      *reinterpret_cast<float2*>(to + 2 * k * kStride) = {__uint_as_float(parts.high), __uint_as_float(parts.low)};
    });
  }
};

// The spline of one output: raw parameters, value, gradient. Leaves the gradient of the parameters in block.columns and
// adds that of the conditioner's last hidden units to `grad`.
template <int kRows, int kTiles>
__device__ __forceinline__ SplineResult spline_output(const Block<kRows>& block, const Net<kRows>& net, int output,
                                                      float y, float bound, const SplinePull& pull,
                                                      Sums<kTiles>& grad) {
  using Weights = SplineWeights<kRows, 8 * kTiles>;
  const int weights = Weights::place(block, output);
  Sums<kSplineTiles> sums;
  few_products<kTiles>(block.flow, net.heads().inputs + 1, PairWeights<kSplineTiles, Weights::kStride, false>(weights),
                       sums);
  put_sums(block.columns, sums);
  float raw[kSplineParams];
#pragma unroll
  for (int p = 0; p < kSplineParams; ++p) {
    raw[p] = own_row(block.columns, p);
  }
  const SplineResult result = cubic_step<kSplineBins>(y, bound, pull, raw);
#pragma unroll
  for (int p = 0; p < kSplineParams; ++p) {
    own_row(block.columns, p) = block.active ? raw[p] : 0.0F;
  }
  __syncwarp();
  Sums<kTiles> part;
  few_products<kSplineTiles>(block.columns, kSplineParams, PairWeights<kTiles, Weights::kStride, true>(weights), part);
  add_sums(part, grad);
  return result;
}

// The gradient of the conditioner's last layer for one output, from that of the spline's parameters in block.columns.
template <int kRows, int kTiles>
__device__ __forceinline__ void spline_gradient(const Block<kRows>& block, const Net<kRows>& conditioner, int output) {
  const DenseLayer& last = conditioner.heads();
  product<kRows, 2, kTiles>(
      block.columns, block.panels, block.busy, block.columns, kSplineParams, block.flow, last.inputs + 1,
      layer_column(last, conditioner.gradient, output * kSplineParams, 0, lane_of_warp()), conditioner.add);
}

// The row's loss, summed over outputs. Gradients with respect to heads go to `head_gradients` [2 D][kRows], those of
// the conditioner's last layer to its gradient, those of its last hidden units to `grad`.
template <int kRows, int kTiles>
__device__ __forceinline__ float loss_of_outputs(const Block<kRows>& block, const TrainJob& job, const Net<kRows>& base,
                                                 const Net<kRows>& conditioner, float scale, Sums<kTiles>& grad,
                                                 float* head_gradients) {
  const int D = job.num_outputs;
  const float* targets = job.targets + static_cast<std::size_t>(block.source) * D;
  const ScratchColumn<kRows> own_gradients(head_gradients);
  using Weights = SplineWeights<kRows, 8 * kTiles>;
  if constexpr (kTiles > 0) {
    Weights::put(block, conditioner, 0);
    __syncthreads();
  }
  float loss = 0;
  float next = __ldg(targets);
  for (int first = 0; first < D; first += kOutputsAtOnce) {
    const int count = min(kOutputsAtOnce, D - first);
    if (block.busy) {
      compute_heads(block, base, first, D);
    }
#pragma unroll 1
    for (int k = 0; k < count; ++k) {
      const int output = first + k;
      const float y = next;
      next = __ldg(targets + min(output + 1, D - 1));
      const float mean = own_row(block.heads, k);
      const float raw = own_row(block.heads, kOutputsAtOnce + k);
      const float log_stddev = raw < kLogStddevMin ? kLogStddevMin : (raw > kLogStddevMax ? kLogStddevMax : raw);
      const float precision = quick_exp(-2 * log_stddev);
      SplineResult z{y, 0};
      if constexpr (kTiles > 0) {
        if (output < job.num_transformed) {
          const bool more = output + 1 < job.num_transformed;
          if (more) {
            Weights::expect(conditioner, output + 1);
          }
          if (block.busy) {
            z = spline_output<kRows, kTiles>(block, conditioner, output, y, job.tail_bound,
                                             {mean, precision * scale, -scale}, grad);
          }
          if (more) {
            Weights::put(block, conditioner, output + 1);
          }
          spline_gradient<kRows, kTiles>(block, conditioner, output);
        }
      }
      const float residual = mean - z.value;
      const float scaled = residual * precision;
      const float square = residual * scaled;
      loss += 0.5F * square + log_stddev - z.log_slope;
      own_gradients[output] = block.active ? scaled * scale : 0.0F;
      own_gradients[D + output] = block.active && raw == log_stddev ? (1 - square) * scale : 0.0F;
    }
  }
  return block.active ? loss : 0.0F;
}

// Copies some of the heads' gradients into block.columns.
template <int kRows>
__device__ __forceinline__ void fill_heads(const Block<kRows>& block, const ScratchColumn<kRows>& given, int first,
                                           int count) {
  __syncwarp();  // other lanes have read what was there
  copy_ahead(
      count, [&](int k) { return given[first + k]; }, [&](int k, float value) { own_row(block.columns, k) = value; });
  __syncwarp();
}

// Replaces kUnitsAtOnce of the last hidden layer's units with the gradient with respect to them.
template <int kRows>
__device__ __forceinline__ void units_gradient(const Block<kRows>& block, const Net<kRows>& net,
                                               const ScratchColumn<kRows>& given, int first) {
  constexpr int kTiles = kUnitsAtOnce / 8;
  const DenseLayer& head = net.heads();
  const int inputs = min(kUnitsAtOnce, head.inputs - first);
  Sums<kTiles> sums;
  set_zero(sums);
#pragma unroll 1
  for (int c = 0; c < head.outputs; c += kProductColumns) {
    const int count = min(kProductColumns, head.outputs - c);
    fill_heads(block, given, c, count);
    const float* weights = net.parameters + head.weight + c * head.inputs + first;
    add_products<kTiles>(block.columns, count, FarWeights<kTiles>(weights, count, head.inputs, 1, inputs), sums);
  }
  replace_units(block.base + first * kPanelStride, inputs, sums);
}

// Computes the gradient of the heads' weights, and replaces the last hidden layer's units with the gradient with
// respect to them.
template <int kRows>
__device__ __forceinline__ void backward_heads(const Block<kRows>& block, const Net<kRows>& net,
                                               float* head_gradients) {
  const DenseLayer& head = net.heads();
  const ScratchColumn<kRows> given(head_gradients);
#pragma unroll 1
  for (int c = 0; c < head.outputs; c += kProductRows) {
    const int count = min(kProductRows, head.outputs - c);
#pragma unroll 1
    for (int m = 0; m < head.inputs + 1; m += kProductColumns) {
      if (block.busy) {
        fill_heads(block, given, c, count);
      }
      any_product(block, block.columns, count, block.base + m * kPanelStride, min(kProductColumns, head.inputs + 1 - m),
                  layer_column(head, net.gradient, c, m, lane_of_warp()), net.add);
    }
  }
#pragma unroll 1
  for (int i = 0; block.busy && i < head.inputs; i += kUnitsAtOnce) {
    units_gradient(block, net, given, i);
  }
}

}  // namespace dissent::device
