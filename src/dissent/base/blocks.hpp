// Loops over blocks of rows, on a pool where there is one and on the calling thread where there is none.
#pragma once

#include <algorithm>
#include <cstddef>
#include <optional>
#include <vector>

#include "dissent/base/threads.hpp"

namespace dissent {

inline std::size_t num_threads(const ThreadPool* pool) {
  return pool == nullptr ? 1 : static_cast<std::size_t>(pool->num_threads());
}

// Calls body(begin, end, thread) for the blocks of [0, count).
template <class Body>
void for_blocks(ThreadPool* pool, std::size_t count, std::size_t block_size, const Body& body) {
  if (pool != nullptr) {
    pool->for_blocks(count, block_size,
                     [&](std::size_t begin, std::size_t end, int thread) { body(begin, end, std::size_t(thread)); });
    return;
  }
  for (std::size_t begin = 0; begin < count; begin += block_size) {
    body(begin, std::min(begin + block_size, count), std::size_t{0});
  }
}

// Calls body(begin, end, scratch); make() gives a thread its scratch on first use.
template <class Make, class Body>
void for_blocks(ThreadPool* pool, std::size_t count, std::size_t block_size, const Make& make, const Body& body) {
  std::vector<std::optional<decltype(make())>> scratch(num_threads(pool));
  for_blocks(pool, count, block_size, [&](std::size_t begin, std::size_t end, std::size_t thread) {
    if (!scratch[thread]) {
      scratch[thread].emplace(make());
    }
    body(begin, end, *scratch[thread]);
  });
}

}  // namespace dissent
