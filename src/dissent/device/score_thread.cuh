// Pairwise scores for few outputs: each thread takes an input. A warp brings the rows of its 32 inputs into shared
// memory, so that loads are whole lines; it waits for no other warp. Then the whole warp recomputes the inputs whose
// sums are not trusted, one after the other (score_warp.cuh).
#pragma once

#include <cuda_pipeline.h>

#include <cstdint>
#include <utility>

#include "dissent/device/score_warp.cuh"

namespace dissent::score {

// Shared memory of a warp: rows of its inputs, with room to make their length odd.
template <class T>
std::size_t staged_bytes(int num_components, int num_outputs) {
  return sizeof(T) * 2 * 32 * static_cast<std::size_t>((num_components * num_outputs) | 1);
}

// How the rows of a warp's inputs lie in shared memory. Threads walk along them in step, so rows of odd length use all
// banks, and many of even length half of them: these follow each other as in memory and are copied 16 bytes at a time.
// The other rows are padded to an odd length.
template <class T>
struct StagedRows {
  const Rows<T>& rows;
  int lane;
  int row;     // M D
  bool flat;   // as in memory
  int stride;  // of rows in shared memory

  __device__ __forceinline__ StagedRows(const Rows<T>& of, int of_lane)
      : rows(of), lane(of_lane), row(of.num_components * of.num_outputs) {
    const auto places = reinterpret_cast<std::uintptr_t>(of.mean) | reinterpret_cast<std::uintptr_t>(of.stddev);
    flat = row % 4 != 0 && places % 16 == 0;
    stride = flat ? row : row | 1;
  }

  // Loads inputs [first, first + count), with first a multiple of 32: the means, then at `stddevs()` the standard
  // deviations.
  __device__ __forceinline__ void load(long long first, int count, T* staged) const {
    copy(rows.mean + first * row, count, staged);
    copy(rows.stddev + first * row, count, staged + stddevs());
    __pipeline_commit();
    __pipeline_wait_prior(0);
    __syncwarp();
  }
  __device__ __forceinline__ int stddevs() const { return 32 * (row | 1); }

 private:
  __device__ __forceinline__ void copy(const T* from, int count, T* to) const {
    constexpr int kVector = 16 / sizeof(T);
    if (flat) {
      const int vectors = count * row / kVector;
      for (int k = lane; k < vectors; k += 32) {
        __pipeline_memcpy_async(to + kVector * k, from + kVector * k, 16);
      }
      for (int k = vectors * kVector + lane; k < count * row; k += 32) {
        to[k] = from[k];
      }
      return;
    }
    for (int r = 0; r < count; ++r) {
      for (int k = lane; k < row; k += 32) {
        __pipeline_memcpy_async(to + r * stride + k, from + r * row + k, sizeof(T));
      }
    }
  }
};

// A thread's divergences, all in registers.
template <class Form, class C, class T, int M>
struct ThreadPairs {
  static constexpr int kPairs = M * (M - 1) / 2;
  static DISSENT_BOTH auto own_form(const Form& form) {
    if constexpr (sizeof(C) == 8) {
      return careful<T>(form);
    } else {
      return form;
    }
  }
  using OwnForm = decltype(own_form(std::declval<Form>()));

  Both value[kPairs];
  double mean_log;  // sum_m w_m sum_log_stddev[m]
  bool trusted;

  template <class Weights>
  __device__ __forceinline__ ThreadPairs(const Form& form, const Weights& weights, const T* mean, const T* stddev,
                                         int D) {
    const auto own = own_form(form);
    LaneSums<OwnForm, C, M> sums;
    int folded = 0;
    for (int d = 0; d < D; ++d) {
      Column<T, M> column;
#pragma unroll
      for (int m = 0; m < M; ++m) {
        column.mean[m] = mean[m * D + d];
        column.stddev[m] = stddev[m * D + d];
      }
      sums.add(own, column);
      if (++folded == LogProduct<C>::kFold) {
        sums.settle();
        folded = 0;
      }
    }
    sums.end();
    trusted = sums.template in_range<T>();
    finish(own, weights, sums, form.template least<C, T>(D));
  }

