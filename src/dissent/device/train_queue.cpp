#include "dissent/device/train_queue.hpp"

#include <algorithm>
#include <chrono>
#include <thread>

#include "dissent/device/train_kernel.hpp"

namespace dissent::device {
namespace {

constexpr std::size_t kLanes = 2;  // launches under way at a time
// Others hand over theirs meanwhile: a launch takes far longer, and many small ones do not run side by side.
constexpr std::chrono::milliseconds kQuiet(2);  // since the last that came ...
constexpr int kMostQuiet = 10;                  // ... at most so many times

}  // namespace

TrainQueue::TrainQueue(int card) : card_(card) {
  for (std::size_t k = 0; k < kLanes; ++k) {
    idle_.push_back(std::make_unique<Lane>());
  }
}

std::vector<TrainQueue::Request*> TrainQueue::take(const TrainKind& kind) {
  std::vector<Request*> taken;
  std::erase_if(waiting_, [&](Request* request) {
    if (request->kind != kind) {
      return false;
    }
    taken.push_back(request);
    return true;
  });
  return taken;
}

// Until no more have come for a while.
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

void TrainQueue::launch(Lane& lane, const std::vector<Request*>& requests) {
  std::size_t count = 0;
  TrainMemory memory{};
  for (const Request* request : requests) {
    memory.flow_units = std::max(memory.flow_units, request->memory.flow_units);
    memory.base_units = std::max(memory.base_units, request->memory.base_units);
    memory.weights = std::max(memory.weights, request->memory.weights);
    memory.flow_copy = std::max(memory.flow_copy, request->memory.flow_copy);
    memory.base_copy = std::max(memory.base_copy, request->memory.base_copy);
    memory.gradients = request->memory.gradients;
    count += request->jobs.size();
  }
  lane.host.reserve(count);
  lane.card.reserve(count);
  TrainJob* to = lane.host.data();
  for (const Request* request : requests) {
    to = std::ranges::copy(request->jobs, to).out;
  }
  DISSENT_CUDA(cudaMemcpyAsync(lane.card.data(), lane.host.data(), count * sizeof(TrainJob), cudaMemcpyHostToDevice,
                               lane.stream));
  const TrainKind& kind = requests.front()->kind;
  lane.counters.reserve(count + 1);
  DISSENT_CUDA(cudaMemsetAsync(lane.counters.data(), 0, (count + 1) * sizeof(int), lane.stream));
  const TrainTasks tasks{lane.card.data(), static_cast<int>(count), 1, lane.counters.data(), lane.counters.data() + 1};
  launch_training(kind.rows, kind.flow_width, tasks, kind.group, memory, lane.stream);
  lane.done.record(lane.stream);
  lane.done.wait();
}

void TrainQueue::run(const TrainKind& kind, const TrainMemory& memory, std::span<const TrainJob> jobs) {
  Request own{kind, memory, jobs};
  std::unique_lock lock(mutex_);
  waiting_.push_back(&own);
  ++num_requests_;
  while (!own.done) {
    const bool mine_waits = std::ranges::find(waiting_, &own) != waiting_.end();
    if (!mine_waits || idle_.empty()) {
      changed_.wait(lock);
      continue;
    }
    std::unique_ptr<Lane> lane = std::move(idle_.back());
    idle_.pop_back();
    gather(lock);
    const std::vector<Request*> requests = take(kind);
    if (requests.empty()) {  // another thread took them
      idle_.push_back(std::move(lane));
      continue;
    }
    lock.unlock();
    std::exception_ptr error;
    try {
      DISSENT_CUDA(cudaSetDevice(card_));
      launch(*lane, requests);
    } catch (...) {
      error = std::current_exception();
    }
    lock.lock();
    idle_.push_back(std::move(lane));
    for (Request* request : requests) {
      request->error = error;
      request->done = true;
    }
    changed_.notify_all();
  }
  if (own.error) {
    std::rethrow_exception(own.error);
  }
}

}  // namespace dissent::device
