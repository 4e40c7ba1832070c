// A step: the gradient of a batch, tile by tile, and Adam's update of what this block of the group is to update.
#pragma once

#include <cooperative_groups.h>

#include <cfloat>

#include "dissent/device/train_loss.cuh"

namespace dissent::device {

namespace cg = cooperative_groups;

// As AdamOptions of network/adam.hpp.
constexpr float kBeta1 = 0.9F;
constexpr float kBeta2 = 0.999F;
constexpr float kRestBeta1 = static_cast<float>(1 - 0.9);
constexpr float kRestBeta2 = static_cast<float>(1 - 0.999);
constexpr float kEpsilon = 1e-8F;

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
    base = flow + columns_of(job.conditioner) * kRows;
    head_gradients = base + columns_of(net) * kRows;
    carried = head_gradients + 2 * job.num_outputs * kRows;
  }
  static __device__ __forceinline__ int columns_of(const DenseNet& net) {
    int sum = 0;
    for (int l = 0; l + 2 < net.num_layers; ++l) {
      sum += net.layers[l].outputs;
    }
    return sum;
  }
};

// Adds the gradient of some rows of a batch; returns the thread's part of the loss.
// nets: the component's network and, with a flow, the conditioner, in shared memory.
template <int kRows, int kFlowWidth>
__device__ __forceinline__ float tile_gradient(const Block<kRows>& block, const TrainJob& job, const Net<kRows>* nets,
                                               float scale) {
  constexpr int kNets = kFlowWidth > 0 ? 2 : 1;
  const Net<kRows>& base = nets[0];
  const Net<kRows>& flow = nets[kNets - 1];
  const Scratch<kRows> scratch(block.scratch, job, *base.layers_of);
  const ScratchColumn<kRows> carried(scratch.carried, 0);
#pragma unroll 1
  for (int n = 0; n < kNets; ++n) {  // one program for both
    forward_hidden(block, job, nets[n]);
  }
  FlowUnits<kFlowWidth> units;
  if constexpr (kFlowWidth > 0) {
#pragma unroll
    for (int i = 0; i < kFlowWidth; ++i) {
      units.value[i] = i < flow.heads().inputs ? Block<kRows>::at(block.flow, i) : 0.0F;
      units.grad[i] = 0;
    }
  }
  const float loss = loss_of_outputs<kRows, kFlowWidth>(block, job, base, flow, scale, units, scratch.head_gradients);
  if constexpr (kFlowWidth > 0) {
    __syncwarp();
#pragma unroll
    for (int i = 0; i < kFlowWidth; ++i) {
      if (i < flow.heads().inputs) {
        Block<kRows>::at(block.flow, i) = units.value[i] > 0 ? units.grad[i] : 0.0F;
      }
    }
    __syncwarp();
  }
#pragma unroll 1
  for (int n = kNets - 1; n >= 0; --n) {
    if (n == 0) {
      backward_heads(block, base, scratch.head_gradients, carried);
    }
    backward_hidden(block, job, nets[n], carried);
  }
  return loss;
}

// Sum over the threads of a block, in a fixed order; the same value in all of them.
template <int kRows>
__device__ __forceinline__ double block_sum(double value, double* warps) {
#pragma unroll
  for (int far = 16; far > 0; far /= 2) {
    value += __shfl_xor_sync(0xffffffffU, value, far);
  }
  __syncthreads();
  if (threadIdx.x % 32 == 0) {
    warps[threadIdx.x / 32] = value;
  }
  __syncthreads();
  double sum = 0;
  for (int w = 0; w < Block<kRows>::kWarps; ++w) {
    sum += warps[w];
  }
  return sum;
}

__device__ __forceinline__ void adam(const TrainJob& job, const TrainStep& step, float clip, int k, float gradient,
                                     bool in_flow) {
  float* __restrict__ first = job.first_moment;
  float* __restrict__ second = job.second_moment;
  float* __restrict__ parameters = job.parameters;
  const float before = parameters[k];
  const float g = clip * gradient;
  const float m = kBeta1 * first[k] + kRestBeta1 * g;
  const float v = kBeta2 * second[k] + kRestBeta2 * g * g;
  float p = step.shrink * before - step.step_size * (m / (sqrtf(v) * step.inverse_root + kEpsilon));
  p = in_flow ? p * step.flow_shrink : p;
  first[k] = m;
  second[k] = v;
  parameters[k] = p;
  if (step.average_newest > 0) {
    job.average[k] += step.average_newest * (p - job.average[k]);
  }
}

