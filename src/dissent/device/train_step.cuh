// The gradient of a batch, tile by tile, of the components of a block.
#pragma once

#include "dissent/device/train_loss.cuh"
#include "dissent/device/train_update.cuh"

namespace dissent::device {

// Floats of a block's scratch, in columns of kRows: units of all but the last hidden layers, gradients of heads, and
// one more layer on its way back.
template <int kRows>
struct Scratch {
  float* flow;
  float* base;
  float* head_gradients;
  float* carried;

  __device__ __forceinline__ Scratch(float* at, const TrainJob& job, const DenseNet& net) {
    flow = at;
    base = flow + kept_units(job.conditioner) * kRows;
    head_gradients = base + kept_units(net) * kRows;
    carried = head_gradients + 2 * job.num_outputs * kRows;
  }
};

// Adds the gradient of some rows of a batch; returns the row's loss.
// nets: the component's network and, with a flow, the conditioner, in shared memory.
template <int kRows, int kFlowWidth>
__device__ __forceinline__ float tile_gradient(const Block<kRows>& block, const TrainJob& job, const Net<kRows>* nets,
                                               float scale) {
  constexpr int kNets = kFlowWidth > 0 ? 2 : 1;
  const Net<kRows>& base = nets[0];
  const Net<kRows>& flow = nets[kNets - 1];
  const Scratch<kRows> scratch(block.scratch, job, *base.layers_of);
#pragma unroll 1
  for (int n = 0; block.busy && n < kNets; ++n) {  // one program for both
    forward_hidden(block, job, nets[n]);
  }
  Sums<kFlowWidth / 8> grad = {};
  const float loss = loss_of_outputs(block, job, base, flow, scale, grad, scratch.head_gradients);
  if constexpr (kFlowWidth > 0) {
    if (block.busy) {
      replace_units<kRows>(flow.region, flow.heads().inputs, grad);
    }
  }
#pragma unroll 1
  for (int n = kNets - 1; n >= 0; --n) {
    if (n == 0) {
      backward_heads(block, base, scratch.head_gradients);
    }
    backward_hidden(block, job, nets[n], scratch.carried);
  }
  return loss;
}

// Into shared memory.
template <int kRows, class T>
__device__ __forceinline__ void copy_words(const T& from, T& to) {
  static_assert(sizeof(T) % sizeof(int) == 0);
  const int* source = reinterpret_cast<const int*>(&from);
  for (int k = threadIdx.x; k < static_cast<int>(sizeof(T) / sizeof(int)); k += kRows) {
    reinterpret_cast<int*>(&to)[k] = source[k];
  }
}

// Copies [begin, end) of a block to `to`, if that is anywhere; where its offsets begin then.
template <int kRows>
__device__ __forceinline__ const float* fetch(const float* parameters, int begin, int end, float* to) {
  if (to == nullptr) {
    return parameters;
  }
  for (int k = begin + static_cast<int>(threadIdx.x); k < end; k += kAhead * kRows) {
    float value[kAhead];
#pragma unroll
    for (int a = 0; a < kAhead; ++a) {
      value[a] = k + a * kRows < end ? parameters[k + a * kRows] : 0.0F;
    }
#pragma unroll
    for (int a = 0; a < kAhead; ++a) {
      if (k + a * kRows < end) {
        to[k - begin + a * kRows] = value[a];
      }
    }
  }
  return to - begin;
}

// Copies in shared memory of what a step reads and adds to, where they fit: else null.
struct Resident {
  float* flow_parameters;
  float* base_parameters;
  float* flow_gradient;
  float* base_gradient;
};

// The gradient of one batch, of the components of this block; the sum of their mean losses.
template <int kRows, int kFlowWidth>
__device__ __forceinline__ double batch_gradient(Block<kRows> block, const TrainJob& job, DenseNet& network,
                                                 Net<kRows>* nets, int rank, int group, int begin, int end,
                                                 const Resident& resident, double* warps) {
  float* gradient = job.gradient + static_cast<std::size_t>(rank) * job.block_size;
  const DenseNet& conditioner = job.conditioner;
  const float scale = 1.0F / (static_cast<float>(end - begin) * static_cast<float>(job.num_outputs));
  const int tiles = (end - begin + kRows - 1) / kRows;
  const int rows = ((end - begin + tiles - 1) / tiles + 31) / 32 * 32;  // whole warps, about as many each time
  const float* flow_parameters =
      fetch<kRows>(job.parameters, conditioner.begin, conditioner.end, resident.flow_parameters);
  const int row = static_cast<int>(threadIdx.x);
  double loss = 0;
  for (int c = rank; c < job.num_components; c += group) {
    const std::uint32_t* order = job.orders + static_cast<std::size_t>(c) * job.num_rows;
    if (begin == 0 || job.num_components > group) {
      __syncthreads();
      copy_words<kRows>(job.networks[c], network);
      __syncthreads();
    }
    const float* base_parameters = fetch<kRows>(job.parameters, network.begin, network.end, resident.base_parameters);
    for (int first = begin; first < end; first += rows) {
      __syncthreads();
      if (row == 0) {
        const Scratch<kRows> scratch(block.scratch, job, network);
        nets[0] = {
            &network,        block.base,
            scratch.base,    0,
            base_parameters, resident.base_gradient != nullptr ? resident.base_gradient - network.begin : gradient,
            first > begin};
        if constexpr (kFlowWidth > 0) {
          nets[1] = {&job.conditioner,
                     block.flow,
                     scratch.flow,
                     job.num_outputs - job.num_transformed,
                     flow_parameters,
                     resident.flow_gradient != nullptr ? resident.flow_gradient - conditioner.begin : gradient,
                     first > begin || c > rank};
        }
      }
      __syncthreads();
      const int count = min(rows, end - first);
      block.active = row < count;
      block.busy = row / 32 * 32 < count;
      block.source = order[first + (block.active ? row : 0)];
      loss = add_warps<kRows>(loss, tile_gradient<kRows, kFlowWidth>(block, job, nets, scale), warps);
    }
  }
  if (resident.flow_gradient != nullptr) {  // for the others
    for (int k = conditioner.begin + static_cast<int>(threadIdx.x); k < conditioner.end; k += kRows) {
      gradient[k] = resident.flow_gradient[k - conditioner.begin];
    }
  }
  return loss * static_cast<double>(scale);
}

}  // namespace dissent::device