 private:
  template <class Weights>
  __device__ __forceinline__ void finish(const OwnForm& form, const Weights& weights,
                                         const LaneSums<OwnForm, C, M>& sums, double least) {
    LogParts log[M];
    mean_log = 0;
#pragma unroll
    for (int m = 0; m < M; ++m) {
      log[m] = LogParts::of(sums.product[m]);
      const double unit = Form::kUnits && m > 0 ? log[0].whole() : 0;
      mean_log = fma(weights.value[m], log[m].whole() + unit, mean_log);
    }
    int k = 0;
#pragma unroll
    for (int i = 0; i < M; ++i) {
#pragma unroll
      for (int j = i + 1; j < M; ++j, ++k) {
        value[k] = form.values(sums.pair[k], Form::kUnits && i == 0 ? LogParts{} : log[i], log[j]);
        trusted = trusted && holds(value[k].there, least) && holds(value[k].back, least);
      }
    }
  }
};

template <int M, class Pairs, class Weights>
__device__ __forceinline__ Score expected_thread(const Weights& weights, const Pairs& pairs) {
  ExpectedSum mean;
  int k = 0;
#pragma unroll
  for (int i = 0; i < M; ++i) {
#pragma unroll
    for (int j = i + 1; j < M; ++j, ++k) {
      const double weight = weights.value[i] * weights.value[j];
      mean.add(weight, pairs.value[k].there);
      mean.add(weight, pairs.value[k].back);
    }
  }
  return mean.score(weights.entropy);
}

// The scores of one thread's input.
template <class E, int M, class Pairs, class Weights>
__device__ __forceinline__ Score combine_thread(const Weights& weights, const FinishRule& finish, const Pairs& pairs) {
  if (finish.finish == Finish::kExpected) {
    return expected_thread<M>(weights, pairs);
  }
  RowSums<E> row[M];
  FarSum far;
  double divergence[M][M];
  int k = 0;
#pragma unroll
  for (int i = 0; i < M; ++i) {
#pragma unroll
    for (int j = i + 1; j < M; ++j, ++k) {
      divergence[i][j] = finish(pairs.value[k].there, pairs.value[k].back);
      divergence[j][i] = finish(pairs.value[k].back, pairs.value[k].there);
      row[i].add(static_cast<E>(weights.value[j]), static_cast<E>(divergence[i][j]));
      row[j].add(static_cast<E>(weights.value[i]), static_cast<E>(divergence[j][i]));
    }
  }
  RowTerms<E> terms;
#pragma unroll
  for (int i = 0; i < M; ++i) {
    terms.merge(RowTerms<E>(row[i], weights.value[i], weights.log[i]));
  }
  Score score = score_of(terms, weights.entropy);
  if (terms.far()) {
#pragma unroll
    for (int i = 0; i < M; ++i) {
#pragma unroll
      for (int j = 0; j < M; ++j) {
        if (i != j && weights.value[i] > 0 && weights.value[j] > 0) {
          far.add(weights.log[j] - divergence[i][j]);
        }
      }
    }
    score.log_deficit = far.log_deficit();
  }
  return score;
}

template <class Form, class T, int M, int kMost>
__global__ void __launch_bounds__(32 * kWarpsPerBlock, 3)
    score_by_threads(__grid_constant__ const PairwiseCall<Form, T, kMost> call) {
  using C = std::conditional_t<Form::kSingleFrom == 1, T, double>;
  extern __shared__ __align__(16) unsigned char shared_bytes[];
  __shared__ GroupSpace<M> spaces[kWarpsPerBlock];
  const Rows<T>& rows = call.rows;
  const int D = rows.num_outputs;
  const int warp = threadIdx.x / 32;
  const int lane = threadIdx.x % 32;
  const long long first = (static_cast<long long>(blockIdx.x) * kWarpsPerBlock + warp) * 32;
  if (first >= rows.num_inputs) {
    return;
  }
  const StagedRows<T> layout(rows, lane);
  T* mean = reinterpret_cast<T*>(shared_bytes) + static_cast<std::size_t>(warp) * 2 * layout.stddevs();
  const T* stddev = mean + layout.stddevs();
  const int count = rows.num_inputs - first < 32 ? static_cast<int>(rows.num_inputs - first) : 32;
  layout.load(first, count, mean);
  const int own = (lane < count ? lane : count - 1) * layout.stride;
  const ThreadPairs<Form, C, T, M> pairs(call.form, call.weights, mean + own, stddev + own, D);
  if (lane < count && pairs.trusted) {
    const Score score = combine_thread<T, M>(call.weights, call.finish, pairs);
    call.results.write(first + lane, score, 0.5 * D * (1 + kLogTwoPi) + pairs.mean_log, true);
  }
  unsigned doubtful = __ballot_sync(kAllLanes, lane < count && !pairs.trusted);
  while (doubtful != 0) {
    const int r = __ffs(doubtful) - 1;
    doubtful &= doubtful - 1;
    const bool good = divergences_of<32, T, M>(call.form, mean + r * layout.stride, stddev + r * layout.stride, D, lane,
                                               false, spaces[warp]);
    write_group<32, T>(call, first + r, true, good, lane, spaces[warp]);
  }
}

}  // namespace dissent::score
