// The order of rows in an epoch, as Stream::shuffle draws it (base/random.hpp): Fisher-Yates with draws of Philox4x64.
//
// All threads of a block compute draws; one of them swaps.
#pragma once

#include <cstdint>

namespace dissent::device {

// Of Stream(seed, Purpose::kShuffle, component).substream(epoch).
struct OrderStream {
  std::uint64_t seed;
  std::uint64_t component;
  std::uint64_t epoch;
};

struct OrderRows {
  const std::uint32_t* sample;
  std::uint32_t* order;
  std::uint32_t* draws;  // scratch
  int count;
};

constexpr std::uint64_t kShufflePurpose = 7;  // Purpose::kShuffle

// Philox4x64-10 (Salmon et al. 2011): word `word` of block `block`.
__device__ inline std::uint64_t philox(const OrderStream& stream, std::uint64_t block, int word) {
  constexpr std::uint64_t kMultiply0 = 0xD2E7470EE14C6C93ULL;
  constexpr std::uint64_t kMultiply1 = 0xCA5A826395121157ULL;
  std::uint64_t c[4] = {block, stream.component, stream.epoch + 1, 0};
  std::uint64_t key0 = stream.seed;
  std::uint64_t key1 = kShufflePurpose;
#pragma unroll
  for (int round = 0; round < 10; ++round) {
    const std::uint64_t high0 = __umul64hi(kMultiply0, c[0]);
    const std::uint64_t low0 = kMultiply0 * c[0];
    const std::uint64_t high1 = __umul64hi(kMultiply1, c[2]);
    const std::uint64_t low1 = kMultiply1 * c[2];
    const std::uint64_t next0 = high1 ^ c[1] ^ key0;
    const std::uint64_t next2 = high0 ^ c[3] ^ key1;
    c[0] = next0;
    c[1] = low1;
    c[2] = next2;
    c[3] = low0;
    key0 += 0x9E3779B97F4A7C15ULL;
    key1 += 0xBB67AE8584CAA73BULL;
  }
  const std::uint64_t low = word % 2 == 0 ? c[0] : c[1];
  const std::uint64_t high = word % 2 == 0 ? c[2] : c[3];
  return word < 2 ? low : high;
}

// Stream::below(bound) for these bits. `again`: it would have drawn once more (once in 2^64 / bound).
__device__ inline std::uint32_t draw_below(std::uint64_t bits, std::uint64_t bound, bool& again) {
  const std::uint64_t low = bits * bound;
  again = low < bound && low < (0 - bound) % bound;
  return static_cast<std::uint32_t>(__umul64hi(bits, bound));
}

// One thread draws and swaps, and draws again if needed.
__device__ inline void order_slowly(const OrderStream& stream, const OrderRows& rows) {
  std::uint64_t number = 0;
  for (int k = rows.count; k > 1; --k) {
    bool again = true;
    std::uint32_t at = 0;
    while (again) {
      at = draw_below(philox(stream, number / 4, static_cast<int>(number % 4)), static_cast<std::uint64_t>(k), again);
      ++number;
    }
    const std::uint32_t last = rows.order[k - 1];
    rows.order[k - 1] = rows.order[at];
    rows.order[at] = last;
  }
}

// Swaps according to draws[0], draws[1], ..., in the order of Stream::shuffle.
__device__ inline void swap_rows(std::uint32_t* order, const std::uint32_t* draws, int count) {
  for (int k = count; k > 1; --k) {
    const std::uint32_t at = draws[count - k];
    const std::uint32_t last = order[k - 1];
    order[k - 1] = order[at];
    order[at] = last;
  }
}

// All threads of a block call it; `shared` is free for use. Without `shuffled`, the order is that of the sample.
template <int kThreads>
__device__ void order_rows(const OrderStream& stream, bool shuffled, const OrderRows& rows, std::uint32_t* shared,
                           int shared_words) {
  std::uint32_t* order = shuffled && rows.count <= shared_words ? shared : rows.order;
  std::uint32_t* draws = rows.count <= shared_words / 2 ? shared + rows.count : rows.draws;
  __syncthreads();
  for (int k = threadIdx.x; k < rows.count; k += kThreads) {
    order[k] = rows.sample[k];
  }
  if (!shuffled) {
    __syncthreads();
    return;
  }
  bool any_again = false;
  for (int k = threadIdx.x; k < rows.count - 1; k += kThreads) {
    bool again = false;
    draws[k] = draw_below(philox(stream, static_cast<std::uint64_t>(k / 4), k % 4),
                          static_cast<std::uint64_t>(rows.count - k), again);
    any_again = any_again || again;
  }
  const bool slow = __syncthreads_or(any_again) != 0;
  if (threadIdx.x == 0) {
    if (slow) {
      order_slowly(stream, {rows.sample, order, draws, rows.count});
    } else {
      swap_rows(order, draws, rows.count);
    }
  }
  __syncthreads();
  if (order != rows.order) {
    for (int k = threadIdx.x; k < rows.count; k += kThreads) {
      rows.order[k] = order[k];
    }
    __syncthreads();
  }
}

}  // namespace dissent::device
