// Pairwise scores for many components: each block takes an input.
#pragma once

#include <cuda_runtime.h>

#include "dissent/device/score_call.hpp"
#include "dissent/device/score_tile_sums.cuh"

namespace dissent::score {

// Recomputes what is not trusted, with the closed forms and one warp per pair; false if a value of the input breaks a
// rule.
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

// The mean divergence; every warp computes it.
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

// Writes the results of the block's input from its divergences; all threads call it.
template <class T, class Call>
__device__ __forceinline__ void write_tiles(const Call& call, long long input, bool good, const TileSpace<T>& space) {
  const int M = call.rows.num_components;
  const Score score =
      call.finish.finish == Finish::kExpected ? expected_tiles<T>(call, M, space) : combine_tiles<T>(call, M, space);
  if (threadIdx.x < 32) {
    double sum = 0;
    for (int m = threadIdx.x; m < M; m += 32) {
      sum = fma(call.weights.value[m], space.sum_log_stddev[m], sum);
    }
    sum = sum_lanes(sum);
    if (threadIdx.x == 0) {
      call.results.write(input, score, 0.5 * call.rows.num_outputs * (1 + kLogTwoPi) + sum, good);
    }
  }
}

// Blocks on a multiprocessor: one fills the issue slots while the other waits for memory or at a barrier. Chernoff's
// six numbers per pair leave registers for only one.
template <class Form>
inline constexpr int kFloatTileBlocks = sizeof(typename Form::template Pair<float>) <= 12 ? 2 : 1;

// Sums in float, one block per input. An input whose sums are not trusted gets NaN as its epistemic uncertainty, by
// which score_by_tiles recognises it: sums in double take twice the registers and would cost the second block.
//
// What limits it, for KL with 100 components and 257 outputs: neither memory (DRAM is busy for 6%) nor arithmetic. It
// issues in 56% of cycles, with 5 warps per scheduler, of which 1.5 are ready. An output costs a warp 107 instructions,
// 96 of them for the sums of its 4 x 4 pairs; staging, logarithms and scores are a third of all that it issues.
template <class Form, int kMost>
__global__ void __launch_bounds__(kTileThreads, kFloatTileBlocks<Form>)
    score_by_float_tiles(__grid_constant__ const PairwiseCall<Form, float, kMost> call,
                         __grid_constant__ const TilePlan plan) {
  extern __shared__ __align__(16) unsigned char shared_bytes[];
  const TileSpace<float> space(plan, shared_bytes);
  const int D = call.rows.num_outputs;
  const long long input = blockIdx.x;
  const long long row = input * call.rows.num_components * D;
  const Trust trust =
      sum_tiles<Form, float, float, float>(call.form, plan, call.rows.mean + row, call.rows.stddev + row, D, space);
  if (trust == Trust::kAll) {
    write_tiles(call, input, true, space);
  } else if (threadIdx.x == 0) {
    call.results.epistemic[input] = not_a_number();
  }
}

// Scores one input with sums in double and, if those are not trusted, with the closed forms.
template <class Form, class T, int kMost>
__device__ __forceinline__ void score_carefully(const PairwiseCall<Form, T, kMost>& call, const TilePlan& plan,
                                                long long input, const TileSpace<T>& space) {
  const int M = call.rows.num_components;
  const int D = call.rows.num_outputs;
  const T* mean = call.rows.mean + input * M * D;
  const T* stddev = call.rows.stddev + input * M * D;
  const Trust trust = sum_tiles<Form, double, T, T>(call.form, plan, mean, stddev, D, space);
  const bool good = trust == Trust::kAll || plain_tiles<Form, T, T>(call.form, mean, stddev, M, D, trust, space);
  write_tiles(call, input, good, space);
}

// Sums in double. rest: only the inputs that score_by_float_tiles has left.
template <class Form, class T, int kMost>
__global__ void __launch_bounds__(kTileThreads)
    score_by_tiles(__grid_constant__ const PairwiseCall<Form, T, kMost> call, __grid_constant__ const TilePlan plan,
                   bool rest) {
  extern __shared__ __align__(16) unsigned char shared_bytes[];
  __shared__ unsigned wanted[kTileThreads / 32];
  const TileSpace<T> space(plan, shared_bytes);
  // The block looks at as many of its inputs at a time as it has threads.
  for (long long first = blockIdx.x; first < call.rows.num_inputs;
       first += static_cast<long long>(blockDim.x) * gridDim.x) {
    const long long own = first + static_cast<long long>(threadIdx.x) * gridDim.x;
    const bool left = own < call.rows.num_inputs && (!rest || isnan(call.results.epistemic[own]));
    const unsigned lanes = __ballot_sync(kAllLanes, left);
    if (threadIdx.x % 32 == 0) {
      wanted[threadIdx.x / 32] = lanes;
    }
    __syncthreads();
    for (int k = 0; k < blockDim.x; ++k) {
      if ((wanted[k / 32] >> (k % 32) & 1) != 0) {
        score_carefully(call, plan, first + static_cast<long long>(k) * gridDim.x, space);
        __syncthreads();
      }
    }
    __syncthreads();
  }
}

}  // namespace dissent::score
