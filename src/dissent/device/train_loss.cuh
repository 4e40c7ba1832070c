// The loss of a tile and its gradient: heads, spline and Gaussian in one loop over outputs. Of the 22 parameters of
// each value's spline neither they nor their gradients ever leave the multiprocessor.
#pragma once

#include "dissent/device/cubic_spline.cuh"
#include "dissent/device/train_network.cuh"

namespace dissent::device {

constexpr float kLogStddevMin = -20;  // as kGaussian of the ensemble
constexpr float kLogStddevMax = 2;

constexpr int kSplineTiles = (kSplineParams + 7) / 8;

// Sums over a network's last hidden units, which are in its region, into block.columns.
template <int kRows, int kTiles>
__device__ __forceinline__ void sum_to_columns(const Block<kRows>& block, const Net<kRows>& net,
                                               const SumWeights<kTiles>& weights, Sums<kTiles>& sums) {
  add_products<kRows, kTiles>(net.region, net.heads().inputs, weights, sums);
  __syncwarp();  // other lanes have read what was there
  for_sums(8 * kTiles, sums, [&](float sum, int row, int column) {
    shared_floats()[block.columns + column * Block<kRows>::kStride + row] = sum;
  });
  __syncwarp();
}

// Means and log-stddevs of outputs [first, first + kOutputsAtOnce) of the row; those beyond the last are of no use.
template <int kRows>
__device__ __forceinline__ void compute_heads(const Block<kRows>& block, const Net<kRows>& net, int first,
                                              int num_outputs, float (&heads)[2 * kOutputsAtOnce]) {
  static_assert(2 * kOutputsAtOnce == 8);
  const DenseLayer& head = net.heads();
  const auto output = [&](int n) {
    return min((n < kOutputsAtOnce ? first : num_outputs + first - kOutputsAtOnce) + n, 2 * num_outputs - 1);
  };
  SumWeights<1> weights(net.parameters + head.weight, 1, 0, 1);
  weights.column[0] = output(static_cast<int>(threadIdx.x) % 32 / 4) * head.inputs;
  Sums<1> sums;
#pragma unroll
  for (int e = 0; e < 4; ++e) {
    sums.at[0][0][e] = net.parameters[head.bias + output(sum_column(0, e))];
    sums.at[1][0][e] = sums.at[0][0][e];
  }
  sum_to_columns<kRows, 1>(block, net, weights, sums);
#pragma unroll
  for (int o = 0; o < 2 * kOutputsAtOnce; ++o) {
    heads[o] = Block<kRows>::at(block.columns, o);
  }
  __syncwarp();
}

// The spline of one output: raw parameters, value, gradient. Leaves the gradient of the parameters in block.columns and
// adds that of the conditioner's last hidden units to `grad`.
template <int kRows, int kTiles>
__device__ __forceinline__ SplineResult spline_output(const Block<kRows>& block, const Net<kRows>& net, int output,
                                                      float y, float bound, const SplinePull& pull,
                                                      Sums<kTiles>& grad) {
  const DenseLayer& last = net.heads();
  const float* weights = net.parameters + last.weight + output * kSplineParams * last.inputs;
  Sums<kSplineTiles> sums;
  begin_with(net.parameters + last.bias + output * kSplineParams, kSplineParams, sums);
  sum_to_columns<kRows, kSplineTiles>(block, net, SumWeights<kSplineTiles>(weights, 1, last.inputs, kSplineParams),
                                      sums);
  float raw[kSplineParams];
#pragma unroll
  for (int p = 0; p < kSplineParams; ++p) {
    raw[p] = Block<kRows>::at(block.columns, p);
  }
  const SplineResult result = cubic_step<kSplineBins>(y, bound, pull, raw);
#pragma unroll
  for (int p = 0; p < kSplineParams; ++p) {
    Block<kRows>::at(block.columns, p) = block.active ? raw[p] : 0.0F;
  }
  __syncwarp();
  add_products<kRows, kTiles>(block.columns, kSplineParams, SumWeights<kTiles>(weights, last.inputs, 1, last.inputs),
                              grad);
  return result;
}

__device__ __forceinline__ float pick(const float (&values)[2 * kOutputsAtOnce], int first, int k) {
  const float low = k == 0 ? values[first] : values[first + 1];
  const float high = k == 2 ? values[first + 2] : values[first + 3];
  return k < 2 ? low : high;
}

// The gradient of the conditioner's last layer, of one output: that of its parameters is in block.columns.
template <int kRows>
__device__ __forceinline__ void spline_gradient(const Block<kRows>& block, const Net<kRows>& conditioner, int output) {
  const DenseLayer& last = conditioner.heads();
  const ProductColumn column =
      by_outputs(last, conditioner.gradient, output * kSplineParams, 0, static_cast<int>(threadIdx.x) % 32);
  if (last.inputs < 16) {
    product<kRows, 1, kSplineTiles>(conditioner.region, last.inputs + 1, block.columns, kSplineParams, column,
                                    conditioner.add, block.busy);
  } else {
    product<kRows, 2, kSplineTiles>(conditioner.region, last.inputs + 1, block.columns, kSplineParams, column,
                                    conditioner.add, block.busy);
  }
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
  float loss = 0;
  float next = __ldg(targets);
  for (int first = 0; first < D; first += kOutputsAtOnce) {
    const int count = min(kOutputsAtOnce, D - first);
    float heads[2 * kOutputsAtOnce] = {};
    if (block.busy) {
      compute_heads(block, base, first, D, heads);
    }
#pragma unroll 1
    for (int k = 0; k < count; ++k) {
      const int output = first + k;
      const float y = next;
      next = __ldg(targets + min(output + 1, D - 1));
      const float mean = pick(heads, 0, k);
      const float raw = pick(heads, kOutputsAtOnce, k);
      const float log_stddev = raw < kLogStddevMin ? kLogStddevMin : (raw > kLogStddevMax ? kLogStddevMax : raw);
      const float precision = quick_exp(-2 * log_stddev);
      SplineResult z{y, 0};
      if constexpr (kTiles > 0) {
        if (output < job.num_transformed) {
          if (block.busy) {
            z = spline_output<kRows, kTiles>(block, conditioner, output, y, job.tail_bound,
                                             {mean, precision * scale, -scale}, grad);
          }
          spline_gradient(block, conditioner, output);
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

// Some of the heads' gradients, into block.columns.
template <int kRows>
__device__ __forceinline__ void fill_heads(const Block<kRows>& block, const ScratchColumn<kRows>& given, int first,
                                           int count) {
  __syncwarp();  // other lanes have read what was there
  copy_ahead(
      count, [&](int k) { return given[first + k]; },
      [&](int k, float value) { Block<kRows>::at(block.columns, k) = value; });
  __syncwarp();
}

// The gradient with respect to kUnitsAtOnce of the last hidden layer's units, which takes their place.
template <int kRows, int kTiles>
__device__ __noinline__ void units_gradient(const Block<kRows>& block, const Net<kRows>& net, float* head_gradients,
                                            int first) {
  const DenseLayer& head = net.heads();
  const ScratchColumn<kRows> given(head_gradients);
  const int inputs = min(8 * kTiles, head.inputs - first);
  Sums<kTiles> sums;
  begin_with(nullptr, 0, sums);
  for (int c = 0; c < head.outputs; c += kProductColumns) {
    const int count = min(kProductColumns, head.outputs - c);
    fill_heads(block, given, c, count);
    const float* weights = net.parameters + head.weight + c * head.inputs + first;
    add_products<kRows, kTiles>(block.columns, count, SumWeights<kTiles>(weights, head.inputs, 1, inputs), sums);
  }
  replace_units<kRows, kTiles>(net.region + first * Block<kRows>::kStride, inputs, sums);
}

// The heads' weights, and the gradient with respect to the last hidden layer's units, which takes their place.
template <int kRows>
__device__ __forceinline__ void backward_heads(const Block<kRows>& block, const Net<kRows>& net,
                                               float* head_gradients) {
  const DenseLayer& head = net.heads();
  const ScratchColumn<kRows> given(head_gradients);
  for (int c = 0; c < head.outputs; c += kProductColumns) {
    const int count = min(kProductColumns, head.outputs - c);
    for (int m = 0; m < head.inputs + 1; m += kProductRows) {
      if (block.busy) {
        fill_heads(block, given, c, count);
      }
      call_product<kRows>(net.region + m * Block<kRows>::kStride, min(kProductRows, head.inputs + 1 - m), block.columns,
                          count, by_outputs(head, net.gradient, c, m, static_cast<int>(threadIdx.x) % 32), net.add,
                          block.busy);
    }
  }
  for (int i = 0; block.busy && i < head.inputs; i += kUnitsAtOnce) {
    if (head.inputs - i <= 24) {
      units_gradient<kRows, 3>(block, net, head_gradients, i);
    } else {
      units_gradient<kRows, 4>(block, net, head_gradients, i);
    }
  }
}

}  // namespace dissent::device
