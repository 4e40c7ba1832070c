// A small thread pool for loops over independent blocks.
//
// The blocks of a loop are fixed by (count, block_size) and never by the number of threads; which thread runs which
// block is not fixed. So a result that depends only on its block is the same to the bit on any number of threads; sums
// over blocks are formed by the caller, in block order, after the loop.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>

namespace dissent {

class ThreadPool {
 public:
  // num_threads counts the calling thread, which works too: 1 starts no thread at all, 0 means one per core.
  // `poll` (may be empty) is called by the thread that runs a loop, before each of its blocks: it may throw to end the
  // loop, which is how a long call is interrupted. Throws SystemError when the system gives no more threads.
  explicit ThreadPool(int num_threads = 0, std::function<void()> poll = {});
  ~ThreadPool();
  ThreadPool(const ThreadPool&) = delete;
  ThreadPool& operator=(const ThreadPool&) = delete;

  int num_threads() const;

  // Calls body(begin, end, thread) for [0, block_size), [block_size, 2 block_size), ... up to count, each block once;
  // returns when all are done. `thread` in [0, num_threads) serves to choose scratch memory. The first exception thrown
  // by a block is rethrown here; blocks not yet begun are then skipped. One loop at a time: a call from inside a body
  // or from another thread while a loop runs throws InputError.
  void for_blocks(std::size_t count, std::size_t block_size,
                  const std::function<void(std::size_t begin, std::size_t end, int thread)>& body);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace dissent
