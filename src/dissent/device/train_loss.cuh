// The loss of a tile and its gradient: heads, spline and Gaussian in one loop over outputs. Of the 22 parameters of
// each value's spline neither they nor their gradients ever leave the multiprocessor.
#pragma once

#include "dissent/device/cubic_spline.cuh"
#include "dissent/device/train_network.cuh"

namespace dissent::device {

constexpr float kLogStddevMin = -20;  // as kGaussian of the ensemble
constexpr float kLogStddevMax = 2;

// Heads [unit][2 kOutputsAtOnce] and their biases, then the conditioner's last layer, of outputs [first, first +
// count).
template <int kRows, int kFlowWidth>
struct LossWeights {
  int heads;  // offsets in shared memory
  int head_bias;
  int flow;  // [kSplineParams count][kFlowWidth]
  int flow_bias;

  __device__ __forceinline__ LossWeights(int at, int units) {
    heads = at;
    head_bias = heads + 2 * kOutputsAtOnce * units;
    flow = head_bias + 2 * kOutputsAtOnce;
    flow_bias = flow + kOutputsAtOnce * kSplineParams * kFlowWidth;
  }

  // count <= kOutputsAtOnce; what is loaded for others is not used.
  __device__ void load_all(const TrainJob& job, const Net<kRows>& base, const Net<kRows>& conditioner, int first,
                           int count) const {
    constexpr int kHeads = 2 * kOutputsAtOnce;
    const DenseLayer& head = base.heads();
    const int o = threadIdx.x % kHeads;
    const int output =
        min((o < kOutputsAtOnce ? first : job.num_outputs + first - kOutputsAtOnce) + o, 2 * job.num_outputs - 1);
    const float* from = base.parameters + head.weight + output * head.inputs;
    for (int i = threadIdx.x / kHeads; i < head.inputs; i += kRows / kHeads) {
      shared_floats()[heads + i * kHeads + o] = from[i];
    }
    if (threadIdx.x < kHeads) {
      shared_floats()[head_bias + o] = base.parameters[head.bias + output];
    }
    if constexpr (kFlowWidth > 0) {
      load_flow(job, conditioner, first, max(0, min(count, job.num_transformed - first)) * kSplineParams);
    }
  }

