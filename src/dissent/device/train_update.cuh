// The end of a step: the slices' gradients and losses are added up, and each block takes Adam's step for its part.
#pragma once

#include <cooperative_groups.h>

#include <cfloat>

#include "dissent/device/train_block.cuh"

namespace dissent::device {

namespace cg = cooperative_groups;

// A block's part of a job: slices [begin, end) of a member.
struct Slices {
  int slices;  // of a member
  int member;
  int begin;
  int end;

  __device__ __forceinline__ Slices(const TrainJob& job, int rank, int blocks) : slices(job.slices) {
    const int each = job.members * job.slices / blocks;
    member = rank * each / slices;
    begin = rank * each % slices;
    end = begin + each;
  }
  // The slice's number among all slices of the job.
  __device__ __forceinline__ int number(int slice) const { return member * slices + slice; }
  // A component's rows in the order of the epoch; each block has its own.
  __device__ __forceinline__ std::uint32_t* order(const TrainJob& job, int component) const {
    return job.orders + begin * job.slice_orders + static_cast<std::size_t>(component) * job.num_rows;
  }
  __device__ __forceinline__ std::uint32_t* draws(const TrainJob& job, int component) const {
    return job.draws + (order(job, component) - job.orders);
  }
};

// The same as AdamOptions of network/adam.hpp.
constexpr float kBeta1 = 0.9F;
constexpr float kBeta2 = 0.999F;
constexpr float kRestBeta1 = static_cast<float>(1 - 0.9);
constexpr float kRestBeta2 = static_cast<float>(1 - 0.999);
constexpr float kEpsilon = 1e-8F;

constexpr int kFewSlices = 4;  // as many as a component has in an ensemble with a flow
constexpr int kTogether = 4;   // parameters that a thread loads before it waits for the first, ...
constexpr int kInAdam = 8;     // ... and for Adam's step

// The sum over the threads of a warp.
__device__ __forceinline__ double warp_sum(double value) {
#pragma unroll
  for (int far = 16; far > 0; far /= 2) {
    value += __shfl_xor_sync(0xffffffffU, value, far);
  }
  return value;
}

// before + the sums of the warps, in the order of the warps; all threads get the same value. A sum over many tiles does
// not depend on the number of warps per tile.
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

// Sums over parameters must not depend on the number of threads: each thread stands for kStandsFor threads in turn,
// with a separate sum for each.
template <int kRows>
struct Squares {
  static constexpr int kStandsFor = kRows < kMostRows && kRows > kFewRows ? kMostRows / kRows : 1;
  static constexpr int kSums = kRows * kStandsFor / 32;
  double part[kStandsFor] = {};

  // For k in [begin, end), passes each sum to store(k, sum) and adds its square. load(first, count, sums) forms a few
  // of the thread's sums at a time: those of k = first + a * kRows for a < count.
  template <class Load, class Store>
  __device__ __forceinline__ void add(int begin, int end, const Load& load, const Store& store) {
    static_assert(kTogether % kStandsFor == 0);
#pragma unroll 1
    for (int first = begin + static_cast<int>(threadIdx.x); first < end; first += kTogether * kRows) {
      const int count = (end - first + kRows - 1) / kRows;
      float sums[kTogether];
      load(first, count, sums);
#pragma unroll
      for (int a = 0; a < kTogether; ++a) {
        if (a < count) {
          store(first + a * kRows, sums[a]);
          part[a % kStandsFor] += static_cast<double>(sums[a] * sums[a]);
        }
      }
    }
  }

