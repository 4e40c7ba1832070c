// Pairwise scores for many outputs: each group of lanes takes an input.
#pragma once

#include <cuda_runtime.h>

#include "dissent/device/score_call.hpp"
#include "dissent/device/score_warp_sums.cuh"

namespace dissent::score {

// The log deficit if exponentials underflow: FarSum, computed by the lanes of a group together.
template <int kLanes, int M, class Weights, class Divergence>
__device__ __forceinline__ double far_group(const Weights& weights, const Divergence& divergence, int lane) {
  constexpr int kTerms = (M * M + kLanes - 1) / kLanes;
  double term[kTerms];
  double high = -infinity();
#pragma unroll
  for (int t = 0; t < kTerms; ++t) {
    const int i = (lane + kLanes * t) / M;
    const int j = (lane + kLanes * t) % M;
    const bool counts = i < M && i != j && weights.value[i] > 0 && weights.value[j] > 0;
    term[t] = counts ? weights.log[j] - divergence(i, j) : -infinity();
    high = term[t] > high ? term[t] : high;
  }
#pragma unroll
  for (int offset = kLanes / 2; offset > 0; offset /= 2) {
    const double other = __shfl_xor_sync(kAllLanes, high, offset);
    high = other > high ? other : high;
  }
  const bool any = high > -1e308;
  double sum = 0;
#pragma unroll
  for (int t = 0; t < kTerms; ++t) {
    sum += any ? exponential<double>(term[t] - high).exp : 0;
  }
  sum = sum_lanes<kLanes>(sum);
  return any ? high + log(sum) : -infinity();
}

// The mean divergence, if that is asked for.
template <int kLanes, int M, class Weights>
__device__ __forceinline__ Score expected_group(const Weights& weights, int lane, const GroupSpace<M>& space) {
  ExpectedSum mean;
  for (int k = lane; k < M * M; k += kLanes) {
    if (k / M != k % M) {
      mean.add(weights.value[k / M] * weights.value[k % M], space.divergence[k]);
    }
  }
  merge_lanes<kLanes>(mean);
  return mean.score(weights.entropy);
}

// The scores of a group's input from its divergences: kSharing lanes share a row of them.
template <int kLanes, class E, int M, class Weights>
__device__ __forceinline__ Score combine_group(const Weights& weights, const FinishRule& finish, int lane,
                                               const GroupSpace<M>& space) {
  constexpr int kWhole = M <= 2 ? 1 : M <= 3 ? 2 : M <= 5 ? 4 : 8;  // M - 1 rounded up to a power of two
  constexpr int kSharing = kLanes == 32 ? kWhole : 1;
  if (finish.finish == Finish::kExpected) {
    return expected_group<kLanes, M>(weights, lane, space);
  }
  const auto divergence = [&](int i, int j) {
    return finish(space.divergence[i * M + j], space.divergence[j * M + i]);
  };
  RowTerms<E> terms;
#pragma unroll
  for (int first = 0; first < M; first += kLanes / kSharing) {
    const int i = first + lane / kSharing;
    RowSums<E> row;
#pragma unroll
    for (int k = 0; k < M - 1; k += kSharing) {
      const int place = k + lane % kSharing;
      const int j = place < i ? place : place + 1;
      if (i < M && place < M - 1) {
        row.add(static_cast<E>(weights.value[j]), static_cast<E>(divergence(i, j)));
      }
    }
    merge_lanes<kSharing>(row);
    if (i < M && lane % kSharing == 0) {
      terms.merge(RowTerms<E>(row, weights.value[i], weights.log[i]));
    }
  }
  merge_lanes<kLanes>(terms);
  const bool far = terms.far();
  Score score = far ? Score{weights.entropy, 0} : score_of(terms, weights.entropy);
  if (__any_sync(kAllLanes, far)) {
    const double log_deficit = far_group<kLanes, M>(weights, divergence, lane);
    score.log_deficit = far ? log_deficit : score.log_deficit;
  }
  return score;
}

// Writes the results of a group's input; all lanes call it. wanted: false if another group has the same input.
template <int kLanes, class E, class Call, int M>
__device__ __forceinline__ void write_group(const Call& call, long long input, bool wanted, bool valid, int lane,
                                            const GroupSpace<M>& space) {
  const Score score = combine_group<kLanes, E, M>(call.weights, call.finish, lane, space);
  if (lane == 0 && wanted) {
    double entropy = 0.5 * call.rows.num_outputs * (1 + kLogTwoPi);
#pragma unroll
    for (int m = 0; m < M; ++m) {
      entropy = fma(call.weights.value[m], space.sum_log_stddev[m], entropy);
    }
    call.results.write(input, score, entropy, valid);
  }
  __syncwarp();
}

inline constexpr int kWarpsPerBlock = 4;

// kLanes lanes for each input: 8 lanes still read whole sectors, and few of them idle after the sums; 32 lanes read
// whole lines, which counts more if there are many outputs.
template <class Form, class T, int M, int kMost, int kLanes>
__global__ void __launch_bounds__(32 * kWarpsPerBlock, M <= 6 ? 4 : 2)
    score_by_warps(__grid_constant__ const PairwiseCall<Form, T, kMost> call) {
  constexpr int kGroups = 32 / kLanes;  // in a warp
  __shared__ GroupSpace<M> spaces[kWarpsPerBlock * kGroups];
  const int group = threadIdx.x / kLanes;
  const int lane = threadIdx.x % kLanes;
  const int D = call.rows.num_outputs;
  const long long first = static_cast<long long>(blockIdx.x) * (kWarpsPerBlock * kGroups);
  if (first + group / kGroups * kGroups >= call.rows.num_inputs) {  // the whole warp has none
    return;
  }
  const bool wanted = first + group < call.rows.num_inputs;
  const long long input = wanted ? first + group : call.rows.num_inputs - 1;
  GroupSpace<M>& space = spaces[group];
  const bool good =
      divergences_of<kLanes, T, M>(call.form, call.rows.mean + input * M * D, call.rows.stddev + input * M * D, D, lane,
                                   tries_single<Form, T>(D), space);
  write_group<kLanes, T>(call, input, wanted, good, lane, space);
}

}  // namespace dissent::score
