// The divergences of an input, computed by a group of kLanes lanes. The lanes run over the outputs, and the sums of all
// pairs stay in registers, so that the mixture is read once. What float sums cannot be trusted with is recomputed in
// double, and what double sums cannot be trusted with, by the plain closed forms. The groups of a warp run in step,
// each with its own input.
#pragma once

#include <cuda_runtime.h>

#include "dissent/device/score_forms.hpp"
#include "dissent/device/score_lanes.cuh"
#include "dissent/device/score_plain.hpp"

namespace dissent::score {

// A group's results for its input, in shared memory.
template <int M>
struct GroupSpace {
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

  __device__ __forceinline__ void load_whole(const T* means, const T* stddevs, int D, int d) {
#pragma unroll
    for (int m = 0; m < M; ++m) {
      mean[m] = means[m * D + d];
      stddev[m] = stddevs[m * D + d];
    }
  }
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
  int rounds = 0;  // of LogProduct::kFold outputs since pairs were folded

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

  // After every LogProduct::kFold outputs.
  __device__ __forceinline__ void settle() {
    constexpr int kRounds = Form::template kFold<C> / LogProduct<C>::kFold;
    normalise();
    if (kRounds == 1 || ++rounds == kRounds) {
      fold();
      rounds = 0;
    }
  }
  // After the last.
  __device__ __forceinline__ void end() {
    normalise();
    fold();
  }

  template <class T>
  __device__ __forceinline__ bool in_range() const {
    constexpr T kMost = static_cast<T>(ScaleLimits<C>::kStddev);
    return scales.passed(1 / kMost, kMost) &&
           (!Form::kUnits || ratios.passed(1 / ScaleLimits<C>::kRatio, ScaleLimits<C>::kRatio));
  }

 private:
  __device__ __forceinline__ void normalise() {
#pragma unroll
    for (int m = 0; m < M; ++m) {
      product[m].normalise();
    }
  }
  __device__ __forceinline__ void fold() {
#pragma unroll
    for (int k = 0; k < kPairs; ++k) {
      pair[k].fold();
    }
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

// From the sums of a group's lanes to the divergences of its input.
template <int kLanes, class Form, class C, class T, int M>
__device__ __forceinline__ Trust finish_group(const Form& form, LaneSums<Form, C, M>& sums, int D, int lane,
                                              GroupSpace<M>& space) {
  constexpr int kPairs = LaneSums<Form, C, M>::kPairs;
  const bool in_range = all_of_group<kLanes>(sums.template in_range<T>());
  const Kept products = scatter_lanes<M, kLanes / 2>(sums.product, lane);
  static_assert(kept_values<M, kLanes / 2>() == 1);
  const LogParts log = LogParts::of(sums.product[0]);
  if (products.first < products.end) {
    space.log[products.first] = log;
  }
  const Kept pairs = scatter_lanes<kPairs, kLanes / 2>(sums.pair, lane);
  __syncwarp();
  const double least = form.template least<C, T>(D);
  bool trusted = true;
#pragma unroll
  for (int k = 0; k < kept_values<kPairs, kLanes / 2>(); ++k) {
    if (pairs.first + k < pairs.end) {
      const int2 at = components_of<M>(pairs.first + k);
      const bool unit = Form::kUnits && at.x == 0;
      const Both both = form.values(sums.pair[k], unit ? LogParts{} : space.log[at.x], space.log[at.y]);
      space.divergence[at.x * M + at.y] = both.there;
      space.divergence[at.y * M + at.x] = both.back;
      trusted = trusted && holds(both.there, least) && holds(both.back, least);
    }
  }
  if (lane < M) {
    space.sum_log_stddev[lane] = space.log[lane].whole() + (Form::kUnits && lane > 0 ? space.log[0].whole() : 0);
  }
  trusted = all_of_group<kLanes>(trusted);
  __syncwarp();
  return !in_range ? Trust::kNone : trusted ? Trust::kAll : Trust::kLargeOnly;
}

// Adds a lane's outputs and loads the next while it adds one: with few groups in a warp, the wait is for memory.
template <class T, class Form, class C, int M>
__device__ __forceinline__ void sum_ahead(const Form& form, const T* mean, const T* stddev, int D, int lane,
                                          LaneSums<Form, C, M>& sums) {
  Column<T, M> column;
  Column<T, M> next;
  column.load(mean, stddev, D, lane);
  int folded = 0;
  for (int begin = 0; begin < D; begin += 32) {
    next.load(mean, stddev, D, begin + 32 + lane);
    sums.add(form, column);
    column = next;
    if (++folded == LogProduct<C>::kFold) {
      sums.settle();
      folded = 0;
    }
  }
}

// Adds a lane's outputs, several at a time without checking for the end.
template <int kLanes, class T, class Form, class C, int M>
__device__ __forceinline__ void sum_together(const Form& form, const T* mean, const T* stddev, int D, int lane,
                                             LaneSums<Form, C, M>& sums) {
  constexpr int kFold = LogProduct<C>::kFold;
  int begin = 0;
  for (; begin + kLanes * kFold <= D; begin += kLanes * kFold) {
#pragma unroll 2
    for (int r = 0; r < kFold; ++r) {
      Column<T, M> column;
      column.load_whole(mean, stddev, D, begin + kLanes * r + lane);
      sums.add(form, column);
    }
    sums.settle();
  }
  for (; begin < D; begin += kLanes) {
    Column<T, M> column;
    column.load(mean, stddev, D, begin + lane);
    sums.add(form, column);
  }
}

// The divergences of a group's input, summed in C. kAhead: the input is in the card's memory, which is far away.
template <int kLanes, class C, class T, int M, bool kAhead, class Form>
__device__ __forceinline__ Trust sum_group(const Form& form, const T* mean, const T* stddev, int D, int lane,
                                           GroupSpace<M>& space) {
  LaneSums<Form, C, M> sums;
  if constexpr (kAhead) {
    sum_ahead(form, mean, stddev, D, lane, sums);
  } else {
    sum_together<kLanes>(form, mean, stddev, D, lane, sums);
  }
  sums.end();
  return finish_group<kLanes, Form, C, T, M>(form, sums, D, lane, space);
}

template <int kLanes, class T, int M, bool kAhead, class Form>
__device__ __noinline__ Trust sum_group_in_double(const Form& form, const T* mean, const T* stddev, int D, int lane,
                                                  GroupSpace<M>& space) {
  return sum_group<kLanes, double, T, M, kAhead>(form, mean, stddev, D, lane, space);
}

// Recomputes what is not trusted, with the closed forms; false if a value of the input breaks a rule.
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
      if (lane == 0) {
        sum_log_stddev[i] = sum;
      }
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
      if (lane == 0) {
        divergence[i * M + j] = sum;
      }
    }
  }
  __syncwarp();
  return true;
}

