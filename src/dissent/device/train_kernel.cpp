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

void launch_training(const TrainKind& kind, const TrainTasks& tasks, const TrainMemory& memory, cudaStream_t stream) {
  const auto launch = kind.rows == 64 ? launch_training_64 : launch_training_128;
  launch(kind, tasks, memory, stream);
}

}  // namespace dissent::device
