// The divergences of an input by a warp: its lanes run over the outputs, and all pairs' sums stay in registers, so that
// the mixture is read once. What float sums cannot vouch for, the warp does again in double, and what those cannot, by
// the plain closed forms.
#pragma once

#include <cuda_runtime.h>

#include "dissent/device/score_forms.hpp"
#include "dissent/device/score_lanes.cuh"
#include "dissent/device/score_plain.hpp"

namespace dissent::score {

// What a warp knows of its input, in shared memory.
template <int M>
struct WarpSpace {
  double divergence[M * M];
  double sum_log_stddev[M];
  LogParts log[M];
};

enum class Trust : int { kNone, kLargeOnly, kAll };

__device__ __forceinline__ bool holds(double value, double least) { return value >= least && value <= kLargest; }

// One output of all components.
template <class T, int M>
struct Column {
  T mean[M];
  T stddev[M];

  // Beyond the last output all components are alike, which adds nothing to any sum.
  __device__ __forceinline__ void load(const T* means, const T* stddevs, int D, int d) {
#pragma unroll
    for (int m = 0; m < M; ++m) {
      mean[m] = d < D ? means[m * D + d] : T{0};
      stddev[m] = d < D ? stddevs[m * D + d] : T{1};
    }
  }
};

// The running sums of a lane.
template <class Form, class C, int M>
struct LaneSums {
  static constexpr int kPairs = M * (M - 1) / 2;
  typename Form::template Pair<C> pair[kPairs];
  LogProduct<C> product[M];
  ScaleCheck scales;
  ScaleCheck ratios;

  template <class T>
  __device__ __forceinline__ void add(const Form& form, const Column<T, M>& column) {
    typename Form::template Part<C> part[M];
    const auto unit = form.unit(static_cast<C>(column.stddev[0]));
#pragma unroll
    for (int m = 0; m < M; ++m) {
      const C stddev = static_cast<C>(column.stddev[m]);
      part[m] = form.part(static_cast<C>(column.mean[m]), stddev, unit);
      const C factor = Form::kUnits && m == 0 ? stddev : form.factor(stddev, unit);
      product[m].multiply(factor);
      if (Form::kUnits && m > 0) {
        ratios.add(factor);
      }
      scales.add(column.stddev[m]);
    }
    int k = 0;
#pragma unroll
    for (int i = 0; i < M; ++i) {
#pragma unroll
      for (int j = i + 1; j < M; ++j, ++k) {
        pair[k].add(part[i], part[j], unit);
      }
    }
  }

  __device__ __forceinline__ void fold() {
#pragma unroll
    for (int m = 0; m < M; ++m) {
      product[m].normalise();
    }
#pragma unroll
    for (int k = 0; k < kPairs; ++k) {
      pair[k].fold();
    }
  }