  __device__ void load_flow(const TrainJob& job, const Net<kRows>& conditioner, int first, int rows) const {
    const DenseLayer& last = conditioner.heads();
    const int begin = first * kSplineParams;
    const float* from = conditioner.parameters + last.weight + begin * last.inputs;
    const int size = rows * kFlowWidth;
    for (int e = threadIdx.x; e < size; e += kAhead * kRows) {
      float value[kAhead];
#pragma unroll
      for (int k = 0; k < kAhead; ++k) {
        const int at = e + k * kRows;
        const int i = at % kFlowWidth;
        value[k] = at < size && i < last.inputs ? from[at / kFlowWidth * last.inputs + i] : 0.0F;
      }
#pragma unroll
      for (int k = 0; k < kAhead; ++k) {
        if (e + k * kRows < size) {
          shared_floats()[flow + e + k * kRows] = value[k];
        }
      }
    }
    for (int e = threadIdx.x; e < rows; e += kRows) {
      shared_floats()[flow_bias + e] = conditioner.parameters[last.bias + begin + e];
    }
  }
};

// The row's units of the conditioner's last hidden layer, in registers, and the gradient with respect to them.
template <int kFlowWidth>
struct FlowUnits {
  float value[kFlowWidth];
  float grad[kFlowWidth];
};
template <>
struct FlowUnits<0> {};

// The spline of one output: raw parameters, value, gradient. Leaves the gradient of the parameters in
// block.columns.
template <int kRows, int kFlowWidth>
__device__ __forceinline__ SplineResult spline_output(const Block<kRows>& block, int weights, int biases, float y,
                                                      float bound, const SplinePull& pull,
                                                      FlowUnits<kFlowWidth>& units) {
  float raw[kSplineParams];
#pragma unroll
  for (int p = 0; p < kSplineParams; ++p) {
    const float4* w = reinterpret_cast<const float4*>(shared_floats() + weights + p * kFlowWidth);
    float sum = shared_floats()[biases + p];
#pragma unroll
    for (int q = 0; q < kFlowWidth / 4; ++q) {
      const float4 four = w[q];
      sum += four.x * units.value[4 * q];
      sum += four.y * units.value[4 * q + 1];
      sum += four.z * units.value[4 * q + 2];
      sum += four.w * units.value[4 * q + 3];
    }
    raw[p] = sum;
  }
  const SplineResult result = cubic_step<kSplineBins>(y, bound, pull, raw);
#pragma unroll
  for (int p = 0; p < kSplineParams; ++p) {
    const float grad = block.active ? raw[p] : 0.0F;
    Block<kRows>::at(block.columns, p) = grad;
    const float4* w = reinterpret_cast<const float4*>(shared_floats() + weights + p * kFlowWidth);
#pragma unroll
    for (int q = 0; q < kFlowWidth / 4; ++q) {
      const float4 four = w[q];
      units.grad[4 * q] += four.x * grad;
      units.grad[4 * q + 1] += four.y * grad;
      units.grad[4 * q + 2] += four.z * grad;
      units.grad[4 * q + 3] += four.w * grad;
    }
  }
  return result;
}

// Means and log-stddevs of some outputs of the row.
template <int kRows>
__device__ __forceinline__ void compute_heads(int weights, int biases, int region, int units,
                                              float (&heads)[2 * kOutputsAtOnce]) {
#pragma unroll
  for (int o = 0; o < 2 * kOutputsAtOnce; ++o) {
    heads[o] = shared_floats()[biases + o];
  }
  add_products<kRows, kOutputsAtOnce / 2>(region, units, weights, heads);
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
  product<kRows>(conditioner.region, last.inputs + 1, block.columns, kSplineParams, column, conditioner.add);
}

// The row's loss, summed over outputs. Gradients with respect to heads go to `head_gradients` [2 D][kRows], those of
// the conditioner's last layer to its gradient, those of its hidden units stay in `units`.
template <int kRows, int kFlowWidth>
__device__ __forceinline__ float loss_of_outputs(const Block<kRows>& block, const TrainJob& job, const Net<kRows>& base,
                                                 const Net<kRows>& conditioner, float scale,
                                                 FlowUnits<kFlowWidth>& units, float* head_gradients) {
  const DenseLayer& head = base.heads();
  const LossWeights<kRows, kFlowWidth> weights(block.weights, head.inputs);
  const int D = job.num_outputs;
  const float* targets = job.targets + static_cast<std::size_t>(block.source) * D;
  const ScratchColumn<kRows> own_gradients(head_gradients, 0);
  float loss = 0;
  float next = __ldg(targets);
  for (int first = 0; first < D; first += kOutputsAtOnce) {
    const int count = min(kOutputsAtOnce, D - first);
    __syncthreads();
    weights.load_all(job, base, conditioner, first, count);
    __syncthreads();
    float heads[2 * kOutputsAtOnce];
    compute_heads<kRows>(weights.heads, weights.head_bias, base.region, head.inputs, heads);
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
      if constexpr (kFlowWidth > 0) {
        if (output < job.num_transformed) {
          z = spline_output(block, weights.flow + k * kSplineParams * kFlowWidth, weights.flow_bias + k * kSplineParams,
                            y, job.tail_bound, {mean, precision * scale, -scale}, units);
          __syncwarp();
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

// The heads' weights, and the gradient with respect to the last hidden layer's units, which takes their place.
template <int kRows>
__device__ __forceinline__ void backward_heads(const Block<kRows>& block, const Net<kRows>& net, float* head_gradients,
                                               ScratchColumn<kRows> carried) {
  const DenseLayer& head = net.heads();
  const ScratchColumn<kRows> given(head_gradients, 0);
  for (int c = 0; c < head.outputs; c += kProductColumns) {
    const int count = min(kProductColumns, head.outputs - c);
    for (int m = 0; m < head.inputs + 1; m += kProductRows) {
      copy_ahead(
          count, [&](int k) { return given[c + k]; },
          [&](int k, float value) { Block<kRows>::at(block.columns, k) = value; });
      __syncwarp();
      if (m == 0) {
        dense_backward<kRows>(block.weights, head, net.parameters, c, count, block.columns, carried.data);
      }
      const ProductColumn column = by_outputs(head, net.gradient, c, m, static_cast<int>(threadIdx.x) % 32);
      call_product<kRows>(net.region + m * Block<kRows>::kStride, min(kProductRows, head.inputs + 1 - m), block.columns,
                          count, column.to, column.stride, column.own, column.apart, net.add);
    }
  }
  copy_ahead(
      head.inputs, [&](int i) { return Block<kRows>::at(net.region, i) > 0 ? carried[i] : 0.0F; },
      [&](int i, float value) { Block<kRows>::at(net.region, i) = value; });
  __syncwarp();
}

}  // namespace dissent::device
