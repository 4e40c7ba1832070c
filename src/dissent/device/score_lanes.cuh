// Sums over the lanes of a warp, or over groups of its lanes, of values that define how they merge. All lanes call
// them.
#pragma once

#include <type_traits>

#include "dissent/device/score_math.hpp"

namespace dissent::score {

inline constexpr unsigned kAllLanes = 0xffffffffU;

// Another lane's value, whatever its type.
template <class Value>
__device__ __forceinline__ Value exchange(const Value& value, int offset) {
  static_assert(std::is_trivially_copyable_v<Value> && sizeof(Value) % 4 == 0);
  constexpr int kWords = sizeof(Value) / 4;
  int words[kWords];
  __builtin_memcpy(words, &value, sizeof(Value));
#pragma unroll
  for (int k = 0; k < kWords; ++k) {
    words[k] = __shfl_xor_sync(kAllLanes, words[k], offset);
  }
  Value result;
  __builtin_memcpy(&result, words, sizeof(Value));
  return result;
}

// Merges the values of each group of kLanes lanes; all lanes get the result.
template <int kLanes = 32, class Value>
__device__ __forceinline__ void merge_lanes(Value& value) {
#pragma unroll
  for (int offset = kLanes / 2; offset > 0; offset /= 2) {
    value.merge(exchange(value, offset));
  }
}

// How many of kCount values a lane keeps when they are scattered over 2 kOffset lanes.
template <int kCount, int kOffset>
__host__ __device__ constexpr int kept_values() {
  return kOffset == 0 || kCount == 1 ? kCount : kept_values<(kCount + 1) / 2, kOffset / 2>();
}

struct Kept {
  int first;  // number of the first value that a lane has now
  int end;    // it has no values from here on
};

// Merges each of kCount values over 2 kOffset lanes and scatters the results over the lanes: at each step a lane keeps
// half of the values and sends the rest to its partner. Then values[k] is result number first + k, if that is below
// end.
template <int kCount, int kOffset, class Value>
__device__ __forceinline__ Kept scatter_lanes(Value* values, int lane, Kept kept = {0, kCount}) {
  if constexpr (kOffset == 0) {
    return kept;
  } else if constexpr (kCount == 1) {
    merge_lanes<2 * kOffset>(values[0]);
    return kept;
  } else {
    constexpr int kLow = (kCount + 1) / 2;
    const bool high = (lane & kOffset) != 0;
#pragma unroll
    for (int k = 0; k < kLow; ++k) {
      const int other = k + kLow < kCount ? k + kLow : kCount - 1;
      const Value sent = high ? values[k] : values[other];
      Value own = high ? values[other] : values[k];
      own.merge(exchange(sent, kOffset));
      values[k] = own;
    }
    const int middle = kept.first + kLow;
    const Kept half = high ? Kept{middle, kept.end} : Kept{kept.first, middle < kept.end ? middle : kept.end};
    return scatter_lanes<kLow, kOffset / 2>(values, lane, half);
  }
}

// Whether `holds` is true in all lanes of this lane's group.
template <int kLanes>
__device__ __forceinline__ bool all_of_group(bool holds) {
  const unsigned lanes = __ballot_sync(kAllLanes, holds);
  if constexpr (kLanes == 32) {
    return lanes == kAllLanes;
  } else {
    constexpr unsigned kGroup = (1U << kLanes) - 1;
    const unsigned group = lanes >> (threadIdx.x % 32 / kLanes * kLanes);
    return (group & kGroup) == kGroup;
  }
}

template <int kLanes = 32>
__device__ __forceinline__ double sum_lanes(double value) {
#pragma unroll
  for (int offset = kLanes / 2; offset > 0; offset /= 2) {
    value += __shfl_xor_sync(kAllLanes, value, offset);
  }
  return value;
}

}  // namespace dissent::score
