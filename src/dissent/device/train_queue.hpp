// TrainQueue: jobs from many threads, launched together.
//
// A thread that hands over jobs launches all that are waiting by then, or waits until another thread has run its own. A
// few launches may run at the same time, each on its own stream, so that the card is never left with only the last job
// of one.
#pragma once

#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <memory>
#include <mutex>
#include <span>
#include <vector>

#include "dissent/device/cuda_memory.hpp"
#include "dissent/device/train_job.hpp"

namespace dissent::device {

class TrainQueue {
 public:
  explicit TrainQueue(int card);

  // For the copies of all threads: a stream that never waits for a launch.
  const CudaStream& copies() const { return copies_; }

  // Host memory that is quick to copy from: allocating it anew would wait for the card.
  PinnedBuffer<float> borrow(std::size_t size);
  void give_back(PinnedBuffer<float> buffer);

  // Returns when all jobs are done; DeviceError if the card failed.
  void run(const TrainKind& kind, const TrainMemory& memory, std::span<const TrainJob> jobs);

 private:
  struct Request {
    TrainKind kind;
    TrainMemory memory;
    std::span<const TrainJob> jobs;
    bool done = false;
    std::exception_ptr error = {};
  };
  struct Lane {
    CudaStream stream;
    CudaEvent done = CudaEvent::sleeping();
    PinnedBuffer<TrainJob> host;
    DeviceBuffer<TrainJob> card;
    DeviceBuffer<int> counters;
  };

  // Takes the request and those that can be launched with it; sets the memory that all of them need.
  std::vector<Request*> take(Request& own, TrainMemory& memory);
  void gather(std::unique_lock<std::mutex>& lock);
  void launch(Lane& lane, const std::vector<Request*>& requests, const TrainMemory& memory);
  void run_with(std::unique_lock<std::mutex>& lock, Request& own);

  int card_;
  CudaStream copies_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<std::unique_ptr<Lane>> idle_;
  std::vector<Request*> waiting_;
  std::uint64_t num_requests_ = 0;
  std::vector<PinnedBuffer<float>> spare_;
};

}  // namespace dissent::device
