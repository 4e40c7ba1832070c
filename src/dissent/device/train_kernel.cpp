#include "dissent/device/train_kernel.hpp"

#include <algorithm>

#include "dissent/device/cuda_error.hpp"

namespace dissent::device {

std::size_t most_shared() {
  int card = 0;
  int bytes = 0;
  DISSENT_CUDA(cudaGetDevice(&card));
  DISSENT_CUDA(cudaDeviceGetAttribute(&bytes, cudaDevAttrMaxSharedMemoryPerBlockOptin, card));
  return std::min(kMostShared, static_cast<std::size_t>(bytes) - kStaticShared);
}

std::size_t shared_bytes(int rows, const TrainMemory& memory) {
  const int columns = memory.flow_units + memory.base_units + kProductColumns;
  const int copies = (memory.flow_copy + memory.base_copy) * (memory.gradients ? 2 : 1);
  return sizeof(float) * static_cast<std::size_t>(columns * (rows + 4) + copies);
}

TrainMemory merged(const TrainMemory& a, const TrainMemory& b) {
  return {.flow_units = std::max(a.flow_units, b.flow_units),
          .base_units = std::max(a.base_units, b.base_units),
          .flow_copy = std::max(a.flow_copy, b.flow_copy),
          .base_copy = std::max(a.base_copy, b.base_copy),
          .gradients = a.gradients || b.gradients};
}

namespace {

// As many threads a block as leave all jobs room on the card at a time.
int choose_rows(const TrainKind& kind, const TrainTasks& tasks, const TrainMemory& memory) {
  int card = 0;
  int processors = 0;
  DISSENT_CUDA(cudaGetDevice(&card));
  DISSENT_CUDA(cudaDeviceGetAttribute(&processors, cudaDevAttrMultiProcessorCount, card));
  for (int rows = kind.most_rows; rows > kind.rows; rows /= 2) {
    const int together = blocks_together(rows);
    if (tasks.num_jobs * kind.group <= processors * together &&
        shared_bytes(rows, memory) + kStaticShared <=
            (most_shared() + kStaticShared) / static_cast<std::size_t>(together)) {
      return rows;
    }
  }
  return kind.rows;
}

}  // namespace

void launch_training(const TrainKind& kind, const TrainTasks& tasks, const TrainMemory& memory, cudaStream_t stream) {
  switch (choose_rows(kind, tasks, memory)) {
    case kFewRows:
      return launch_training_64(kind, tasks, memory, stream);
    case kMoreRows:
      return launch_training_256(kind, tasks, memory, stream);
    case kMostRows:
      return launch_training_512(kind, tasks, memory, stream);
    default:
      return launch_training_128(kind, tasks, memory, stream);
  }
}

}  // namespace dissent::device
