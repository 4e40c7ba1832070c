// The loss of a tile and its gradient: heads, spline and Gaussian in one loop over outputs. The 22 parameters of each
// value's spline and their gradients never leave the multiprocessor.
#pragma once

#include <type_traits>

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

// What the means and log-stddevs of a few outputs need first of the card's memory.
struct HeadLoads {
  float2 weights;  // of the lane's first two units
  float bias[2];   // of the lane's columns

  template <int kRows>
  __device__ __forceinline__ HeadLoads(const Net<kRows>& net, int first, int num_outputs) {
    const DenseLayer& head = net.heads();
    weights = head_weights(net, first, num_outputs).load(2 * (lane_of_warp() % 4), 0);
#pragma unroll
    for (int e = 0; e < 2; ++e) {
      bias[e] = net.parameters[head.bias + output(first, sum_column(0, e), num_outputs)];
    }
  }

  // Which of the 2 D outputs of the heads column n is: means, then log-stddevs.
  static __device__ __forceinline__ int output(int first, int n, int num_outputs) {
    return min((n < kOutputsAtOnce ? first : num_outputs + first - kOutputsAtOnce) + n, 2 * num_outputs - 1);
  }

  template <int kRows>
  static __device__ __forceinline__ FarWeights<1> head_weights(const Net<kRows>& net, int first, int num_outputs) {
    const DenseLayer& head = net.heads();
    FarWeights<1> weights(net.parameters + head.weight, head.inputs, 1, 0, 1);
    weights.column[0] = output(first, lane_of_warp() / 4, num_outputs) * head.inputs;
    return weights;
  }
};

// Computes means and log-stddevs of outputs [first, first + kOutputsAtOnce) into block.heads; those beyond the last are
// meaningless.
template <int kRows>
__device__ __forceinline__ void compute_heads(const Block<kRows>& block, const Net<kRows>& net, int first,
                                              int num_outputs, const HeadLoads& loaded) {
  static_assert(2 * kOutputsAtOnce == 8);
  const int inputs = net.heads().inputs;
  SumOperands<1, PanelColumns, FarWeights<1>> operands;
  operands.load_rows(block.base, inputs - 1, 0);
  operands.b[0] = loaded.weights;
  Sums<1> sums;
#pragma unroll
  for (int e = 0; e < 4; ++e) {
    sums.at[0][0][e] = sums.at[1][0][e] = loaded.bias[e % 2];
  }
  add_products(block.base, inputs, HeadLoads::head_weights(net, first, num_outputs), operands, sums);
  put_sums(block.heads, sums);
}

// The conditioner's last layer, with all that the loop over outputs needs of it.
struct SplineLayer {
  int inputs;  // units of the last hidden layer
  int bias;    // where biases begin, counted from the weights; likewise in the gradient
  const float* weight;
  float* gradient;
  bool add;

  template <int kRows>
  __device__ __forceinline__ explicit SplineLayer(const Net<kRows>& net)
      : inputs(net.heads().inputs),
        bias(net.heads().bias - net.heads().weight),
        weight(net.parameters + net.heads().weight),
        gradient(net.gradient + net.heads().weight),
        add(net.add) {}

  // Where the gradient of one output's parameters goes, for the lane's unit; the one after the last is the bias.
  __device__ __forceinline__ ProductColumn column(int output) const {
    const int first = output * kSplineParams;
    return lane_of_warp() == inputs ? ProductColumn{gradient + bias + first, 1}
                                    : ProductColumn{gradient + first * inputs + lane_of_warp(), inputs};
  }
};

// The weights of one output's spline parameters, in shared memory and in two planes: [parameter][kStride], with the
// biases in the column after the last, then zeros. All warps read them. Behind them are those of the next output on
// their way from the card's memory, as they are there: [parameter][inputs + 1].
template <int kRows, int kFlowWidth>
struct SplineWeights {
  static constexpr int kStride = stage_stride(kFlowWidth);
  static constexpr int kPlane = stage_size(kFlowWidth) / 2;
  static constexpr int kWarps = Block<kRows>::kWarps;

