#include "dissent/base/threads.hpp"

#include <algorithm>
#include <condition_variable>
#include <cstdint>
#include <exception>
#include <mutex>
#include <system_error>
#include <thread>
#include <utility>
#include <vector>

#include "dissent/base/error.hpp"

namespace dissent {

// One loop at a time. Everything but `poll` and `workers` is guarded by `mutex`; blocks are large enough for that to
// cost nothing.
struct ThreadPool::State {
  std::mutex mutex;
  std::condition_variable wake;
  std::condition_variable done;
  const std::function<void(std::size_t, std::size_t, int)>* body = nullptr;
  std::size_t count = 0;
  std::size_t block_size = 1;
  std::size_t next = 0;
  int active = 0;
  std::uint64_t loop_number = 0;
  bool stopping = false;
  std::exception_ptr error;
  std::function<void()> poll;  // never changed while there are workers
  std::vector<std::thread> workers;

  // Here and not in ~ThreadPool, so that a constructor that fails half way joins the threads it has started.
  ~State() {
    {
      const std::lock_guard lock(mutex);
      stopping = true;
    }
    wake.notify_all();
    for (std::thread& worker : workers) {
      worker.join();
    }
  }

  // Takes blocks until none is left. The caller holds `lock`.
  void work(std::unique_lock<std::mutex>& lock, int thread) {
    ++active;
    while (next < count && !error) {
      const std::size_t begin = next;
      const std::size_t end = begin + std::min(block_size, count - begin);
      next = end;
      lock.unlock();
      std::exception_ptr failure;
      try {
        if (thread == 0 && poll) {
          poll();
        }
        (*body)(begin, end, thread);
      } catch (...) {
        failure = std::current_exception();
      }
      lock.lock();
      if (failure && !error) {
        error = failure;
      }
    }
    if (--active == 0) {
      done.notify_all();
    }
  }

  void run_worker(int thread) {
    std::unique_lock lock(mutex);
    std::uint64_t seen = 0;
    while (true) {
      wake.wait(lock, [&] { return stopping || loop_number != seen; });
      if (stopping) {
        return;
      }
      seen = loop_number;
      if (body != nullptr) {
        work(lock, thread);
      }
    }
  }
};

ThreadPool::ThreadPool(int num_threads, std::function<void()> poll) : state_(std::make_unique<State>()) {
  check(num_threads >= 0, "ThreadPool: num_threads = {} is negative; give 0 (one per core) or more", num_threads);
  if (num_threads == 0) {
    num_threads = std::max(1U, std::thread::hardware_concurrency());
  }
  State* state = state_.get();
  state->poll = std::move(poll);
  for (int thread = 1; thread < num_threads; ++thread) {
    try {
      state->workers.emplace_back([state, thread] { state->run_worker(thread); });
    } catch (const std::system_error& error) {
      fail_system("ThreadPool: could not start thread {} of num_threads = {}: {}", thread + 1, num_threads,
                  error.what());
    }
  }
}

ThreadPool::~ThreadPool() = default;

int ThreadPool::num_threads() const { return static_cast<int>(state_->workers.size()) + 1; }

void ThreadPool::for_blocks(std::size_t count, std::size_t block_size,
                            const std::function<void(std::size_t, std::size_t, int)>& body) {
  check(block_size > 0, "ThreadPool::for_blocks: block_size is 0; blocks must hold at least one item");
  State& state = *state_;
  std::unique_lock lock(state.mutex);
  check(state.body == nullptr, "ThreadPool::for_blocks: a loop is running; a pool runs one at a time, never nested");
  state.body = &body;
  state.count = count;
  state.block_size = block_size;
  state.next = 0;
  state.error = nullptr;
  ++state.loop_number;
  state.wake.notify_all();
  state.work(lock, 0);
  state.done.wait(lock, [&] { return state.active == 0; });
  state.body = nullptr;
  if (state.error) {
    std::rethrow_exception(std::exchange(state.error, nullptr));
  }
}

}  // namespace dissent
