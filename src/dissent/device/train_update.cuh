// The end of a step: blocks of a group add up what their components share, and each takes Adam's step for its part.
#pragma once

#include <cooperative_groups.h>

#include <cfloat>

#include "dissent/device/train_block.cuh"

namespace dissent::device {

namespace cg = cooperative_groups;

// As AdamOptions of network/adam.hpp.
constexpr float kBeta1 = 0.9F;
constexpr float kBeta2 = 0.999F;
constexpr float kRestBeta1 = static_cast<float>(1 - 0.9);
constexpr float kRestBeta2 = static_cast<float>(1 - 0.999);
constexpr float kEpsilon = 1e-8F;

// Over the threads of a warp.
__device__ __forceinline__ double warp_sum(double value) {
#pragma unroll
  for (int far = 16; far > 0; far /= 2) {
    value += __shfl_xor_sync(0xffffffffU, value, far);
  }
  return value;
}

// before + what the warps have, in their order; the same value in all threads. A sum over many tiles does not depend on
// how many warps there are to one.
template <int kRows>
__device__ __forceinline__ double add_warps(double before, float value, double* warps) {
  const double sum = warp_sum(static_cast<double>(value));
  __syncthreads();
  if (threadIdx.x % 32 == 0) {
    warps[threadIdx.x / 32] = sum;
  }
  __syncthreads();
  for (int w = 0; w < Block<kRows>::kWarps; ++w) {
    before += warps[w];
  }
  return before;
}

// Sums over parameters are formed by so many threads at least in thought, so that they do not depend on how many there
// are: each stands for kStandsFor of them.
template <int kRows>
struct Squares {
  static constexpr int kStandsFor = kRows < kMostRows && kRows > kFewRows ? kMostRows / kRows : 1;
  static constexpr int kStep = kRows * kStandsFor;
  static constexpr int kSums = kStep / 32;
  double part[kStandsFor] = {};

  // Adds each(k) squared for k in [begin, end).
  template <class Each>
  __device__ __forceinline__ void add(int begin, int end, const Each& each) {
#pragma unroll
    for (int p = 0; p < kStandsFor; ++p) {
      for (int k = begin + static_cast<int>(threadIdx.x) + p * kRows; k < end; k += kStep) {
        const float value = each(k);
        part[p] += static_cast<double>(value * value);
      }
    }
  }

  // Their sum, the same in all threads.
  __device__ __forceinline__ double total(double* sums) {
    __syncthreads();
#pragma unroll
    for (int p = 0; p < kStandsFor; ++p) {
      const double sum = warp_sum(part[p]);
      if (threadIdx.x % 32 == 0) {
        sums[(static_cast<int>(threadIdx.x) + p * kRows) / 32] = sum;
      }
    }
    __syncthreads();
    double all = 0;
#pragma unroll
    for (int w = 0; w < kSums; ++w) {
      all += sums[w];
    }
    return all;
  }
};

__device__ __forceinline__ void adam(const TrainJob& job, const StepFactors& step, float clip, int k, float gradient,
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
__device__ __noinline__ double update(const TrainJob& job, const StepFactors& step, cg::cluster_group cluster,
                                      int parity, double loss, const float* base_gradient, double* warps) {
  const int rank = static_cast<int>(cluster.block_rank());
  const int group = static_cast<int>(cluster.num_blocks());
  float* own = job.gradient + static_cast<std::size_t>(rank) * job.block_size;
  cluster.sync();  // all gradients are there
  Squares<kRows> own_squares;
  const Share share(job.conditioner, rank, group);
  own_squares.add(share.begin, share.end, [&](int k) {
    float part[kMaxGroup];  // all asked for before the first is waited for
#pragma unroll
    for (int g = 0; g < kMaxGroup; ++g) {
      part[g] = g < group ? __ldcg(job.gradient + static_cast<std::size_t>(g) * job.block_size + k) : 0.0F;
    }
    float sum = 0;
#pragma unroll
    for (int g = 0; g < kMaxGroup; ++g) {
      sum += part[g];
    }
    own[k] = sum;
    return sum;
  });
  for (int c = rank; c < job.num_components; c += group) {
    own_squares.add(job.networks[c].begin, job.networks[c].end, [&](int k) { return base_gradient[k]; });
  }
  const double squares = own_squares.total(warps);
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
#pragma unroll 4
  for (int k = share.begin + static_cast<int>(threadIdx.x); k < share.end; k += kRows) {
    adam(job, step, clip, k, own[k], true);
  }
  for (int c = rank; c < job.num_components; c += group) {
#pragma unroll 4
    for (int k = job.networks[c].begin + static_cast<int>(threadIdx.x); k < job.networks[c].end; k += kRows) {
      adam(job, step, clip, k, base_gradient[k], false);
    }
  }
  cluster.sync();  // all parameters are there
  return mean;
}

}  // namespace dissent::device