// Another lane's pointer.
template <class Value>
__device__ __forceinline__ Value* pointer_of(Value* own, int lane) {
  return reinterpret_cast<Value*>(__shfl_sync(kAllLanes, reinterpret_cast<unsigned long long>(own), lane));
}

// Applies the closed forms to the groups that need them, one after the other with the whole warp; false if a value of
// this lane's input breaks a rule.
template <int kLanes, class T, int M, class Form>
__device__ __noinline__ bool plain_groups(const Form& form, const T* mean, const T* stddev, int D, Trust trust,
                                          GroupSpace<M>& space) {
  const int own = threadIdx.x % 32;
  bool good = true;
  for (int first = 0; first < 32; first += kLanes) {
    const auto of_group = static_cast<Trust>(__shfl_sync(kAllLanes, static_cast<int>(trust), first));
    GroupSpace<M>* at = pointer_of(&space, first);
    const T* means = pointer_of(mean, first);
    const T* stddevs = pointer_of(stddev, first);
    if (of_group != Trust::kAll) {
      const bool valid = plain_warp(form, means, stddevs, M, D, own, of_group, at->divergence, at->sum_log_stddev);
      good = own / kLanes == first / kLanes ? valid : good;
    }
  }
  return good;
}

// The divergences of each group's input, in float, in double or by the closed forms, as needed; false if a value breaks
// a rule. lane: in the group; single: tries floats first.
template <int kLanes, class T, int M, bool kAhead = kLanes == 32, class Form>
__device__ __forceinline__ bool divergences_of(const Form& form, const T* mean, const T* stddev, int D, int lane,
                                               bool single, GroupSpace<M>& space) {
  Trust trust = Trust::kNone;
  if constexpr (sizeof(T) == 4) {
    if (single) {
      trust = sum_group<kLanes, float, T, M, kAhead>(form, mean, stddev, D, lane, space);
    }
    if (!__all_sync(kAllLanes, trust == Trust::kAll)) {
      trust = sum_group_in_double<kLanes, T, M, kAhead>(careful<T>(form), mean, stddev, D, lane, space);
    }
  } else {
    trust = sum_group<kLanes, double, T, M, kAhead>(form, mean, stddev, D, lane, space);
  }
  return __all_sync(kAllLanes, trust == Trust::kAll) || plain_groups<kLanes, T, M>(form, mean, stddev, D, trust, space);
}

}  // namespace dissent::score
