// Pairwise scores of many outputs: a warp takes an input.
#pragma once

#include <cuda_runtime.h>

#include "dissent/device/score_call.hpp"
#include "dissent/device/score_warp_sums.cuh"

namespace dissent::score {

// The scores of an input from its divergences: a group of lanes takes a row of them.
template <class E, int M, class Weights>
__device__ __forceinline__ Score combine_warp(const Weights& weights, const FinishRule& finish, int lane,
                                              const WarpSpace<M>& space) {
  constexpr int kGroup = M <= 2 ? 1 : M <= 3 ? 2 : M <= 5 ? 4 : 8;  // M - 1 rounded up to a power of two
  const auto divergence = [&](int i, int j) {
    return finish(space.divergence[i * M + j], space.divergence[j * M + i]);
  };
  if (finish.finish == Finish::kExpected) {
    ExpectedSum mean;
    for (int k = lane; k < M * M; k += 32) {
      if (k / M != k % M) {
        mean.add(weights.value[k / M] * weights.value[k % M], space.divergence[k]);
      }
    }
    merge_lanes(mean);
    return mean.score(weights.entropy);
  }
  const int place = lane % kGroup;
  RowTerms<E> terms;
#pragma unroll
  for (int first = 0; first < M; first += 32 / kGroup) {
    const int i = first + lane / kGroup;
    const int j = place < i ? place : place + 1;
    RowSums<E> row;
    if (i < M && place < M - 1) {
      row.add(static_cast<E>(weights.value[j]), static_cast<E>(divergence(i, j)));
    }
    merge_lanes<kGroup>(row);
    if (i < M && place == 0) {
      terms.merge(RowTerms<E>(row, weights.value[i], weights.log[i]));
    }
  }
  merge_lanes(terms);
  Score score = score_of(terms, weights.entropy);
  if (terms.far()) {
    FarSum far;
    for (int k = lane; k < M * M; k += 32) {
      const int i = k / M;
      const int j = k % M;
      if (i != j && weights.value[i] > 0 && weights.value[j] > 0) {
        far.add(weights.log[j] - divergence(i, j));
      }
    }
    merge_lanes(far);
    score.log_deficit = far.log_deficit();
  }
  return score;
}

// Writes the results of an input; all lanes call.
template <class E, class Call, int M>
__device__ __forceinline__ void write_warp(const Call& call, long long input, bool valid, int lane,
                                           const WarpSpace<M>& space) {
  const Score score = combine_warp<E, M>(call.weights, call.finish, lane, space);
  if (lane == 0) {
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

template <class Form, class T, int M, int kMost>
__global__ void __launch_bounds__(32 * kWarpsPerBlock, M <= 6 ? 4 : 2)
    score_by_warps(__grid_constant__ const PairwiseCall<Form, T, kMost> call) {
  __shared__ WarpSpace<M> spaces[kWarpsPerBlock];
  const int lane = threadIdx.x % 32;
  const int D = call.rows.num_outputs;
  const long long input = static_cast<long long>(blockIdx.x) * kWarpsPerBlock + threadIdx.x / 32;
  if (input >= call.rows.num_inputs) {
    return;
  }
  WarpSpace<M>& space = spaces[threadIdx.x / 32];
  const bool single = sizeof(T) == 4 && D <= 4096 && (D >= 32 || !Form::kCancels);
  const bool good = divergences_of<Form, T, M>(call.form, call.rows.mean + input * M * D,
                                               call.rows.stddev + input * M * D, D, lane, single, space);
  write_warp<T>(call, input, good, lane, space);
}

}  // namespace dissent::score
