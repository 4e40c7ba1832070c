// A network's way through a tile: its hidden layers forward, and the gradients of their weights.
//
// The last hidden layer's units stay in shared memory; those of the others are kept in scratch memory for the way back.
#pragma once

#include "dissent/device/train_product.cuh"
#include "dissent/device/train_sums.cuh"

namespace dissent::device {

template <int kRows>
struct Net {
  const DenseNet* layers_of;
  int region;               // of the last hidden layer's units, later of gradients: an offset in shared memory
  float* scratch;           // units of the other hidden layers, [..][kRows]
  int kept;                 // targets that come before the inputs
  const float* parameters;  // by offsets of the flat block, wherever they are ...
  float* gradient;          // ... and so the gradient
  bool add;                 // to the gradient that is there

  __device__ __forceinline__ int num_hidden() const { return layers_of->num_layers - 1; }
  __device__ __forceinline__ const DenseLayer& hidden(int l) const { return layers_of->layers[l]; }
  __device__ __forceinline__ const DenseLayer& heads() const { return layers_of->layers[layers_of->num_layers - 1]; }
  // Units of a hidden layer but the last.
  __device__ __forceinline__ ScratchColumn<kRows> units(int l) const {
    int before = 0;
    for (int k = 0; k < l; ++k) {
      before += layers_of->layers[k].outputs;
    }
    return {scratch, before};
  }
};

// Columns [first, first + count) of the warp's 32 rows of a row-major matrix, into block.columns: four rows and eight
// columns at a time.
template <int kRows>
__device__ __noinline__ void gather_columns(int to, std::uint32_t own_row, const float* data, int width, int count) {
  const int lane = threadIdx.x % 32;
  const int begin = to + static_cast<int>(threadIdx.x) - lane + lane % 4;
  __syncwarp();  // other lanes have read what was there
  const float* from[8];
#pragma unroll
  for (int k = 0; k < 8; ++k) {
    const std::uint32_t row = __shfl_sync(0xffffffffU, own_row, 4 * k + lane % 4);
    from[k] = data + static_cast<std::size_t>(row) * width;
  }
  for (int c = lane / 4; c < count; c += 8) {
    float value[8];
#pragma unroll
    for (int k = 0; k < 8; ++k) {
      value[k] = __ldg(from[k] + c);
    }
#pragma unroll
    for (int k = 0; k < 8; ++k) {
      shared_floats()[begin + c * Block<kRows>::kStride + 4 * k] = value[k];
    }
  }
  __syncwarp();
}

template <int kRows>
__device__ __forceinline__ void first_layer(const Block<kRows>& block, const TrainJob& job, const Net<kRows>& net) {
  for (int c = 0; c < net.kept; c += kProductColumns) {
    const int count = min(kProductColumns, net.kept - c);
    gather_columns<kRows>(block.columns, block.source, job.targets + job.num_transformed + c, job.num_outputs, count);
    dense_forward<kRows>(block.weights, net.hidden(0), net.parameters, block.columns, c, count, net.region);
  }
  for (int c = 0; c < job.num_inputs; c += kProductColumns) {
    const int count = min(kProductColumns, job.num_inputs - c);
    gather_columns<kRows>(block.columns, block.source, job.inputs + c, job.num_inputs, count);
    dense_forward<kRows>(block.weights, net.hidden(0), net.parameters, block.columns, net.kept + c, count, net.region);
  }
}

// Keeps the units of layer l - 1, which are in the region, and puts those of layer l in their place.
template <int kRows>
__device__ __forceinline__ void next_layer(const Block<kRows>& block, const Net<kRows>& net, int l) {
  const DenseLayer& layer = net.hidden(l);
  const ScratchColumn<kRows> units = net.units(l - 1);
  for (int i = 0; i < layer.inputs; ++i) {
    units[i] = Block<kRows>::at(net.region, i);
  }
  if (layer.inputs <= kInputsAtOnce && layer.outputs <= kUnitsAtOnce) {  // all sums at once: in place
    dense_forward<kRows>(block.weights, layer, net.parameters, net.region, 0, layer.inputs, net.region);
    return;
  }
  for (int c = 0; c < layer.inputs; c += kProductColumns) {
    const int count = min(kProductColumns, layer.inputs - c);
    copy_ahead(
        count, [&](int k) { return units[c + k]; },
        [&](int k, float value) { Block<kRows>::at(block.columns, k) = value; });
    dense_forward<kRows>(block.weights, layer, net.parameters, block.columns, c, count, net.region);
  }
}

template <int kRows>
__device__ __forceinline__ void forward_hidden(const Block<kRows>& block, const TrainJob& job, const Net<kRows>& net) {
  first_layer(block, job, net);
  for (int l = 1; l < net.num_hidden(); ++l) {
    next_layer(block, net, l);
  }
  Block<kRows>::at(net.region, net.heads().inputs) = 1;  // the bias's input
  __syncwarp();
}

// The gradient of weights whose inputs, from number `first` on, fill() puts into block.columns.
template <int kRows, class Fill>
__device__ __forceinline__ void weight_gradient(const Block<kRows>& block, const Net<kRows>& net, int l, int first,
                                                int count, const Fill& fill) {
  const DenseLayer& layer = net.hidden(l);
  for (int o = 0; o < layer.outputs; o += kProductRows) {
    fill();
    const ProductColumn column = by_inputs(layer, net.gradient, o, first, static_cast<int>(threadIdx.x) % 32);
    call_product<kRows>(net.region + o * Block<kRows>::kStride, min(kProductRows, layer.outputs - o), block.columns,
                        count, column.to, column.stride, column.own, column.apart, net.add);
  }
}

// Inputs of the first layer: kept targets, inputs and, last, the bias's.
template <int kRows>
__device__ __forceinline__ void first_layer_gradient(const Block<kRows>& block, const TrainJob& job,
                                                     const Net<kRows>& net) {
  const int total = net.hidden(0).inputs + 1;
  for (int c = 0; c < total;) {
    const bool in_targets = c < net.kept;
    const int end = in_targets ? net.kept : total;
    const int count = min(kProductColumns, end - c);
    const bool last = c + count == total;
    weight_gradient(block, net, 0, c, count, [&] {
      const float* from = in_targets ? job.targets + job.num_transformed + c : job.inputs + (c - net.kept);
      gather_columns<kRows>(block.columns, block.source, from, in_targets ? job.num_outputs : job.num_inputs,
                            last ? count - 1 : count);
      if (last) {
        Block<kRows>::at(block.columns, count - 1) = 1;
        __syncwarp();
      }
    });
    c += count;
  }
}

template <int kRows>
__device__ __forceinline__ void hidden_layer_gradient(const Block<kRows>& block, const Net<kRows>& net, int l) {
  const int inputs = net.hidden(l).inputs;
  const ScratchColumn<kRows> units = net.units(l - 1);
  for (int c = 0; c < inputs + 1; c += kProductColumns) {
    const int count = min(kProductColumns, inputs + 1 - c);
    weight_gradient(block, net, l, c, count, [&] {
      copy_ahead(
          min(count, inputs - c), [&](int k) { return units[c + k]; },
          [&](int k, float value) { Block<kRows>::at(block.columns, k) = value; });
      if (c + count == inputs + 1) {
        Block<kRows>::at(block.columns, count - 1) = 1;
      }
      __syncwarp();
    });
  }
}

// From the gradient with respect to the last hidden layer's units, in the region, to that of all weights below.
template <int kRows>
__device__ __forceinline__ void backward_hidden(const Block<kRows>& block, const TrainJob& job, const Net<kRows>& net,
                                                ScratchColumn<kRows> carried) {
  for (int l = net.num_hidden() - 1; l > 0; --l) {
    const DenseLayer& layer = net.hidden(l);
    hidden_layer_gradient(block, net, l);
    for (int o = 0; o < layer.outputs; o += kInputsAtOnce) {
      dense_backward<kRows>(block.weights, layer, net.parameters, o, min(kInputsAtOnce, layer.outputs - o),
                            net.region + o * Block<kRows>::kStride, carried.data);
    }
    const ScratchColumn<kRows> units = net.units(l - 1);
    copy_ahead(
        layer.inputs, [&](int i) { return units[i] > 0 ? carried[i] : 0.0F; },
        [&](int i, float value) { Block<kRows>::at(net.region, i) = value; });
    __syncwarp();
  }
  first_layer_gradient(block, job, net);
}

}  // namespace dissent::device
