// Training in one launch: each block of threads keeps its slices for many steps. It draws rows, computes gradients and
// takes Adam's steps by itself; what slices share is added up within a cluster of blocks.
//
// A thread is a row of a tile of the batch (train_block.cuh). train_tensor.cuh has sums on tensor cores,
// train_layer.cuh layers, train_product.cuh gradients of weights, train_network.cuh a network's hidden layers,
// train_loss.cuh the loss, train_step.cuh a step.
#pragma once

#include <cuda/atomic>

#include "dissent/device/cuda_error.hpp"
#include "dissent/device/shuffle.cuh"
#include "dissent/device/train_kernel.hpp"
#include "dissent/device/train_step.cuh"

namespace dissent::device {

// Turns of a job, if more are queued than fit. At the end one leftover job may hold the card alone for a turn, so short
// turns waste less.
constexpr int kStretches = 64;

// What a block keeps in shared memory besides its regions.
template <int kRows>
struct BlockState {
  double warps[kMaxSlices * kMostRows / 32];  // sums of warps, for each slice
  TrainJob job;
  DenseNet network;  // of the current component
  Net<kRows> nets[2];
  int task;
};

// Where a block keeps copies, if it does. Gaps in the copies are zero, and so are the gaps between networks in the
// gradient and those in the spline's weights.
template <int kRows>
__device__ __forceinline__ Resident make_resident(int stage, const TrainMemory& memory) {
  const int flow = stage + memory.stage;
  const int base = flow + memory.flow_copy;
  const int gradients = base + memory.base_copy;
  const int end = gradients + memory.flow_gradient + memory.base_gradient;
  for (int k = stage + static_cast<int>(threadIdx.x); k < end; k += kRows) {
    shared_floats()[k] = 0;
  }
  __syncthreads();
  float* at = memory.base_gradient > 0 ? shared_floats() + gradients : nullptr;
  return {memory.base_copy > 0 ? flow : -1, memory.base_copy > 0 ? base : -1, at,
          at == nullptr ? nullptr : at + memory.flow_gradient};
}

// Runs epochs [begin, end) of a job. Returns the mean loss of the last, or NaN.
template <int kRows, bool kRoomy, int kFlowWidth>
__device__ __forceinline__ double run_epochs(BlockState<kRows>& state, const TrainMemory& memory,
                                             const cg::cluster_group& cluster, int begin, int end) {
  const TrainJob& job = state.job;
  const Slices own(job, static_cast<int>(cluster.block_rank()), static_cast<int>(cluster.num_blocks()));
  const int stage = kRows / 32 * panel_size(memory);  // the panels come before
  const Resident resident = make_resident<kRows>(stage, memory);
  const int steps = (job.num_rows + job.batch_size - 1) / job.batch_size;
  const StepFactors* step = job.steps + static_cast<std::ptrdiff_t>(begin) * steps;
  double loss = 0;
  for (int epoch = begin; epoch < end; ++epoch) {
    if (steps > 1 || epoch == begin) {
      for (int c = own.member; c < job.num_components; c += job.members) {
        const std::uint32_t* sample = job.samples + static_cast<std::size_t>(c) * job.num_rows;
        order_rows<kRows>({job.seed, static_cast<std::uint64_t>(job.first_component + c), job.first_stream + epoch},
                          steps > 1, {sample, own.order(job, c), own.draws(job, c), job.num_rows},
                          reinterpret_cast<std::uint32_t*>(shared_memory), stage);
      }
    }
    double sum = 0;
    for (int first = 0; first < job.num_rows; first += job.batch_size, ++step) {
      const int last = min(job.num_rows, first + job.batch_size);
      double* exchange = job.exchange + (step - job.steps) % 2 * 2 * kMaxSlices;
      batch_gradient<kRows, kRoomy, kFlowWidth>(memory, job, state.network, state.nets, own, first, last, resident,
                                                exchange, state.warps);
      const double mean = update<kRows>(job, *step, cluster, own, exchange, state.warps);
      sum += mean * (last - first);
      if (!(fabs(sum) <= DBL_MAX)) {
        return __longlong_as_double(0x7ff8000000000000LL);
      }
    }
    loss = sum / job.num_rows;
  }
  return loss;
}

// The number of the task that the group takes next.
template <int kRows>
__device__ __forceinline__ int take_task(BlockState<kRows>& state, cg::cluster_group& cluster, int* next) {
  cluster.sync();  // all have read the last
  if (cluster.thread_rank() == 0) {
    const int task = atomicAdd(next, 1);
    for (unsigned rank = 0; rank < cluster.num_blocks(); ++rank) {
      *cluster.map_shared_rank(&state.task, rank) = task;
    }
  }
  cluster.sync();
  return state.task;
}

// Waits until another group has done the stretches before.
__device__ __forceinline__ void wait_for(int* done, int stretches) {
  if (threadIdx.x == 0) {
    cuda::atomic_ref<int, cuda::thread_scope_device> count(*done);
    while (count.load(cuda::memory_order_acquire) < stretches) {
      __nanosleep(500);
    }
  }
  __syncthreads();
}

template <int kRows, bool kRoomy, int kFlowWidth>
__global__ void __launch_bounds__(kRows, blocks_together(kRows, kRoomy)) train(TrainTasks tasks, TrainMemory memory) {
  static_assert(sizeof(BlockState<kRows>) <= kStaticShared);
  __shared__ BlockState<kRows> state;
  cg::cluster_group cluster = cg::this_cluster();
  for (;;) {
    const int task = take_task(state, cluster, tasks.next);
    if (task >= tasks.num_jobs * tasks.num_stretches) {
      break;
    }
    const int number = task % tasks.num_jobs;
    const int stretch = task / tasks.num_jobs;
    wait_for(tasks.done + number, stretch);
    copy_words<kRows>(tasks.jobs[number], state.job);
    __syncthreads();
    const int each = (state.job.num_epochs + tasks.num_stretches - 1) / tasks.num_stretches;
    const int begin = min(state.job.num_epochs, stretch * each);
    const int end = min(state.job.num_epochs, begin + each);
    double* result = state.job.loss;
    const bool sound = stretch == 0 || fabs(__ldcg(result)) <= DBL_MAX;
    if (sound && begin < end) {
      const double loss = run_epochs<kRows, kRoomy, kFlowWidth>(state, memory, cluster, begin, end);
      if (cluster.thread_rank() == 0) {
        *result = loss;
      }
    }
    __threadfence();
    cluster.sync();
    if (cluster.thread_rank() == 0) {
      cuda::atomic_ref<int, cuda::thread_scope_device>(tasks.done[number])
          .store(stretch + 1, cuda::memory_order_release);
    }
  }
}

// group: blocks of a job.
template <int kRows, bool kRoomy, int kFlowWidth>
void launch_as(TrainTasks tasks, int group, const TrainMemory& memory, cudaStream_t stream) {
  const auto kernel = train<kRows, kRoomy, kFlowWidth>;
  const std::size_t bytes = shared_bytes(kRows, memory);
  // All threads set the same value: it applies to the kernel, whoever launches it.
  DISSENT_CUDA(
      cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, static_cast<int>(most_shared())));
  DISSENT_CUDA(cudaFuncSetAttribute(kernel, cudaFuncAttributeNonPortableClusterSizeAllowed, 1));  // more than 8
  // A multiprocessor runs launches side by side if they divide its memory alike.
  DISSENT_CUDA(cudaFuncSetAttribute(kernel, cudaFuncAttributePreferredSharedMemoryCarveout, 100));
  cudaLaunchConfig_t config = {};
  config.gridDim = dim3(static_cast<unsigned>(tasks.num_jobs * group));
  config.blockDim = dim3(kRows);
  config.dynamicSmemBytes = bytes;
  config.stream = stream;
  cudaLaunchAttribute cluster = {};
  cluster.id = cudaLaunchAttributeClusterDimension;
  cluster.val.clusterDim.x = static_cast<unsigned>(group);
  cluster.val.clusterDim.y = 1;
  cluster.val.clusterDim.z = 1;
  config.attrs = &cluster;
  config.numAttrs = 1;
  int resident = 0;
  DISSENT_CUDA(cudaOccupancyMaxActiveClusters(&resident, kernel, &config));
  tasks.num_stretches = 1;
  if (tasks.num_jobs > resident && resident > 0) {
    tasks.num_stretches = kStretches;
    config.gridDim = dim3(static_cast<unsigned>(resident * group));
  }
  DISSENT_CUDA(cudaLaunchKernelEx(&config, kernel, tasks, memory));
}

template <int kRows, bool kRoomy>
void launch_rows(int flow_width, const TrainTasks& tasks, int group, const TrainMemory& memory, cudaStream_t stream) {
  if (flow_width == 0) {
    launch_as<kRows, kRoomy, 0>(tasks, group, memory, stream);
  } else if (flow_width == padded_flow_width(1)) {
    launch_as<kRows, kRoomy, padded_flow_width(1)>(tasks, group, memory, stream);
  } else {
    launch_as<kRows, kRoomy, padded_flow_width(kMaxFlowWidth)>(tasks, group, memory, stream);
  }
}

}  // namespace dissent::device
