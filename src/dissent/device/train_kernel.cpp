#include "dissent/device/train_kernel.hpp"

#include <algorithm>

#include "dissent/device/cuda_card.hpp"

namespace dissent::device {

std::size_t most_shared() {
  int bytes = 0;
  DISSENT_CUDA(cudaDeviceGetAttribute(&bytes, cudaDevAttrMaxSharedMemoryPerBlockOptin, current_card()));
  return std::min(kMostShared, static_cast<std::size_t>(bytes) - kStaticShared);
}

std::size_t shared_bytes(int rows, const TrainMemory& memory) {
  const int together = memory.stage + memory.flow_copy + memory.base_copy + memory.flow_gradient + memory.base_gradient;
  return sizeof(float) * static_cast<std::size_t>(rows / 32 * panel_size(memory) + together);
}

TrainMemory without_copies(TrainMemory memory) {
  memory.flow_copy = memory.base_copy = memory.flow_gradient = memory.base_gradient = 0;
  return memory;
}

TrainMemory merged(const TrainMemory& a, const TrainMemory& b) {
  return {.flow_units = std::max(a.flow_units, b.flow_units),
          .base_units = std::max(a.base_units, b.base_units),
          .split_units = std::max(a.split_units, b.split_units),
          .stage = std::max(a.stage, b.stage),
          .flow_copy = std::max(a.flow_copy, b.flow_copy),
          .base_copy = std::max(a.base_copy, b.base_copy),
          .flow_gradient = std::max(a.flow_gradient, b.flow_gradient),
          .base_gradient = std::max(a.base_gradient, b.base_gradient)};
}

namespace {

// With as many copies as there is room for: of parameters and gradients, of parameters only, or none.
TrainMemory with_room(int rows, const TrainMemory& memory, std::size_t bytes) {
  TrainMemory parameters = memory;
  parameters.flow_gradient = parameters.base_gradient = 0;
  for (const TrainMemory& tried : {memory, parameters}) {
    if (shared_bytes(rows, tried) <= bytes) {
      return tried;
    }
  }
  return without_copies(memory);
}

// Bytes that each block on a multiprocessor can have, besides its static memory and what the card reserves for it.
std::size_t share_of_shared(int together) {
  constexpr std::size_t kBesides = kStaticShared + 1024;
  return (most_shared() + kBesides) / static_cast<std::size_t>(together) - kBesides;
}

struct LaunchShape {
  int group;   // blocks of a job
  int rows;    // threads of a block
  bool roomy;  // see blocks_together()
};

// With what a roomy block needs besides.
TrainMemory with_units(TrainMemory memory, const TrainKind& kind, bool roomy) {
  memory.split_units = roomy ? kind.flow_width : 0;
  return memory;
}

// As many blocks per job, then threads per block, and then room for each block as let all jobs fit on the card at once.
// A cluster must fit within one part of the card, so large clusters cannot fill all of it; if there are a few jobs too
// many, they take turns.
LaunchShape choose_shape(const TrainKind& kind, const TrainTasks& tasks, const TrainMemory& memory) {
  const int processors = num_multiprocessors();
  for (const int group : {kind.members * kind.slices, kind.members}) {
    for (int rows = kind.most_rows; rows >= kind.rows; rows /= 2) {
      for (const bool roomy : {true, false}) {
        if (roomy && rows != kSomeRows) {
          continue;
        }
        const int together = blocks_together(rows, roomy);
        if (tasks.num_jobs * group <= processors * together * (group > kind.members ? 9 : 10) / 10 &&
            shared_bytes(rows, without_copies(with_units(memory, kind, roomy))) <= share_of_shared(together)) {
          return {group, rows, roomy};
        }
      }
    }
  }
  return {kind.members, kind.rows, false};
}

}  // namespace

void launch_training(const TrainKind& kind, const TrainTasks& tasks, const TrainMemory& wanted, cudaStream_t stream) {
  const auto [group, rows, roomy] = choose_shape(kind, tasks, wanted);
  const TrainMemory memory =
      with_room(rows, with_units(wanted, kind, roomy), share_of_shared(blocks_together(rows, roomy)));
  switch (rows) {
    case kFewRows:
      return launch_training_64(kind, group, tasks, memory, stream);
    case kMostRows:
      return launch_training_256(kind, group, tasks, memory, stream);
    default:
      return roomy ? launch_training_128_roomy(kind, group, tasks, memory, stream)
                   : launch_training_128(kind, group, tasks, memory, stream);
  }
}

}  // namespace dissent::device
