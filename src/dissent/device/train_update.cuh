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

}  // namespace dissent::device
