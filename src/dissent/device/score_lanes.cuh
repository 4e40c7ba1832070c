// Sums over the lanes of a warp, of values that say how they merge.
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

// All lanes get the whole of a group of kLanes of them.
template <int kLanes = 32, class Value>
__device__ __forceinline__ void merge_lanes(Value& value) {
#pragma unroll
  for (int offset = kLanes / 2; offset > 0; offset /= 2) {
    value.merge(exchange(value, offset));
  }
}

// The whole of each of kCount values, every one to another lane: at each step a lane keeps half of the values and sends
// the rest to its partner. values[0] is then the whole of number `return value` (-1: of none).
template <int kCount, int kOffset = 16, class Value>
__device__ __forceinline__ int scatter_lanes(Value* values, int lane, int first = 0, int end = kCount) {
  if constexpr (kCount == 1) {
#pragma unroll
    for (int offset = kOffset; offset > 0; offset /= 2) {
      values[0].merge(exchange(values[0], offset));
    }
    return first < end ? first : -1;
  } else {
    constexpr int kLow = (kCount + 1) / 2;
    const bool high = (lane & kOffset) != 0;
#pragma unroll
    for (int k = 0; k < kLow; ++k) {
      const int other = k + kLow < kCount ? k + kLow : kCount - 1;
      const Value sent = high ? values[k] : values[other];
      Value kept = high ? values[other] : values[k];
      kept.merge(exchange(sent, kOffset));
      values[k] = kept;
    }
    const int middle = first + kLow;
    return scatter_lanes<kLow, kOffset / 2>(values, lane, high ? middle : first,
                                            high           ? end
                                            : middle < end ? middle
                                                           : end);
  }
}

}  // namespace dissent::score
