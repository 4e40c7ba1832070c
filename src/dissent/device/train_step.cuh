// The gradient of a batch, slice by slice and tile by tile.
#pragma once

#include "dissent/device/train_loss.cuh"
#include "dissent/device/train_update.cuh"

namespace dissent::device {

// Floats of a block's scratch, in columns of kRows: units of all hidden layers but the last, gradients of heads, and
// one more layer on the way back.
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

// Adds the gradient of some rows of a batch; returns the loss of the thread's row.
// nets: the component's network and, with a flow, the conditioner; they and the job are in shared memory.
// Not inlined, so that what a step must remember does not take registers from the work on each output.
template <int kRows, bool kRoomy, int kFlowWidth>
__device__ __noinline__ float tile_gradient(int base_units, int flow_units, float* scratch_memory, int count,
                                            std::uint32_t source, const TrainJob* job_at, const Net<kRows>* nets,
                                            float scale) {
  __builtin_assume(__isShared(job_at));
  __builtin_assume(__isShared(nets));
  const TrainJob& job = *job_at;
  const TrainMemory memory{flow_units, base_units, kRoomy ? kFlowWidth : 0};
  const Block<kRows> block(memory, scratch_memory, count, source);
  constexpr int kNets = kFlowWidth > 0 ? 2 : 1;
  const Net<kRows>& base = nets[0];
  const Scratch<kRows> scratch(block.scratch, job, base.layers());
#pragma unroll 1
  for (int n = 0; block.busy && n < kNets; ++n) {  // one program for both
    forward_hidden(block, job, nets[n], n == 0 ? block.base : block.flow);
  }
  Sums<kFlowWidth / 8> grad = {};
  const float loss =
      loss_of_outputs<kRows, kRoomy>(block, job, base, nets[kNets - 1], scale, grad, scratch.head_gradients);
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

// Copies into shared memory.
template <int kRows, class T>
__device__ __forceinline__ void copy_words(const T& from, T& to) {
  static_assert(sizeof(T) % sizeof(int) == 0);
  const int* source = reinterpret_cast<const int*>(&from);
  for (int k = threadIdx.x; k < static_cast<int>(sizeof(T) / sizeof(int)); k += kRows) {
    reinterpret_cast<int*>(&to)[k] = source[k];
  }
}

// Copies the hidden layers' parameters into their padded copy, if there is one.
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

// Where shared memory has copies of what a step reads (negative: none) and of what it adds to (null: none).
struct Resident {
  int flow;
  int base;
  float* flow_gradient;
  float* base_gradient;
};

// Copies a gradient from shared memory to where other blocks read it.
template <int kRows>
__device__ __forceinline__ void hand_over(const DenseNet& net, const float* from, float* gradient) {
  for (int k = net.begin + static_cast<int>(threadIdx.x); k < net.end; k += kRows) {
    gradient[k] = from[k - net.begin];
  }
}

// Writes the gradient of rows [begin, end) of a component's order, which are a slice's or none, to the slice's memory.
// Adds to the flow's gradient if the slice has had a component before. Returns before + the sum of the rows' losses.
template <int kRows, bool kRoomy, int kFlowWidth>
__device__ __forceinline__ double slice_gradient(const TrainMemory& memory, const TrainJob& job,
                                                 const DenseNet& network, Net<kRows>* nets, const std::uint32_t* order,
                                                 int begin, int end, float* scratch_memory, float* gradient,
                                                 const Resident& resident, bool add_to_flow, float scale, double before,
                                                 double* warps) {
  const DenseNet& conditioner = job.conditioner;
  const int row = static_cast<int>(threadIdx.x);
  const int tiles = max(1, (end - begin + kRows - 1) / kRows);
  const int rows = ((end - begin + tiles - 1) / tiles + 31) / 32 * 32;  // whole warps, about as many in each tile
  double loss = before;
  for (int tile = 0; tile < tiles; ++tile) {
    const int first = begin + tile * rows;
    __syncthreads();
    if (row == 0) {
      const Scratch<kRows> scratch(scratch_memory, job, network);
      nets[0] = {static_cast<std::uint32_t>(__cvta_generic_to_shared(&network)),
                 scratch.base,
                 0,
                 job.parameters,
                 resident.base,
                 resident.base_gradient != nullptr ? resident.base_gradient - network.begin : gradient,
                 tile > 0};
      if constexpr (kFlowWidth > 0) {
        nets[1] = {static_cast<std::uint32_t>(__cvta_generic_to_shared(&job.conditioner)),
                   scratch.flow,
                   job.num_outputs - job.num_transformed,
                   job.parameters,
                   resident.flow,
                   resident.flow_gradient != nullptr ? resident.flow_gradient - conditioner.begin : gradient,
                   tile > 0 || add_to_flow};
      }
    }
    __syncthreads();
    const int count = min(rows, end - first);
    const std::uint32_t source =
        order[count > 0 ? first + (row < count ? row : 0) : 0];  // one of the tile, if it can be
    const float own = tile_gradient<kRows, kRoomy, kFlowWidth>(memory.base_units, memory.flow_units, scratch_memory,
                                                               count, source, &job, nets, scale);
    loss = add_warps<kRows>(loss, own, warps);
  }
  if (resident.base_gradient != nullptr) {
    hand_over<kRows>(conditioner, resident.flow_gradient, gradient);
    hand_over<kRows>(network, resident.base_gradient, gradient);
  }
  return loss;
}

// The gradient of the batch of rows [begin, end) for the block's slices, and their share of the mean loss.
template <int kRows, bool kRoomy, int kFlowWidth>
__device__ __forceinline__ void batch_gradient(const TrainMemory& memory, const TrainJob& job, DenseNet& network,
                                               Net<kRows>* nets, const Slices& own, int begin, int end,
                                               const Resident& resident, double* exchange, double* warps) {
  float* scratch_memory = job.scratch + static_cast<std::size_t>(own.number(own.begin)) * job.scratch_size;
  const float scale = 1.0F / (static_cast<float>(end - begin) * static_cast<float>(job.num_outputs));
  const int rows = slice_rows(end - begin, own.slices, job.tile_rows);
  fetch<kRows>(job.conditioner, job.parameters, resident.flow);
  for (int slice = own.begin; slice < own.end; ++slice) {
    const int first = min(end, begin + slice * rows);
    const int last = min(end, first + rows);
    float* gradient = job.gradient + static_cast<std::size_t>(own.number(slice)) * job.block_size;
    double loss = 0;
    for (int c = own.member; c < job.num_components; c += job.members) {
      const bool in_turn = job.num_components > job.members;
      if (in_turn || (begin == 0 && slice == own.begin)) {
        __syncthreads();
        copy_words<kRows>(job.networks[c], network);
        __syncthreads();
      }
      if (in_turn || slice == own.begin) {
        fetch<kRows>(network, job.parameters, resident.base);
      }
      loss = slice_gradient<kRows, kRoomy, kFlowWidth>(memory, job, network, nets, own.order(job, c), first, last,
                                                       scratch_memory, gradient, resident, c > own.member, scale, loss,
                                                       warps);
    }
    if (threadIdx.x == 0) {
      exchange[2 * own.number(slice) + 1] = loss * static_cast<double>(scale);
    }
  }
}

}  // namespace dissent::device
