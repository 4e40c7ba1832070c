// The divergences of an input, computed by a block. The input's parts lie in shared memory, some outputs at a time, and
// a thread keeps the sums of a tile, 4 x 4 components against each other, in registers. If there are few tiles, several
// threads share one, each with its own outputs.
#pragma once

#include <cuda_runtime.h>

#include "dissent/device/score_tile_plan.hpp"
#include "dissent/device/score_warp_sums.cuh"

namespace dissent::score {

template <class E>
struct TileSpace {
  double* divergence;      // [M][M]
  LogParts* log;           // [M]
  double* sum_log_stddev;  // [M]
  RowTerms<E>* terms;      // [M], 16 bytes each at most
  FarSum* far;             // [32]
  unsigned char* units;    // inverses, squares
  unsigned char* parts;    // [outputs][stride][3][kTile]

  __device__ TileSpace(const TilePlan& plan, unsigned char* at) {
    const std::size_t M = plan.num_components;
    divergence = reinterpret_cast<double*>(at);
    at += plan.matrix_bytes;
    log = reinterpret_cast<LogParts*>(at);
    at += 16 * M;
    terms = reinterpret_cast<RowTerms<E>*>(at);
    at += 16 * M;
    far = reinterpret_cast<FarSum*>(at);
    at += 32 * 16;
    units = at;
    at += plan.unit_bytes();
    parts = at;
    at += plan.parts_bytes();
    sum_log_stddev = reinterpret_cast<double*>(at);
  }
};

template <class C>
struct alignas(16) Four {
  C value[4];
};

// The parts of plan.outputs() outputs of all components, and sums over them.
template <class Form, class C, class T>
struct Tiles {
  using Part = typename Form::template Part<C>;
  using Pair = typename Form::template Pair<C>;
  using Unit = typename Form::template Unit<C>;
  static_assert(sizeof(Part) == 3 * sizeof(C));

  const Form& form;
  const TilePlan& plan;
  const T* mean;
  const T* stddev;
  int D;
  C* units;
  C* parts;

  __device__ Unit unit(int d) const {
    Unit result{};
    if constexpr (Form::kUnits) {
      result = {units[d], units[plan.outputs() + d]};
    }
    return result;
  }

  // Stages outputs [begin, begin + plan.outputs()), as far as there are any.
  __device__ void stage(int begin) const {
    const int M = plan.num_components;
    for (int k = threadIdx.x; k < plan.groups << plan.outputs_log2; k += blockDim.x) {
      const int d = k & (plan.outputs() - 1);
      const int group = k >> plan.outputs_log2;
      if (begin + d >= D) {
        continue;
      }
      const Unit unit = form.unit(static_cast<C>(stddev[begin + d]));
      if constexpr (Form::kUnits) {
        if (group == 0) {
          units[d] = unit.inverse;
          units[plan.outputs() + d] = unit.square;
        }
      }
      Four<C> kinds[3];
#pragma unroll
      for (int c = 0; c < kTile; ++c) {
        const int m = min(group * kTile + c, M - 1);
        const std::size_t at = static_cast<std::size_t>(m) * D + begin + d;
        const Part part = form.part(static_cast<C>(mean[at]), static_cast<C>(stddev[at]), unit);
        C words[3];
        __builtin_memcpy(words, &part, sizeof(part));
        kinds[0].value[c] = words[0];
        kinds[1].value[c] = words[1];
        kinds[2].value[c] = words[2];
      }
#pragma unroll
      for (int kind = 0; kind < 3; ++kind) {
        place(group, d)[kind] = kinds[kind];
      }
    }
  }

  // The three kinds of number of a group's parts for an output.
  __device__ __forceinline__ Four<C>* place(int group, int d) const {
    return reinterpret_cast<Four<C>*>(parts) + 3 * (d * plan.stride + group);
  }

  __device__ static __forceinline__ void load(const Four<C>* from, Part* part) {
    const Four<C> kinds[3] = {from[0], from[1], from[2]};
#pragma unroll
    for (int c = 0; c < kTile; ++c) {
      const C words[3] = {kinds[0].value[c], kinds[1].value[c], kinds[2].value[c]};
      __builtin_memcpy(part + c, words, sizeof(Part));
    }
  }

  // Sums all outputs for the tile of groups i and j; all threads of the block call it.
  __device__ __forceinline__ void sum(int i, int j, int slice, Pair* pair) const {
    int folded = 0;
    for (int begin = 0; begin < D; begin += plan.outputs()) {
      __syncthreads();
      stage(begin);
      __syncthreads();
      const int end = min(plan.outputs(), D - begin);
      const Four<C>* from_left = place(i, slice);
      const Four<C>* from_right = place(j, slice);
      const int step = 3 * plan.stride * plan.slices;
      for (int d = slice; d < end; d += plan.slices, from_left += step, from_right += step) {
        Part left[kTile];
        Part right[kTile];
        load(from_left, left);
        load(from_right, right);
        const Unit unit_d = unit(d);
#pragma unroll
        for (int k = 0; k < kTile * kTile; ++k) {
          pair[k].add(left[k / kTile], right[k % kTile], unit_d);
        }
        if (++folded == Form::template kFold<C>) {
          fold(pair);
          folded = 0;
        }
      }
    }
    fold(pair);
    for (int offset = plan.slices / 2; offset > 0; offset /= 2) {
#pragma unroll
      for (int k = 0; k < kTile * kTile; ++k) {
        pair[k].merge(exchange(pair[k], offset));
      }
    }
  }