  // Calls each(p) for the warp's parameters p, in the lanes that have a column.
  template <class Each>
  static __device__ __forceinline__ void for_own(const SplineLayer& layer, const Each& each) {
    if (lane_of_warp() <= layer.inputs) {
#pragma unroll
      for (int k = 0; k < kSplineParams; k += kWarps) {
        if (warp_of_block() + k < kSplineParams) {
          each(warp_of_block() + k);
        }
      }
    }
  }

  static __device__ __forceinline__ float* raw(const Block<kRows>& block, const SplineLayer& layer, int parameter) {
    return shared_floats() + block.stage + stage_size(kFlowWidth) + parameter * raw_stride(layer.inputs) +
           lane_of_warp();
  }

  // Sends for those of an output, ...
  static __device__ __forceinline__ void expect(const Block<kRows>& block, const SplineLayer& layer, int output) {
    const bool bias = lane_of_warp() == layer.inputs;
    const float* const from = layer.weight + (bias ? layer.bias : lane_of_warp());
    const int step = bias ? 1 : layer.inputs;
    for_own(layer, [&](int p) {
      const auto to = static_cast<std::uint32_t>(__cvta_generic_to_shared(raw(block, layer, p)));
      asm volatile("cp.async.ca.shared.global [%0], [%1], 4;" ::"r"(to), "l"(from + (output * kSplineParams + p) * step)
                   : "memory");
    });
  }

  // ... and puts them in their place. Each thread splits what it has sent for.
  static __device__ __forceinline__ void put(const Block<kRows>& block, const SplineLayer& layer) {
    asm volatile("cp.async.wait_all;" ::: "memory");
    for_own(layer, [&](int p) {
      const Split parts = split(*raw(block, layer, p));
      float* to = shared_floats() + block.stage + p * kStride + lane_of_warp();
      to[0] = __uint_as_float(parts.high);
      to[kPlane] = __uint_as_float(parts.low);
    });
  }
};

// The gradients of one output's spline parameters, in block.columns.
using SplineGradients = SplitColumns<kSplineParams>;

// Where sums over the conditioner's last hidden units and the bias find them: in a panel or, in roomy blocks, split.
template <int kRows, bool kRoomy, int kFlowWidth>
struct UnitColumns : std::conditional_t<kRoomy, SplitColumns<kFlowWidth>, PanelColumns> {
  static __device__ __forceinline__ int at(const Block<kRows>& block) { return kRoomy ? block.units : block.flow; }

  // Once they are known.
  static __device__ __forceinline__ void prepare(const Block<kRows>& block, int count) {
    if constexpr (kRoomy) {
#pragma unroll 4
      for (int k = 0; k < count; ++k) {
        SplitColumns<kFlowWidth>::put(block.units, k, own_row(block.flow, k));
      }
      __syncwarp();
    }
  }
};

// The spline of one output: raw parameters, value, gradient. Leaves the gradient of the parameters in block.columns, in
// two parts, and adds that of the conditioner's last hidden units to `grad`. pull: zero if the thread has no row.
template <int kRows, bool kRoomy, int kTiles>
__device__ __forceinline__ SplineResult spline_output(const Block<kRows>& block, int inputs, float y, float bound,
                                                      const SplinePull& pull, Sums<kTiles>& grad) {
  using Weights = SplineWeights<kRows, 8 * kTiles>;
  Sums<kSplineTiles> sums;
  using Units = UnitColumns<kRows, kRoomy, 8 * kTiles>;
  few_products<kTiles, Units>(Units::at(block), inputs + 1,
                              SplitWeights<kSplineTiles, Weights::kStride, Weights::kPlane, false>(block.stage), sums);
  put_sums(block.columns, sums);
  float raw[kSplineParams];
#pragma unroll
  for (int p = 0; p < kSplineParams; ++p) {
    raw[p] = own_row(block.columns, p);
  }
  __syncwarp();  // other lanes have read what was there
  const SplineResult result = cubic_step<kSplineBins>(
      y, bound, pull, raw, [&](int p, float value) { SplineGradients::put(block.columns, p, value); });
  __syncwarp();
  Sums<kTiles> part;
  few_products<kSplineTiles, SplineGradients>(
      block.columns, kSplineParams, SplitWeights<kTiles, Weights::kStride, Weights::kPlane, true>(block.stage), part);
  add_sums(part, grad);
  return result;
}

