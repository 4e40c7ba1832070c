// Executor: runs a loop over independent blocks. Work receives one, so the library never asks what is behind it: today
// the threads of threads.hpp.
//
// The blocks of a loop are fixed by (count, block_size) and never by the executor; which thread runs which block is not
// fixed. So a result that depends only on its block is the same to the bit on any executor; the caller sums over
// blocks, in block order, after the loop. A null executor means only the calling thread.
#pragma once

#include <algorithm>
#include <cstddef>
#include <functional>
#include <optional>
#include <vector>

namespace dissent {

class Executor {
 public:
  virtual ~Executor() = default;

  virtual int num_threads() const = 0;

  // Calls body(begin, end, thread) for [0, block_size), [block_size, 2 block_size), ... up to count, each block once;
  // returns when all are done. `thread` in [0, num_threads) serves to choose scratch memory. The first exception thrown
  // by a block is rethrown here; blocks not yet begun are then skipped. One loop at a time: a call from inside a body
  // or from another thread while a loop runs throws InputError.
  virtual void for_blocks(std::size_t count, std::size_t block_size,
                          const std::function<void(std::size_t begin, std::size_t end, int thread)>& body) = 0;
};

inline std::size_t num_threads(const Executor* executor) {
  return executor == nullptr ? 1 : static_cast<std::size_t>(executor->num_threads());
}

// Calls body(begin, end, thread) for the blocks of [0, count).
template <class Body>
void for_blocks(Executor* executor, std::size_t count, std::size_t block_size, const Body& body) {
  if (executor != nullptr) {
    executor->for_blocks(count, block_size, [&](std::size_t begin, std::size_t end, int thread) {
      body(begin, end, std::size_t(thread));
    });
    return;
  }
  for (std::size_t begin = 0; begin < count; begin += block_size) {
    body(begin, std::min(begin + block_size, count), std::size_t{0});
  }
}

// Calls body(begin, end, scratch); make() gives a thread its scratch on first use.
template <class Make, class Body>
void for_blocks(Executor* executor, std::size_t count, std::size_t block_size, const Make& make, const Body& body) {
  std::vector<std::optional<decltype(make())>> scratch(num_threads(executor));
  for_blocks(executor, count, block_size, [&](std::size_t begin, std::size_t end, std::size_t thread) {
    if (!scratch[thread]) {
      scratch[thread].emplace(make());
    }
    body(begin, end, *scratch[thread]);
  });
}

}  // namespace dissent
