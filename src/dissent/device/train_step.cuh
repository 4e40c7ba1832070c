// The gradient of a batch, slice by slice and tile by tile.
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
// nets: the component's network and, with a flow, the conditioner; they and the job are in shared memory.
// A call, so that what a step has to remember does not take registers from what is done for each output.
template <int kRows, int kFlowWidth>
__device__ __noinline__ float tile_gradient(int base_units, int flow_units, float* scratch_memory, int count,
                                            std::uint32_t source, const TrainJob* job_at, const Net<kRows>* nets,
                                            float scale) {
  __builtin_assume(__isShared(job_at));
  __builtin_assume(__isShared(nets));
  const TrainJob& job = *job_at;
  const Block<kRows> block(base_units, flow_units, scratch_memory, count, source);
  constexpr int kNets = kFlowWidth > 0 ? 2 : 1;
  const Net<kRows>& base = nets[0];
  const Scratch<kRows> scratch(block.scratch, job, *base.layers_of);
#pragma unroll 1
  for (int n = 0; block.busy && n < kNets; ++n) {  // one program for both
    forward_hidden(block, job, nets[n], n == 0 ? block.base : block.flow);
  }
  Sums<kFlowWidth / 8> grad = {};
  const float loss = loss_of_outputs(block, job, base, nets[kNets - 1], scale, grad, scratch.head_gradients);
  if constexpr (kFlowWidth > 0) {
    if (block.busy) {
      replace_units(block.flow, nets[1].heads().inputs, grad);
    }
  }
  backward_heads(block, base, scratch.head_gradients);
#pragma unroll 1
  for (int n = 0; n < kNets; ++n) {
    backward_hidden(block, job, nets[n], n == 0 ? block.base : block.flow, scratch.carried);
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

// The hidden layers' parameters into their padded copy, if there is one.
template <int kRows>
__device__ __forceinline__ void fetch(const DenseNet& net, const float* parameters, int copy) {
  constexpr int kWarps = Block<kRows>::kWarps;
  constexpr int kRowsAhead = 4;
  if (copy < 0) {
    return;
  }
  __builtin_assume(__isGlobal(parameters));
#pragma unroll 1
  for (int l = 0; l + 1 < net.num_layers; ++l) {
    const DenseLayer& layer = net.layers[l];
    const int stride = copy_stride(layer.inputs);
#pragma unroll 1
    for (int i = lane_of_warp(); i <= layer.inputs; i += 32) {
      const bool bias = i == layer.inputs;
      const float* from = parameters + (bias ? layer.bias : layer.weight + i);
      const int step = bias ? 1 : layer.inputs;
      float* to = shared_floats() + copy + layer.copy + (bias ? rounded_up(i) : i);
#pragma unroll 1
      for (int o = warp_of_block(); o < layer.outputs; o += kRowsAhead * kWarps) {
        float value[kRowsAhead];
#pragma unroll
        for (int a = 0; a < kRowsAhead; ++a) {
          value[a] = from[min(o + a * kWarps, layer.outputs - 1) * step];
        }
#pragma unroll
        for (int a = 0; a < kRowsAhead; ++a) {
          if (o + a * kWarps < layer.outputs) {
            to[(o + a * kWarps) * stride] = value[a];
          }
        }
      }
    }
  }
}

// Where copies in shared memory are of what a step reads, or negative, and of what it adds to, or null.
struct Resident {
  int flow;
  int base;
  float* flow_gradient;
  float* base_gradient;
};

// A network's part of a gradient to where other blocks read it, or to what is there. Both by offsets of the flat block.
template <int kRows>
__device__ __forceinline__ void hand_over(const DenseNet& net, const float* from, float* to, bool add) {
#pragma unroll 4
  for (int k = net.begin + static_cast<int>(threadIdx.x); k < net.end; k += kRows) {
    to[k] = add ? to[k] + from[k] : from[k];
  }
}

// Where a slice forms its gradient, by offsets of the flat block, and what is there already.
struct Forming {
  float* flow;
  float* base;
  bool add_to_flow;
  bool add_to_base;
};

// The gradient of rows [begin, end) of a component's order, which are a slice's or none.
// Returns before + the sum of their losses.
template <int kRows, int kFlowWidth>
__device__ __forceinline__ double slice_gradient(const TrainMemory& memory, const TrainJob& job,
                                                 const DenseNet& network, Net<kRows>* nets, const std::uint32_t* order,
                                                 int begin, int end, float* scratch_memory, const Forming& forming,
                                                 const Resident& resident, float scale, double before, double* warps) {
  const int row = static_cast<int>(threadIdx.x);
  double loss = before;
  for (int first = begin; first == begin || first < end; first += kRows) {
    __syncthreads();
    if (row == 0) {
      const Scratch<kRows> scratch(scratch_memory, job, network);
      nets[0] = {
          &network, scratch.base, 0, job.parameters, resident.base, forming.base, first > begin || forming.add_to_base};
      if constexpr (kFlowWidth > 0) {
        nets[1] = {&job.conditioner, scratch.flow, job.num_outputs - job.num_transformed, job.parameters,
                   resident.flow,    forming.flow, first > begin || forming.add_to_flow};
      }
    }
    __syncthreads();
    const int count = min(kRows, end - first);
    const std::uint32_t source = order[row < count ? first + row : 0];
    const float own = tile_gradient<kRows, kFlowWidth>(memory.base_units, memory.flow_units, scratch_memory, count,
                                                       source, &job, nets, scale);
    loss = add_warps<kRows>(loss, own, warps);
  }
  return loss;
}

// The gradient of the batch of rows [begin, end), of the block's slices, and their share of the mean loss. Each slice
// is added up by itself and then to those before, as it is where slices have a block each. One tile is added where it
// goes.
template <int kRows, int kFlowWidth>
__device__ __forceinline__ void batch_gradient(const TrainMemory& memory, const TrainJob& job, DenseNet& network,
                                               Net<kRows>* nets, const Slices& own, int begin, int end,
                                               const Resident& resident, double* exchange, double* warps) {
  float* scratch_memory = job.scratch + static_cast<std::size_t>(own.number(own.begin)) * job.scratch_size;
  const float scale = 1.0F / (static_cast<float>(end - begin) * static_cast<float>(job.num_outputs));
  const int rows = slice_rows(end - begin, own.slices, job.tile_rows);
  const bool in_turn = job.num_components > job.members;
  float* gradient = own.gradient(job);
  fetch<kRows>(job.conditioner, job.parameters, resident.flow);
  for (int slice = own.begin; slice < own.end; ++slice) {
    const int first = min(end, begin + slice * rows);
    const int last = min(end, first + rows);
    const bool add = slice > own.begin;
    const bool apart = resident.base_gradient != nullptr || (add && (in_turn || last - first > job.tile_rows));
    double loss = 0;
    for (int c = own.member; c < job.num_components && (!add || first < last); c += job.members) {
      if (in_turn || (begin == 0 && slice == own.begin)) {
        __syncthreads();
        copy_words<kRows>(job.networks[c], network);
        __syncthreads();
      }
      if (in_turn || slice == own.begin) {
        fetch<kRows>(network, job.parameters, resident.base);
      }
      Forming forming{gradient, gradient, c > own.member || (add && !apart), add && !apart};
      if (resident.base_gradient != nullptr) {
        forming.flow = resident.flow_gradient - job.conditioner.begin;
        forming.base = resident.base_gradient - network.begin;
      } else if (apart) {
        forming.flow = forming.base = gradient + job.block_size;  // the next slice's, which no block has
      }
      loss = slice_gradient<kRows, kFlowWidth>(memory, job, network, nets, own.order(job, c), first, last,
                                               scratch_memory, forming, resident, scale, loss, warps);
      if (apart) {
        hand_over<kRows>(network, forming.base, gradient, add);
        if (c + job.members >= job.num_components) {
          hand_over<kRows>(job.conditioner, forming.flow, gradient, add);
        }
      }
    }
    if (threadIdx.x == 0) {
      exchange[2 * own.number(slice) + 1] = loss * static_cast<double>(scale);
    }
  }
}

}  // namespace dissent::device