  // Writes the sums of the warps, [kSums], to shared memory.
  __device__ __forceinline__ void put(double* sums) const {
#pragma unroll
    for (int p = 0; p < kStandsFor; ++p) {
      const double sum = warp_sum(part[p]);
      if (threadIdx.x % 32 == 0) {
        sums[(static_cast<int>(threadIdx.x) + p * kRows) / 32] = sum;
      }
    }
  }
  static __device__ __forceinline__ double total(const double* sums) {
    double all = 0;
#pragma unroll
    for (int w = 0; w < kSums; ++w) {
      all += sums[w];
    }
    return all;
  }
};

// Takes the step for k in [begin, end), a few of the thread's at a time.
template <int kRows>
__device__ __forceinline__ void adam(const TrainJob& job, const StepFactors& step, float clip, int begin, int end,
                                     const float* gradient, bool in_flow) {
  float* const first_moment = job.first_moment;
  float* const second_moment = job.second_moment;
  float* const parameters = job.parameters;
  float* const average = step.average_newest > 0 ? job.average : nullptr;
  __builtin_assume(__isGlobal(first_moment));
  __builtin_assume(__isGlobal(second_moment));
  __builtin_assume(__isGlobal(parameters));
  __builtin_assume(__isGlobal(gradient));
  const float shrink = in_flow ? step.flow_shrink : 1.0F;
#pragma unroll 1
  for (int first = begin + static_cast<int>(threadIdx.x); first < end; first += kInAdam * kRows) {
    float p[kInAdam];
    float g[kInAdam];
    float m[kInAdam];
    float v[kInAdam];
    float mean[kInAdam];
#pragma unroll
    for (int a = 0; a < kInAdam; ++a) {
      const int k = first + a * kRows;
      p[a] = k < end ? parameters[k] : 0.0F;
      g[a] = k < end ? gradient[k] : 0.0F;
      m[a] = k < end ? first_moment[k] : 0.0F;
      v[a] = k < end ? second_moment[k] : 0.0F;
      mean[a] = k < end && average != nullptr ? average[k] : 0.0F;
    }
#pragma unroll
    for (int a = 0; a < kInAdam; ++a) {
      const int k = first + a * kRows;
      g[a] *= clip;
      m[a] = kBeta1 * m[a] + kRestBeta1 * g[a];
      v[a] = kBeta2 * v[a] + kRestBeta2 * g[a] * g[a];
      p[a] = shrink * (step.shrink * p[a] - step.step_size * (m[a] / (sqrtf(v[a]) * step.inverse_root + kEpsilon)));
      if (k < end) {
        first_moment[k] = m[a];
        second_moment[k] = v[a];
        parameters[k] = p[a];
        if (average != nullptr) {
          average[k] = mean[a] + step.average_newest * (p[a] - mean[a]);
        }
      }
    }
  }
}

// A slice's share of a network's parameters, one of `count` shares: the slice adds up their gradients and updates them.
struct Share {
  int begin;
  int end;
  __device__ __forceinline__ Share(const DenseNet& net, int number, int count) {
    const int size = net.end - net.begin;
    const int each = (size + count - 1) / count;
    begin = net.begin + min(size, number * each);
    end = net.begin + min(size, (number + 1) * each);
  }
};

// Sums gradients over `slices` slices that lie `stride` apart: those of one parameter and of the next ones, each kRows
// behind the one before, `count` in all.
template <int kRows, int kMost>
__device__ __forceinline__ void sum_slices(const float* gradient, int slices, std::size_t stride, int count,
                                           float (&sums)[kTogether]) {
  __builtin_assume(__isGlobal(gradient));
  float part[kTogether][kMost];
#pragma unroll
  for (int a = 0; a < kTogether; ++a) {
    const int present = a < count ? slices : 0;
#pragma unroll
    for (int s = 0; s < kMost; ++s) {
      part[a][s] = s < present ? __ldcg(gradient + a * kRows + static_cast<std::size_t>(s) * stride) : 0.0F;
    }
  }
#pragma unroll
  for (int a = 0; a < kTogether; ++a) {
    sums[a] = 0;
#pragma unroll
    for (int s = 0; s < kMost; ++s) {
      sums[a] += part[a][s];
    }
  }
}

// Adds up the slices' gradients and losses, the latter in `exchange`, and takes Adam's step. Returns the mean loss, or
// NaN (in all blocks) if it or the gradient is not finite; then nothing is changed.
template <int kRows>
__device__ __noinline__ double update(const TrainJob& job, const StepFactors& step, cg::cluster_group cluster,
                                      const Slices& own, double* exchange, double* warps) {
  const int all = job.members * own.slices;
  const auto stride = static_cast<std::size_t>(job.block_size);
  const float* members = job.gradient + static_cast<std::size_t>(own.number(0)) * stride;  // this member's slices
  cluster.sync();                                                                          // all gradients are there
  for (int slice = own.begin; slice < own.end; ++slice) {
    float* total = job.gradient + static_cast<std::size_t>(own.number(slice)) * stride;
    Squares<kRows> squares;
    const Share flow(job.conditioner, own.number(slice), all);
    const auto store = [&](int k, float sum) { total[k] = sum; };
    squares.add(
        flow.begin, flow.end,
        [&](int first, int count, float(&sums)[kTogether]) {
          sum_slices<kRows, kMaxSlices>(job.gradient + first, all, stride, count, sums);
        },
        store);
    for (int c = own.member; c < job.num_components; c += job.members) {
      const Share base(job.networks[c], slice, own.slices);
      squares.add(
          base.begin, base.end,
          [&](int first, int count, float(&sums)[kTogether]) {
            if (own.slices <= kFewSlices) {
              sum_slices<kRows, kFewSlices>(members + first, own.slices, stride, count, sums);
            } else {
              sum_slices<kRows, kMaxSlices>(members + first, own.slices, stride, count, sums);
            }
          },
          store);
    }
    squares.put(warps + (slice - own.begin) * Squares<kRows>::kSums);
  }
  __syncthreads();
  if (const int slice = own.begin + static_cast<int>(threadIdx.x); slice < own.end) {
    exchange[2 * own.number(slice)] = Squares<kRows>::total(warps + threadIdx.x * Squares<kRows>::kSums);
  }
  cluster.sync();
  static_assert(kMaxSlices <= 32);
  const int lane = lane_of_warp();
  const double own_squares = lane < all ? __ldcg(exchange + 2 * lane) : 0.0;
  const double own_loss = lane < all ? __ldcg(exchange + 2 * lane + 1) : 0.0;
  double all_squares = 0;
  double all_loss = 0;
  for (int s = 0; s < all; ++s) {
    all_squares += __shfl_sync(0xffffffffU, own_squares, s);
    all_loss += __shfl_sync(0xffffffffU, own_loss, s);
  }
  const double norm = sqrt(all_squares);
  const double mean = all_loss / job.num_components;
  if (!(norm <= DBL_MAX) || !(fabs(mean) <= DBL_MAX)) {
    return __longlong_as_double(0x7ff8000000000000LL);
  }
  const float clip = job.clip_norm > 0 ? static_cast<float>(fmin(1.0, job.clip_norm / (norm + 1e-6))) : 1.0F;
  for (int slice = own.begin; slice < own.end; ++slice) {
    const float* total = job.gradient + static_cast<std::size_t>(own.number(slice)) * stride;
    const auto take = [&](const Share& share, bool in_flow) {
      adam<kRows>(job, step, clip, share.begin, share.end, total, in_flow);
    };
    take(Share(job.conditioner, own.number(slice), all), true);
    for (int c = own.member; c < job.num_components; c += job.members) {
      take(Share(job.networks[c], slice, own.slices), false);
    }
  }
  cluster.sync();  // all parameters are there
  return mean;
}

}  // namespace dissent::device
