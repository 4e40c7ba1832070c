// A network on a tile: its hidden layers forward, and the gradients of their weights.
//
// The last hidden layer's units stay in shared memory; scratch memory keeps those of the others for the way back.
#pragma once

#include "dissent/device/train_layer.cuh"
#include "dissent/device/train_product.cuh"

namespace dissent::device {

template <int kRows>
struct Net {
  std::uint32_t layers_at;  // in shared memory: nvcc miscompiles a loaded pointer that is assumed to be there
  float* scratch;           // units of the other hidden layers, [..][kRows]
  int kept;                 // targets that come before the inputs
  const float* parameters;  // by offsets in the flat block
  int copy;                 // of the hidden layers, in shared memory; negative: none
  float* gradient;          // by offsets in the flat block, wherever it is
  bool add;                 // to the gradient that is there

  __device__ __forceinline__ const DenseNet& layers() const {
    return *static_cast<const DenseNet*>(__cvta_shared_to_generic(layers_at));
  }
  __device__ __forceinline__ int num_hidden() const { return layers().num_layers - 1; }
  __device__ __forceinline__ const DenseLayer& hidden(int l) const { return layers().layers[l]; }
  __device__ __forceinline__ const DenseLayer& heads() const { return layers().layers[layers().num_layers - 1]; }
  __device__ __forceinline__ LayerWeights weights(int l) const { return {hidden(l), parameters, copy}; }
  // Units of a hidden layer other than the last.
  __device__ __forceinline__ float* units(int l) const {
    int before = 0;
#pragma unroll 1
    for (int k = 0; k < l; ++k) {
      before += rounded_up(layers().layers[k].outputs);
    }
    return scratch + before * kRows;
  }
};

// Copies the first `count` columns, at most kProductColumns, of the warp's 32 rows of a row-major matrix into a panel,
// four rows and eight columns at a time. All are asked for before the first is waited for.
template <int kRows>
__device__ __noinline__ void gather_columns(int to, std::uint32_t row_of_lane, const float* data, int width,
                                            int count) {
  const int lane = lane_of_warp();
  __syncwarp();  // other lanes have read what was there
  if (count < 8) {
    const float* own = data + static_cast<std::size_t>(row_of_lane) * width;
#pragma unroll 2
    for (int c = 0; c < count; ++c) {
      own_row(to, c) = __ldg(own + c);
    }
    __syncwarp();
    return;
  }
  const float* from[8];
#pragma unroll
  for (int k = 0; k < 8; ++k) {
    const std::uint32_t row = __shfl_sync(0xffffffffU, row_of_lane, 4 * k + lane % 4);
    from[k] = data + static_cast<std::size_t>(row) * width;
  }
  constexpr int kGroups = kProductColumns / 8;
  float value[kGroups][8];
#pragma unroll
  for (int g = 0; g < kGroups; ++g) {
    const int c = lane / 4 + 8 * g;
#pragma unroll
    for (int k = 0; k < 8; ++k) {
      value[g][k] = c < count ? __ldg(from[k] + c) : 0.0F;
    }
  }
#pragma unroll
  for (int g = 0; g < kGroups; ++g) {
    const int c = lane / 4 + 8 * g;
#pragma unroll
    for (int k = 0; k < 8; ++k) {
      if (c < count) {
        shared_floats()[to + c * kPanelStride + lane % 4 + 4 * k] = value[g][k];
      }
    }
  }
  __syncwarp();
}

// Copies inputs [first, first + count) of the first layer into block.columns: kept targets, then inputs of the model.
// The one after the last is the bias.
template <int kRows>
__device__ __forceinline__ void gather_inputs(const Block<kRows>& block, const TrainJob& job, const Net<kRows>& net,
                                              int first, int count) {
  const int inputs = min(count, net.hidden(0).inputs - first);
  const int targets = max(0, min(inputs, net.kept - first));
  if (targets > 0) {
    gather_columns<kRows>(block.columns, block.source, job.targets + job.num_transformed + first, job.num_outputs,
                          targets);
  }
  if (targets < inputs) {
    gather_columns<kRows>(block.columns + targets * kPanelStride, block.source,
                          job.inputs + (first + targets - net.kept), job.num_inputs, inputs - targets);
  }
  if (inputs < count) {
    own_row(block.columns, inputs) = 1;
  }
  __syncwarp();
}

// Likewise for units [first, first + count) of hidden layer l, which is not the last.
template <int kRows>
__device__ __forceinline__ void recall_units(const Block<kRows>& block, const Net<kRows>& net, int l, int first,
                                             int count) {
  const ScratchColumn<kRows> units(net.units(l));
  const int own = min(count, net.hidden(l).outputs - first);
  __syncwarp();  // other lanes have read what was there
  copy_ahead(
      own, [&](int k) { return units[first + k]; }, [&](int k, float value) { own_row(block.columns, k) = value; });
  if (own < count) {
    own_row(block.columns, own) = 1;
  }
  __syncwarp();
}

// Computes the units of the last hidden layer into the panel `region`, with one more for the bias; those of the others
// also go to scratch memory.
template <int kRows>
__device__ __forceinline__ void forward_hidden(const Block<kRows>& block, const TrainJob& job, const Net<kRows>& net,
                                               int region) {
  const int hidden = net.num_hidden();
#pragma unroll 1
  for (int l = 0; l < hidden; ++l) {
    const LayerWeights weights = net.weights(l);
    const int columns = weights.layer.inputs;
    float* kept = l + 1 < hidden ? net.units(l) : nullptr;
    const bool in_place = l > 0 && weights.layer.outputs <= kUnitsAtOnce;  // all sums at once
    const int most = in_place ? columns : kProductColumns;
#pragma unroll 1
    for (int c = 0; c < columns; c += most) {
      const int count = min(most, columns - c);
      if (l == 0) {
        gather_inputs(block, job, net, c, count);
      } else if (!in_place) {
        recall_units(block, net, l - 1, c, count);
      }
      dense_forward<kRows>(weights, in_place ? region : block.columns, c, count, region, kept);
    }
    own_row(region, weights.layer.outputs) = 1;
    __syncwarp();
  }
}

// The gradient of layer l's weights, from the gradient with respect to its units in the region.
template <int kRows>
__device__ __forceinline__ void layer_gradient(const Block<kRows>& block, const TrainJob& job, const Net<kRows>& net,
                                               int region, int l) {
  const DenseLayer& layer = net.hidden(l);
#pragma unroll 1
  for (int c = 0; c < layer.inputs + 1; c += kProductColumns) {
    const int count = min(kProductColumns, layer.inputs + 1 - c);
#pragma unroll 1
    for (int o = 0; o < layer.outputs; o += kProductRows) {
      if (block.busy && l == 0) {
        gather_inputs(block, job, net, c, count);
      } else if (block.busy) {
        recall_units(block, net, l - 1, c, count);
      }
      any_product(block, region + o * kPanelStride, min(kProductRows, layer.outputs - o), block.columns, count,
                  layer_column(layer, net.gradient, o, c, lane_of_warp()), net.add);
    }
  }
}

// Replaces the gradient with respect to the units of layer l, in the region, with that of layer l - 1.
template <int kRows>
__device__ __forceinline__ void previous_layer(const Net<kRows>& net, int region, int l, float* carried) {
  const LayerWeights weights = net.weights(l);
  const int inputs = weights.layer.inputs;
  const bool at_once = inputs <= kUnitsAtOnce;
#pragma unroll 1
  for (int i = 0; i < inputs; i += kUnitsAtOnce) {
    dense_backward<kRows>(weights, region, i, net.units(l - 1), at_once ? nullptr : carried);
  }
  if (!at_once) {
    const ScratchColumn<kRows> own(carried);
    copy_ahead(
        inputs, [&](int i) { return own[i]; }, [&](int i, float value) { own_row(region, i) = value; });
    __syncwarp();
  }
}

// Computes the gradient of all weights below from the gradient with respect to the last hidden layer's units, in the
// region.
template <int kRows>
__device__ __forceinline__ void backward_hidden(const Block<kRows>& block, const TrainJob& job, const Net<kRows>& net,
                                                int region, float* carried) {
#pragma unroll 1
  for (int l = net.num_hidden() - 1; l >= 0; --l) {
    layer_gradient(block, job, net, region, l);
    if (block.busy && l > 0) {
      previous_layer(net, region, l, carried);
    }
  }
}

}  // namespace dissent::device
