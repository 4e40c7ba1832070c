#include "dissent/device/train_queue.hpp"

#include <algorithm>
#include <chrono>
#include <thread>
#include <utility>

#include "dissent/base/error.hpp"
#include "dissent/device/train_kernel.hpp"

namespace dissent::device {
namespace {

constexpr std::size_t kRoom = 4096;  // jobs of a launch

constexpr std::size_t kLanes = 2;  // launches under way at a time
// Before a launch, other threads get time to hand over their jobs: a launch takes far longer, and many small ones do
// not run side by side.
constexpr std::chrono::milliseconds kQuiet(2);  // since the last request ...
constexpr int kMostQuiet = 10;                  // ... at most this many times

}  // namespace

TrainQueue::TrainQueue(int card) : card_(card) {
  for (std::size_t k = 0; k < kLanes; ++k) {
    idle_.push_back(std::make_unique<Lane>());
    idle_.back()->host.reserve(kRoom);
    idle_.back()->card.reserve(kRoom);
    idle_.back()->counters.reserve(kRoom + 1);
  }
}

PinnedBuffer<float> TrainQueue::borrow(std::size_t size) {
  const std::lock_guard lock(mutex_);
  const auto found = std::ranges::find_if(spare_, [&](const auto& buffer) { return buffer.size() >= size; });
  if (found == spare_.end()) {
    return PinnedBuffer<float>(size);
  }
  PinnedBuffer<float> buffer = std::move(*found);
  spare_.erase(found);
  return buffer;
}

void TrainQueue::give_back(PinnedBuffer<float> buffer) {
  const std::lock_guard lock(mutex_);
  if (buffer.size() > 0) {
    spare_.push_back(std::move(buffer));
  }
}

std::vector<TrainQueue::Request*> TrainQueue::take(Request& own, TrainMemory& memory) {
  std::vector<Request*> taken{&own};
  std::size_t count = own.jobs.size();
  memory = own.memory;
  const int rows = own.kind.rows;
  const std::size_t most = std::max(kThirdShared, shared_bytes(rows, without_copies(memory)));
  std::erase(waiting_, &own);
  std::erase_if(waiting_, [&](Request* request) {
    const TrainMemory both = merged(memory, request->memory);
    if (request->kind != own.kind || shared_bytes(rows, without_copies(both)) > most ||
        count + request->jobs.size() > kRoom) {
      return false;
    }
    memory = both;
    count += request->jobs.size();
    taken.push_back(request);
    return true;
  });
  return taken;
}

// Waits until no more requests have come for a while.
void TrainQueue::gather(std::unique_lock<std::mutex>& lock) {
  for (int k = 0; k < kMostQuiet; ++k) {
    const std::uint64_t before = num_requests_;
    lock.unlock();
    std::this_thread::sleep_for(kQuiet);
    lock.lock();
    if (num_requests_ == before) {
      return;
    }
  }
}

void TrainQueue::launch(Lane& lane, const std::vector<Request*>& requests, const TrainMemory& memory) {
  TrainJob* to = lane.host.data();
  for (const Request* request : requests) {
    to = std::ranges::copy(request->jobs, to).out;
  }
  const auto count = static_cast<std::size_t>(to - lane.host.data());
  DISSENT_CUDA(cudaMemcpyAsync(lane.card.data(), lane.host.data(), count * sizeof(TrainJob), cudaMemcpyHostToDevice,
                               lane.stream));
  DISSENT_CUDA(cudaMemsetAsync(lane.counters.data(), 0, (count + 1) * sizeof(int), lane.stream));
  const TrainTasks tasks{lane.card.data(), static_cast<int>(count), 1, lane.counters.data(), lane.counters.data() + 1};
  launch_training(requests.front()->kind, tasks, memory, lane.stream);
  lane.done.record(lane.stream);
  check_cuda("the training kernel", cudaEventSynchronize(lane.done));
}

// Launches the request, and others with it, on an idle lane.
void TrainQueue::run_with(std::unique_lock<std::mutex>& lock, Request& own) {
  std::unique_ptr<Lane> lane = std::move(idle_.back());
  idle_.pop_back();
  gather(lock);
  if (std::ranges::find(waiting_, &own) != waiting_.end()) {  // no other thread took it meanwhile
    TrainMemory memory;
    const std::vector<Request*> requests = take(own, memory);
    lock.unlock();
    std::exception_ptr error;
    try {
      const CurrentCard current(card_);
      launch(*lane, requests, memory);
    } catch (...) {
      error = std::current_exception();
    }
    lock.lock();
    for (Request* request : requests) {
      request->error = error;
      request->done = true;
    }
  }
  idle_.push_back(std::move(lane));
  changed_.notify_all();
}

void TrainQueue::run(const TrainKind& kind, const TrainMemory& memory, std::span<const TrainJob> jobs) {
  check(jobs.size() <= kRoom, "{} jobs of one fit; at most {} can be launched", jobs.size(), kRoom);
  Request own{kind, memory, jobs};
  std::unique_lock lock(mutex_);
  waiting_.push_back(&own);
  ++num_requests_;
  while (!own.done) {
    const bool waits = std::ranges::find(waiting_, &own) != waiting_.end();
    if (waits && !idle_.empty()) {
      run_with(lock, own);
    } else {
      changed_.wait(lock);
    }
  }
  if (own.error) {
    std::rethrow_exception(own.error);
  }
}

}  // namespace dissent::device