  template <class T>
  __device__ __forceinline__ bool in_range() const {
    constexpr T kMost = static_cast<T>(ScaleLimits<C>::kStddev);
    return scales.passed(1 / kMost, kMost) &&
           (!Form::kUnits || ratios.passed(1 / ScaleLimits<C>::kRatio, ScaleLimits<C>::kRatio));
  }
};

// The components of pair number k in the order of LaneSums.
template <int M>
__device__ __forceinline__ int2 components_of(int k) {
  int i = 0;
#pragma unroll
  for (int row = 0; row + 2 < M; ++row) {
    if (i == row && k >= M - 1 - row) {
      k -= M - 1 - row;
      ++i;
    }
  }
  return {i, i + 1 + k};
}

// From the lanes' sums to the divergences of the input.
template <class Form, class C, class T, int M>
__device__ __forceinline__ Trust finish_warp(const Form& form, LaneSums<Form, C, M>& sums, int D, int lane,
                                             WarpSpace<M>& space) {
  const bool in_range = __all_sync(kAllLanes, sums.template in_range<T>());
  const int m = scatter_lanes<M>(sums.product, lane);
  const LogParts log = LogParts::of(sums.product[0]);
  if (m >= 0) {
    space.log[m] = log;
  }
  const int k = scatter_lanes<LaneSums<Form, C, M>::kPairs>(sums.pair, lane);
  __syncwarp();
  bool trusted = true;
  if (k >= 0) {
    const int2 at = components_of<M>(k);
    const bool unit = Form::kUnits && at.x == 0;
    const Both both = form.values(sums.pair[0], unit ? LogParts{} : space.log[at.x], space.log[at.y]);
    space.divergence[at.x * M + at.y] = both.there;
    space.divergence[at.y * M + at.x] = both.back;
    const double least = form.template least<C, T>(D);
    trusted = holds(both.there, least) && holds(both.back, least);
  }
  if (lane < M) {
    space.sum_log_stddev[lane] = space.log[lane].whole() + (Form::kUnits && lane > 0 ? space.log[0].whole() : 0);
  }
  __syncwarp();
  return !in_range ? Trust::kNone : __all_sync(kAllLanes, trusted) ? Trust::kAll : Trust::kLargeOnly;
}

// The divergences of an input, summed in C.
template <class Form, class C, class T, int M>
__device__ __forceinline__ Trust sum_warp(const Form& form, const T* mean, const T* stddev, int D, int lane,
                                          WarpSpace<M>& space) {
  constexpr int kFold = LogProduct<C>::kFold;
  LaneSums<Form, C, M> sums;
  Column<T, M> column;
  Column<T, M> next;
  column.load(mean, stddev, D, lane);
  int folded = 0;
  for (int begin = 0; begin < D; begin += 32) {
    next.load(mean, stddev, D, begin + 32 + lane);
    sums.add(form, column);
    column = next;
    if (++folded == kFold) {
      sums.fold();
      folded = 0;
    }
  }
  sums.fold();
  return finish_warp<Form, C, T, M>(form, sums, D, lane, space);
}

template <class Form, class T, int M>
__device__ __noinline__ Trust sum_warp_in_double(const Form& form, const T* mean, const T* stddev, int D, int lane,
                                                 WarpSpace<M>& space) {
  return sum_warp<Form, double, T, M>(form, mean, stddev, D, lane, space);
}

__device__ __forceinline__ double sum_lanes(double value) {
#pragma unroll
  for (int offset = 16; offset > 0; offset /= 2) {
    value += __shfl_xor_sync(kAllLanes, value, offset);
  }
  return value;
}

// Recomputes what is not trusted by the closed forms; false where a value of the input breaks a rule.
template <class Form, class T>
__device__ __noinline__ bool plain_warp(const Form& form, const T* mean, const T* stddev, int M, int D, int lane,
                                        Trust trust, double* divergence, double* sum_log_stddev) {
  bool good = true;
  for (int k = lane; k < M * D; k += 32) {
    good = good && valid({static_cast<double>(mean[k]), static_cast<double>(stddev[k])});
  }
  if (!__all_sync(kAllLanes, good)) {
    return false;
  }
  const double least = form.template least<double, T>(D);
  for (int i = 0; i < M; ++i) {
    if (trust == Trust::kNone) {
      double sum = 0;
      for (int d = lane; d < D; d += 32) {
        sum += log(static_cast<double>(stddev[i * D + d]));
      }
      sum = sum_lanes(sum);
      sum_log_stddev[i] = sum;
    }
    for (int j = 0; j < M; ++j) {
      if (i == j || (trust == Trust::kLargeOnly && holds(divergence[i * M + j], least))) {
        continue;
      }
      double sum = 0;
      for (int d = lane; d < D; d += 32) {
        sum += plain_term(form, {static_cast<double>(mean[i * D + d]), static_cast<double>(stddev[i * D + d])},
                          {static_cast<double>(mean[j * D + d]), static_cast<double>(stddev[j * D + d])});
      }
      sum = sum_lanes(sum);
      __syncwarp();
      divergence[i * M + j] = sum;
    }
  }
  __syncwarp();
  return true;
}

// The divergences of an input by whatever way is right; false where a value breaks a rule. single: floats are tried.
template <class Form, class T, int M>
__device__ __forceinline__ bool divergences_of(const Form& form, const T* mean, const T* stddev, int D, int lane,
                                               bool single, WarpSpace<M>& space) {
  Trust trust = Trust::kNone;
  if constexpr (sizeof(T) == 4) {
    if (single) {
      trust = sum_warp<Form, float, T, M>(form, mean, stddev, D, lane, space);
      if (trust == Trust::kAll) {
        return true;
      }
    }
    trust = sum_warp_in_double<Form, T, M>(form, mean, stddev, D, lane, space);
  } else {
    trust = sum_warp<Form, double, T, M>(form, mean, stddev, D, lane, space);
  }
  return trust == Trust::kAll ||
         plain_warp(form, mean, stddev, M, D, lane, trust, space.divergence, space.sum_log_stddev);
}

}  // namespace dissent::score
