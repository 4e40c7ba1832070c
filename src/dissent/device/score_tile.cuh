// Pairwise scores of many components: a block takes an input.
#pragma once

#include <cuda_runtime.h>

#include "dissent/device/score_call.hpp"
#include "dissent/device/score_tile_sums.cuh"

namespace dissent::score {

// The closed forms, a warp a pair, for what is not trusted; false where a value of the input breaks a rule.
template <class Form, class T, class E>
__device__ __noinline__ bool plain_tiles(const Form& form, const T* mean, const T* stddev, int M, int D, Trust trust,
                                         const TileSpace<E>& space) {
  const int lane = threadIdx.x % 32;
  const int warps = blockDim.x / 32;
  bool good = true;
  for (int k = threadIdx.x; k < M * D; k += blockDim.x) {
    good = good && valid({static_cast<double>(mean[k]), static_cast<double>(stddev[k])});
  }
  if (!__syncthreads_and(good)) {
    return false;
  }
  for (int k = threadIdx.x / 32; k < M * M; k += warps) {
    const int i = k / M;
    const int j = k % M;
    if (trust == Trust::kLargeOnly && (i == j || space.divergence[k] == space.divergence[k])) {
      continue;
    }
    double sum = 0;
    for (int d = lane; d < D; d += 32) {
      const Normal p{static_cast<double>(mean[i * D + d]), static_cast<double>(stddev[i * D + d])};
      const Normal q{static_cast<double>(mean[j * D + d]), static_cast<double>(stddev[j * D + d])};
      sum += i == j ? log(p.stddev) : plain_term(form, p, q);
    }
    sum = sum_lanes(sum);
    if (lane == 0 && i == j) {
      space.sum_log_stddev[i] = sum;
    } else if (lane == 0) {
      space.divergence[k] = sum > kLargest ? kLargest : sum;
    }
  }
  __syncthreads();
  return true;
}

// The mean divergence, by the first warp.
template <class E, class Call>
__device__ Score expected_tiles(const Call& call, int M, const TileSpace<E>& space) {
  ExpectedSum mean;
  for (int k = threadIdx.x % 32; k < M * M; k += 32) {
    if (k / M != k % M) {
      mean.add(call.weights.value[k / M] * call.weights.value[k % M], space.divergence[k]);
    }
  }
  merge_lanes(mean);
  return mean.score(call.weights.entropy);
}

// The scores from the divergences in shared memory: a warp takes a row.
template <class E, class Call>
__device__ Score combine_tiles(const Call& call, int M, const TileSpace<E>& space) {
  const int lane = threadIdx.x % 32;
  const int warp = threadIdx.x / 32;
  const auto divergence = [&](int i, int j) {
    return call.finish(space.divergence[i * M + j], space.divergence[j * M + i]);
  };
  for (int i = warp; i < M; i += blockDim.x / 32) {
    RowSums<E> row;
    for (int j = lane; j < M; j += 32) {
      if (j != i) {
        row.add(static_cast<E>(call.weights.value[j]), static_cast<E>(divergence(i, j)));
      }
    }
    merge_lanes(row);
    if (lane == 0) {
      space.terms[i] = RowTerms<E>(row, call.weights.value[i], call.weights.log[i]);
    }
  }
  __syncthreads();
  RowTerms<E> terms;
  for (int i = lane; i < M; i += 32) {
    terms.merge(space.terms[i]);
  }
  merge_lanes(terms);
  Score score = score_of(terms, call.weights.entropy);
  if (terms.far()) {
    FarSum far;
    for (int k = threadIdx.x; k < M * M; k += blockDim.x) {
      const int i = k / M;
      const int j = k % M;
      if (i != j && call.weights.value[i] > 0 && call.weights.value[j] > 0) {
        far.add(call.weights.log[j] - divergence(i, j));
      }
    }
    merge_lanes(far);
    if (lane == 0) {
      space.far[warp] = far;
    }
    __syncthreads();
    far = lane < blockDim.x / 32 ? space.far[lane] : FarSum{};
    merge_lanes(far);
    score.log_deficit = far.log_deficit();
  }
  return score;
}

template <class Form, class T, int kMost>
__global__ void __launch_bounds__(kTileThreads)
    score_by_tiles(__grid_constant__ const PairwiseCall<Form, T, kMost> call, __grid_constant__ const TilePlan plan) {
  extern __shared__ __align__(16) unsigned char shared_bytes[];
  const TileSpace<T> space(plan, shared_bytes);
  const int M = call.rows.num_components;
  const int D = call.rows.num_outputs;
  const long long input = blockIdx.x;
  const T* mean = call.rows.mean + input * M * D;
  const T* stddev = call.rows.stddev + input * M * D;
  Trust trust = Trust::kNone;
  if constexpr (sizeof(T) == 4) {
    constexpr int kMostInARow = 512;  // floats that one sum may gather
    if (tries_single<Form, T>(D) && D <= kMostInARow * plan.slices) {
      trust = sum_tiles<Form, float, T, T>(call.form, plan, mean, stddev, D, space);
    }
    if (trust != Trust::kAll) {
      trust = sum_tiles_in_double<Form, T, T>(call.form, plan, mean, stddev, D, space);
    }
  } else {
    trust = sum_tiles<Form, double, T, T>(call.form, plan, mean, stddev, D, space);
  }
  const bool good = trust == Trust::kAll || plain_tiles<Form, T, T>(call.form, mean, stddev, M, D, trust, space);
  const Score score =
      call.finish.finish == Finish::kExpected ? expected_tiles<T>(call, M, space) : combine_tiles<T>(call, M, space);
  if (threadIdx.x < 32) {
    double sum = 0;
    for (int m = threadIdx.x; m < M; m += 32) {
      sum = fma(call.weights.value[m], space.sum_log_stddev[m], sum);
    }
    sum = sum_lanes(sum);
    if (threadIdx.x == 0) {
      call.results.write(input, score, 0.5 * D * (1 + kLogTwoPi) + sum, good);
    }
  }
}

}  // namespace dissent::score
