// The pool's promises: each block once, the same blocks on any number of threads, exceptions to the caller, reusable.
#include "dissent/base/threads.hpp"

#include <gtest/gtest.h>
#include <sys/resource.h>

#include <algorithm>
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <limits>
#include <mutex>
#include <set>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "dissent/base/error.hpp"
#include "dissent/base/random.hpp"

namespace dissent {
namespace {

using Block = std::pair<std::size_t, std::size_t>;

std::vector<Block> blocks_seen(ThreadPool& pool, std::size_t count, std::size_t block_size) {
  std::mutex mutex;
  std::vector<Block> seen;
  pool.for_blocks(count, block_size, [&](std::size_t begin, std::size_t end, int) {
    const std::lock_guard lock(mutex);
    seen.emplace_back(begin, end);
  });
  std::sort(seen.begin(), seen.end());
  return seen;
}

TEST(ThreadPool, RunsEveryBlockOnceWhateverTheNumberOfThreads) {
  for (const int num_threads : {1, 2, 3, 8}) {
    ThreadPool pool(num_threads);
    EXPECT_EQ(pool.num_threads(), num_threads);
    for (const std::size_t count : {0, 1, 2, 7, 64, 1000}) {
      for (const std::size_t block_size : {1, 3, 64, 5000}) {
        std::vector<Block> expected;
        for (std::size_t begin = 0; begin < count; begin += block_size) {
          expected.emplace_back(begin, std::min(begin + block_size, count));
        }
        EXPECT_EQ(blocks_seen(pool, count, block_size), expected)
            << num_threads << " threads, count " << count << ", block_size " << block_size;
      }
    }
  }
}

TEST(ThreadPool, HugeBlocksDoNotWrapAround) {
  constexpr std::size_t most = std::numeric_limits<std::size_t>::max();
  ThreadPool pool(2);
  EXPECT_EQ(blocks_seen(pool, 5, most), (std::vector<Block>{{0, 5}}));
  EXPECT_EQ(blocks_seen(pool, most, most - 2), (std::vector<Block>{{0, most - 2}, {most - 2, most}}));
}

TEST(ThreadPool, ResultsAreTheSameBitsOnAnyNumberOfThreads) {
  const auto sums = [](int num_threads) {
    ThreadPool pool(num_threads);
    std::vector<double> result(101);
    pool.for_blocks(10007, 100, [&](std::size_t begin, std::size_t end, int) {
      for (std::size_t k = begin; k < end; ++k) {
        result[begin / 100] += Stream(5, Purpose::kTest, k).normal();
      }
    });
    return result;
  };
  const std::vector<double> alone = sums(1);
  EXPECT_NE(alone[100], 0.0);
  EXPECT_EQ(sums(2), alone);
  EXPECT_EQ(sums(7), alone);
}

// Scratch memory is chosen by `thread`, so two blocks at work at the same time must never share a number.
TEST(ThreadPool, ThreadNumbersAreInRangeAndNeverSharedAtTheSameTime) {
  ThreadPool pool(4);
  std::vector<std::atomic<int>> users(4);
  std::atomic<int> clashes = 0;
  pool.for_blocks(2000, 1, [&](std::size_t, std::size_t, int thread) {
    ASSERT_GE(thread, 0);
    ASSERT_LT(thread, 4);
    clashes += users[thread].fetch_add(1) != 0 ? 1 : 0;
    std::this_thread::yield();
    users[thread].fetch_sub(1);
  });
  EXPECT_EQ(clashes, 0);
}

TEST(ThreadPool, OneThreadMeansTheCallingThread) {
  ThreadPool pool(1);
  std::set<std::thread::id> ids;
  pool.for_blocks(10, 2, [&](std::size_t, std::size_t, int) { ids.insert(std::this_thread::get_id()); });
  EXPECT_EQ(ids, std::set{std::this_thread::get_id()});
}

TEST(ThreadPool, WorkersReallyShareTheWork) {
  ThreadPool pool(2);
  // Each block waits until both have begun, which one thread alone would never see.
  std::atomic<int> begun = 0;
  pool.for_blocks(2, 1, [&](std::size_t, std::size_t, int) {
    ++begun;
    while (begun < 2) {
      std::this_thread::yield();
    }
  });
  EXPECT_EQ(begun, 2);
}

TEST(ThreadPool, RethrowsABlocksExceptionAndStaysUsable) {
  for (const int num_threads : {1, 2, 5}) {
    ThreadPool pool(num_threads);
    for (int round = 0; round < 20; ++round) {
      std::string message;
      try {
        pool.for_blocks(100, 1, [&](std::size_t begin, std::size_t, int) {
          if (begin == 37) {
            throw std::runtime_error("block 37");
          }
        });
      } catch (const std::runtime_error& error) {
        message = error.what();
      }
      EXPECT_EQ(message, "block 37");
      EXPECT_EQ(blocks_seen(pool, 10, 1).size(), 10U);
    }
  }
}

TEST(ThreadPool, SkipsBlocksNotBegunAfterAnException) {
  ThreadPool pool(1);
  int begun = 0;
  EXPECT_THROW(pool.for_blocks(100, 1,
                               [&](std::size_t, std::size_t, int) {
                                 if (++begun == 4) {
                                   throw std::runtime_error("stop");
                                 }
                               }),
               std::runtime_error);
  EXPECT_EQ(begun, 4);
}

TEST(ThreadPool, WhenEveryBlockThrowsOneExceptionArrives) {
  ThreadPool pool(4);
  EXPECT_THROW(pool.for_blocks(50, 1, [](std::size_t begin, std::size_t, int) { fail("block {}", begin); }),
               InputError);
  EXPECT_EQ(blocks_seen(pool, 3, 1).size(), 3U);
}

TEST(ThreadPool, ManyShortLoopsInARow) {
  ThreadPool pool(3);
  std::size_t total = 0;
  for (int round = 0; round < 2000; ++round) {
    std::vector<std::size_t> sizes(4);
    pool.for_blocks(8, 2, [&](std::size_t begin, std::size_t end, int) { sizes[begin / 2] = end - begin; });
    total += sizes[0] + sizes[1] + sizes[2] + sizes[3];
  }
  EXPECT_EQ(total, 16000U);
}

TEST(ThreadPool, PollsOnTheCallingThreadAndStopsWhenThatThrows) {
  const auto caller = std::this_thread::get_id();
  int polls = 0;
  ThreadPool pool(1, [&] {
    EXPECT_EQ(std::this_thread::get_id(), caller);
    if (++polls == 3) {
      throw std::runtime_error("enough");
    }
  });
  int blocks = 0;
  const auto count = [&](std::size_t, std::size_t, int) { ++blocks; };
  EXPECT_THROW(pool.for_blocks(10, 1, count), std::runtime_error);
  EXPECT_EQ(blocks, 2);
  pool.for_blocks(10, 1, count);  // and serves again
  EXPECT_EQ(blocks, 12);
}

TEST(ThreadPool, RefusesNestedLoopsAndBadArguments) {
  ThreadPool pool(2);
  const auto nothing = [](std::size_t, std::size_t, int) {};
  EXPECT_THROW(pool.for_blocks(4, 1, [&](std::size_t, std::size_t, int) { pool.for_blocks(1, 1, nothing); }),
               InputError);
  EXPECT_THROW(pool.for_blocks(4, 0, nothing), InputError);
  EXPECT_THROW(ThreadPool(-1), InputError);
  EXPECT_GE(ThreadPool(0).num_threads(), 1);
}

// In a process of its own, whose address space has no room for so many stacks. Sanitizers need that space themselves.
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
TEST(ThreadPoolDeathTest, ReportsThatTheSystemGivesNoMoreThreads) {
  const auto start_too_many = [] {
    const rlimit limit{1 << 30, 1 << 30};
    setrlimit(RLIMIT_AS, &limit);
    try {
      const ThreadPool pool(100000);
    } catch (const SystemError& error) {
      std::fputs(error.what(), stderr);
      std::exit(3);
    }
  };
  EXPECT_EXIT(start_too_many(), testing::ExitedWithCode(3), "could not start thread .* of num_threads = 100000");
}
#endif

}  // namespace
}  // namespace dissent