// The part of the flow's parameters that a block of the group updates.
struct Share {
  int begin;
  int end;
  __device__ __forceinline__ Share(const DenseNet& net, int rank, int group) {
    const int size = net.end - net.begin;
    const int each = (size + group - 1) / group;
    begin = net.begin + min(size, rank * each);
    end = net.begin + min(size, (rank + 1) * each);
  }
};

// Adds up what the blocks of the group have in common and takes Adam's step. Returns the mean loss, or NaN (in all of
// them) where it or the gradient is not finite; nothing is changed then.
template <int kRows>
__device__ __noinline__ double update(const TrainJob& job, const TrainStep& step, cg::cluster_group cluster, int parity,
                                      double loss, const float* base_gradient, double* warps) {
  const int rank = static_cast<int>(cluster.block_rank());
  const int group = static_cast<int>(cluster.num_blocks());
  float* own = job.gradient + static_cast<std::size_t>(rank) * job.block_size;
  cluster.sync();  // all gradients are there
  double squares = 0;
  const Share share(job.conditioner, rank, group);
  for (int k = share.begin + static_cast<int>(threadIdx.x); k < share.end; k += kRows) {
    float sum = 0;
    for (int g = 0; g < group; ++g) {
      sum += __ldcg(job.gradient + static_cast<std::size_t>(g) * job.block_size + k);
    }
    own[k] = sum;
    squares += static_cast<double>(sum * sum);
  }
  for (int c = rank; c < job.num_components; c += group) {
    for (int k = job.networks[c].begin + static_cast<int>(threadIdx.x); k < job.networks[c].end; k += kRows) {
      squares += static_cast<double>(base_gradient[k] * base_gradient[k]);
    }
  }
  squares = block_sum<kRows>(squares, warps);
  double* exchange = job.exchange + parity * 2 * kMaxGroup;
  if (threadIdx.x == 0) {
    exchange[2 * rank] = squares;
    exchange[2 * rank + 1] = loss;
  }
  cluster.sync();
  double all_squares = 0;
  double all_loss = 0;
  for (int g = 0; g < group; ++g) {
    all_squares += __ldcg(exchange + 2 * g);
    all_loss += __ldcg(exchange + 2 * g + 1);
  }
  const double norm = sqrt(all_squares);
  const double mean = all_loss / job.num_components;
  if (!(norm <= DBL_MAX) || !(fabs(mean) <= DBL_MAX)) {
    return __longlong_as_double(0x7ff8000000000000LL);
  }
  const float clip = job.clip_norm > 0 ? static_cast<float>(fmin(1.0, job.clip_norm / (norm + 1e-6))) : 1.0F;
#pragma unroll 2
  for (int k = share.begin + static_cast<int>(threadIdx.x); k < share.end; k += kRows) {
    adam(job, step, clip, k, own[k], true);
  }
  for (int c = rank; c < job.num_components; c += group) {
#pragma unroll 2
    for (int k = job.networks[c].begin + static_cast<int>(threadIdx.x); k < job.networks[c].end; k += kRows) {
      adam(job, step, clip, k, base_gradient[k], false);
    }
  }
  cluster.sync();  // all parameters are there
  return mean;
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
  const int rows = (end - begin + tiles - 1) / tiles;
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
      block.source = order[first + (block.active ? row : 0)];
      loss += static_cast<double>(tile_gradient<kRows, kFlowWidth>(block, job, nets, scale));
    }
  }
  if (resident.flow_gradient != nullptr) {  // for the others
    for (int k = conditioner.begin + static_cast<int>(threadIdx.x); k < conditioner.end; k += kRows) {
      gradient[k] = resident.flow_gradient[k - conditioner.begin];
    }
  }
  return block_sum<kRows>(loss, warps) * static_cast<double>(scale);
}

}  // namespace dissent::device