// The gradient of the conditioner's last layer for one output, from that of the spline's parameters in block.columns.
// Calls between() when all warps have done with the output's weights; what it writes is there afterwards.
template <int kRows, bool kRoomy, int kTiles, class Between>
__device__ __forceinline__ void spline_gradient(const Block<kRows>& block, const SplineLayer& layer, int output,
                                                const Between& between) {
  using Units = UnitColumns<kRows, kRoomy, 8 * kTiles>;
  product<kRows, 2, kTiles, SplineGradients, Units, kSplineParams>(
      block.columns, block.panels, block.busy, block.columns, kSplineParams, Units::at(block), layer.inputs + 1,
      layer.column(output), layer.add, between);
}

// The row's loss, summed over outputs. Gradients with respect to heads go to `head_gradients` [2 D][kRows], those of
// the conditioner's last layer to its gradient, those of its last hidden units to `grad`.
template <int kRows, bool kRoomy, int kTiles>
__device__ __forceinline__ float loss_of_outputs(const Block<kRows>& block, const TrainJob& job, const Net<kRows>& base,
                                                 const Net<kRows>& conditioner, float scale, Sums<kTiles>& grad,
                                                 float* head_gradients) {
  const int D = job.num_outputs;
  const float* targets = job.targets + static_cast<std::size_t>(block.source) * D;
  const ScratchColumn<kRows> own_gradients(head_gradients);
  using Weights = SplineWeights<kRows, 8 * kTiles>;
  [[maybe_unused]] const SplineLayer layer(conditioner);
  if constexpr (kTiles > 0) {
    Weights::expect(block, layer, 0);
    if (block.busy) {
      UnitColumns<kRows, kRoomy, 8 * kTiles>::prepare(block, layer.inputs + 1);
    }
    Weights::put(block, layer);
    __syncthreads();
  }
  float loss = 0;
  HeadLoads ahead(base, 0, D);
  for (int first = 0; first < D; first += kOutputsAtOnce) {
    const int count = min(kOutputsAtOnce, D - first);
    float own[kOutputsAtOnce];  // targets: under way while the heads are computed
#pragma unroll
    for (int k = 0; k < kOutputsAtOnce; ++k) {
      own[k] = __ldg(targets + min(first + k, D - 1));
    }
    if (block.busy) {
      compute_heads(block, base, first, D, ahead);
    }
    ahead = HeadLoads(base, min(first + kOutputsAtOnce, D - 1), D);
#pragma unroll 1
    for (int k = 0; k < count; ++k) {
      const int output = first + k;
      const float y = own[0];
#pragma unroll
      for (int n = 1; n < kOutputsAtOnce; ++n) {
        own[n - 1] = own[n];
      }
      const float mean = own_row(block.heads, k);
      const float raw = own_row(block.heads, kOutputsAtOnce + k);
      const float log_stddev = raw < kLogStddevMin ? kLogStddevMin : (raw > kLogStddevMax ? kLogStddevMax : raw);
      const float precision = quick_exp(-2 * log_stddev);
      SplineResult z{y, 0};
      if constexpr (kTiles > 0) {
        if (output < job.num_transformed) {
          const bool more = output + 1 < job.num_transformed;
          if (more) {
            Weights::expect(block, layer, output + 1);
          }
          if (block.busy) {
            const float own_scale = block.active ? scale : 0.0F;
            z = spline_output<kRows, kRoomy, kTiles>(block, layer.inputs, y, job.tail_bound,
                                                     {mean, precision * own_scale, -own_scale}, grad);
          }
          spline_gradient<kRows, kRoomy, kTiles>(block, layer, output, [&] {
            if (more) {
              Weights::put(block, layer);
            }
          });
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
