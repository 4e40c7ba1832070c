// The executor of one machine: a few threads that share a loop's blocks.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>

#include "dissent/base/executor.hpp"

namespace dissent {

class ThreadPool final : public Executor {
 public:
  // num_threads counts the calling thread, which works too: 1 starts no thread at all, 0 means one per core.
  // `poll` (may be empty) is called by the thread that runs a loop, before each of its blocks: it may throw to end the
  // loop, which is how a long call is interrupted. Throws SystemError when the system gives no more threads.
  explicit ThreadPool(int num_threads = 0, std::function<void()> poll = {});
  ~ThreadPool() override;
  ThreadPool(const ThreadPool&) = delete;
  ThreadPool& operator=(const ThreadPool&) = delete;

  int num_threads() const override;
  void for_blocks(std::size_t count, std::size_t block_size,
                  const std::function<void(std::size_t begin, std::size_t end, int thread)>& body) override;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace dissent
