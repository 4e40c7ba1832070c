// A network's way through a tile: its hidden layers forward, and the gradients of their weights.
//
// The last hidden layer's units stay in shared memory; those of the others are kept in scratch memory for the way back.
#pragma once

#include "dissent/device/train_layer.cuh"
#include "dissent/device/train_product.cuh"

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
  __device__ __forceinline__ float* units(int l) const {
    int before = 0;
    for (int k = 0; k < l; ++k) {
      before += layers_of->layers[k].outputs;
    }
    return scratch + before * kRows;
  }
};

// Columns [first, first + count) of the warp's 32 rows of a row-major matrix, into block.columns: four rows and eight
// columns at a time.
template <int kRows>
__device__ __noinline__ void gather_columns(int to, std::uint32_t own_row, const float* data, int width, int count) {
  const int lane = threadIdx.x % 32;
  const int begin = to + static_cast<int>(threadIdx.x) - lane + lane % 4;
  __syncwarp();  // other lanes have read what was there
  if (count < 8) {
    const float* own = data + static_cast<std::size_t>(own_row) * width;
    copy_ahead(
        count, [&](int c) { return __ldg(own + c); }, [&](int c, float value) { Block<kRows>::at(to, c) = value; });
    __syncwarp();
    return;
  }
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

// Inputs [first, first + count) of the first layer: kept targets, then inputs of the model.
template <int kRows>
__device__ __forceinline__ void gather_inputs(const Block<kRows>& block, const TrainJob& job, const Net<kRows>& net,
                                              int first, int count) {
  const int targets = max(0, min(count, net.kept - first));
  if (targets > 0) {
    gather_columns<kRows>(block.columns, block.source, job.targets + job.num_transformed + first, job.num_outputs,
                          targets);
  }
  if (targets < count) {
    gather_columns<kRows>(block.columns + targets * Block<kRows>::kStride, block.source,
                          job.inputs + (first + targets - net.kept), job.num_inputs, count - targets);
  }
}

template <int kRows>
__device__ __forceinline__ void first_layer(const Block<kRows>& block, const TrainJob& job, const Net<kRows>& net) {
  const DenseLayer& layer = net.hidden(0);
  float* kept = net.num_hidden() > 1 ? net.scratch : nullptr;
  for (int c = 0; c < layer.inputs; c += kProductColumns) {
    const int count = min(kProductColumns, layer.inputs - c);
    gather_inputs(block, job, net, c, count);
    dense_forward<kRows>(layer, net.parameters, block.columns, c, count, net.region, kept);
  }
}

// Puts the units of layer l into the region in place of those of layer l - 1.
template <int kRows>
__device__ __forceinline__ void next_layer(const Block<kRows>& block, const Net<kRows>& net, int l) {
  const DenseLayer& layer = net.hidden(l);
  float* kept = l + 1 < net.num_hidden() ? net.units(l) : nullptr;
  if (layer.outputs <= kUnitsAtOnce) {  // all sums at once: in place
    dense_forward<kRows>(layer, net.parameters, net.region, 0, layer.inputs, net.region, kept);
    return;
  }
  const ScratchColumn<kRows> units(net.units(l - 1));
  for (int c = 0; c < layer.inputs; c += kProductColumns) {
    const int count = min(kProductColumns, layer.inputs - c);
    copy_ahead(
        count, [&](int k) { return units[c + k]; },
        [&](int k, float value) { Block<kRows>::at(block.columns, k) = value; });
    __syncwarp();
    dense_forward<kRows>(layer, net.parameters, block.columns, c, count, net.region, kept);
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
    if (block.busy) {
      fill();
    }
    call_product<kRows>(net.region + o * Block<kRows>::kStride, min(kProductRows, layer.outputs - o), block.columns,
                        count, by_inputs(layer, net.gradient, o, first, static_cast<int>(threadIdx.x) % 32), net.add,
                        block.busy);
  }
}

// Inputs of the first layer and, last, the bias's.
template <int kRows>
__device__ __forceinline__ void first_layer_gradient(const Block<kRows>& block, const TrainJob& job,
                                                     const Net<kRows>& net) {
  const int inputs = net.hidden(0).inputs;
  for (int c = 0; c < inputs + 1; c += kProductColumns) {
    const int count = min(kProductColumns, inputs + 1 - c);
    weight_gradient(block, net, 0, c, count, [&] {
      gather_inputs(block, job, net, c, min(count, inputs - c));
      if (c + count == inputs + 1) {
        Block<kRows>::at(block.columns, count - 1) = 1;
      }
      __syncwarp();
    });
  }
}

template <int kRows>
__device__ __forceinline__ void hidden_layer_gradient(const Block<kRows>& block, const Net<kRows>& net, int l) {
  const int inputs = net.hidden(l).inputs;
  const ScratchColumn<kRows> units(net.units(l - 1));
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

// From the gradient with respect to the units of layer l, in the region, to that of layer l - 1 in its place.
template <int kRows>
__device__ __forceinline__ void previous_layer(const Net<kRows>& net, int l, float* carried) {
  const DenseLayer& layer = net.hidden(l);
  const float* weights = net.parameters + layer.weight;
  const float* units = net.units(l - 1);
  const bool at_once = layer.inputs <= kUnitsAtOnce;
  for (int i = 0; i < layer.inputs; i += kUnitsAtOnce) {
    backward<kRows>({net.region, layer.outputs, weights + i, layer.inputs, min(kUnitsAtOnce, layer.inputs - i),
                     units + i * kRows, kRows, net.region, at_once ? nullptr : carried + i * kRows});
  }
  if (!at_once) {
    const ScratchColumn<kRows> own(carried);
    copy_ahead(
        layer.inputs, [&](int i) { return own[i]; },
        [&](int i, float value) { Block<kRows>::at(net.region, i) = value; });
    __syncwarp();
  }
}

// From the gradient with respect to the last hidden layer's units, in the region, to that of all weights below.
template <int kRows>
__device__ __forceinline__ void backward_hidden(const Block<kRows>& block, const TrainJob& job, const Net<kRows>& net,
                                                float* carried) {
  for (int l = net.num_hidden() - 1; l > 0; --l) {
    hidden_layer_gradient(block, net, l);
    if (block.busy) {
      previous_layer(net, l, carried);
    }
  }
  first_layer_gradient(block, job, net);
}

}  // namespace dissent::device