  __device__ static __forceinline__ void fold(Pair* pair) {
#pragma unroll
    for (int k = 0; k < kTile * kTile; ++k) {
      pair[k].fold();
    }
  }
};

// Logarithms of the products of standard deviations, one warp per component. Returns whether all scales are in range.
template <class Form, class C, class T, class E>
__device__ bool log_components(const Form& form, const T* stddev, int M, int D, const TileSpace<E>& space) {
  const int lane = threadIdx.x % 32;
  ScaleCheck scales;
  ScaleCheck ratios;
  for (int m = threadIdx.x / 32; m < M; m += blockDim.x / 32) {
    constexpr int kTogether = 12;
    LogProduct<C> product;
    for (int begin = 0; begin < D; begin += 32 * kTogether) {
      T raw[kTogether];
#pragma unroll
      for (int r = 0; r < kTogether; ++r) {  // all on their way before the first is used
        const int d = begin + 32 * r + lane;
        raw[r] = d < D ? stddev[static_cast<std::size_t>(m) * D + d] : T{1};
      }
#pragma unroll
      for (int r = 0; r < kTogether; ++r) {
        const int d = begin + 32 * r + lane;
        const C unit = Form::kUnits && m > 0 && d < D ? static_cast<C>(stddev[d]) : C{1};
        const C factor = form.factor(static_cast<C>(raw[r]), form.unit(unit));
        scales.add(raw[r]);
        if (Form::kUnits && m > 0) {
          ratios.add(factor);
        }
        product.multiply(factor);
        if ((r + 1) % LogProduct<C>::kFold == 0) {
          product.normalise();
        }
      }
      product.normalise();
    }
    merge_lanes(product);
    if (lane == 0) {
      space.log[m] = LogParts::of(product);
    }
  }
  constexpr T kMost = static_cast<T>(ScaleLimits<C>::kStddev);
  const bool plain = scales.is_empty() || scales.passed(1 / kMost, kMost);
  const bool even = ratios.is_empty() || ratios.passed(1 / ScaleLimits<C>::kRatio, ScaleLimits<C>::kRatio);
  return __syncthreads_and(plain && even);
}

// The row and column of a tile on or above the diagonal.
__device__ __forceinline__ int2 tile_of(int task, int groups) {
  int row = 0;
  while (task >= groups - row) {
    task -= groups - row;
    ++row;
  }
  return {row, row + task};
}

// All divergences of the input, summed in C; what is not trusted becomes NaN.
template <class Form, class C, class T, class E>
__device__ __forceinline__ Trust sum_tiles(const Form& form, const TilePlan& plan, const T* mean, const T* stddev,
                                           int D, const TileSpace<E>& space) {
  using Work = Tiles<Form, C, T>;
  const int M = plan.num_components;
  const bool in_range = log_components<Form, C, T>(form, stddev, M, D, space);
  for (int m = threadIdx.x; m < M; m += blockDim.x) {
    space.sum_log_stddev[m] = space.log[m].whole() + (Form::kUnits && m > 0 ? space.log[0].whole() : 0);
  }
  const Work work{form, plan, mean, stddev, D, reinterpret_cast<C*>(space.units), reinterpret_cast<C*>(space.parts)};
  const double least = form.template least<C, T>(D);
  const int slice = threadIdx.x % plan.slices;
  bool trusted = true;
  for (int first = 0; first < plan.tasks; first += blockDim.x / plan.slices) {
    const int task = first + threadIdx.x / plan.slices;
    const int2 tile = tile_of(min(task, plan.tasks - 1), plan.groups);
    typename Work::Pair pair[kTile * kTile];
    work.sum(tile.x, tile.y, slice, pair);
#pragma unroll
    for (int k = 0; k < kTile * kTile; ++k) {
      const int i = tile.x * kTile + k / kTile;
      const int j = tile.y * kTile + k % kTile;
      if (task < plan.tasks && i < j && j < M && k % plan.slices == slice) {
        const Both both = form.values(pair[k], Form::kUnits && i == 0 ? LogParts{} : space.log[i], space.log[j]);
        const bool there = holds(both.there, least);
        const bool back = holds(both.back, least);
        trusted = trusted && there && back;
        space.divergence[i * M + j] = there ? both.there : not_a_number();
        space.divergence[j * M + i] = back ? both.back : not_a_number();
      }
    }
  }
  const bool all = __syncthreads_and(trusted);
  return !in_range ? Trust::kNone : all ? Trust::kAll : Trust::kLargeOnly;
}

}  // namespace dissent::score
