// Properties of the current card.
#pragma once

#include <cuda_runtime.h>

#include <atomic>

#include "dissent/device/cuda_error.hpp"

namespace dissent {

inline constexpr int kMostCards = 64;  // whose properties are remembered; those beyond are asked each time

inline int current_card() {
  int card = 0;
  DISSENT_CUDA(cudaGetDevice(&card));
  return card;
}

// Needed at every launch; remembered after the first.
inline int num_multiprocessors() {
  static std::atomic<int> counts[kMostCards];
  const int card = current_card();
  int count = card < kMostCards ? counts[card].load(std::memory_order_relaxed) : 0;
  if (count == 0) {
    DISSENT_CUDA(cudaDeviceGetAttribute(&count, cudaDevAttrMultiProcessorCount, card));
    if (card < kMostCards) {
      counts[card].store(count, std::memory_order_relaxed);
    }
  }
  return count;
}

}  // namespace dissent
