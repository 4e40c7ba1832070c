#include "dissent/device/train_kernel.hpp"

namespace dissent::device {

std::size_t shared_bytes(int rows, const TrainMemory& memory) {
  const int columns = memory.flow_units + memory.base_units + kProductColumns;
  const int copies = (memory.flow_copy + memory.base_copy) * (memory.gradients ? 2 : 1);
  return sizeof(float) * static_cast<std::size_t>(columns * (rows + 4) + memory.weights + copies);
}

int weight_floats(int widest_base, int flow_width) {
  const int padded = flow_width == 0 ? 0 : (flow_width <= 20 ? 20 : 32);
  const int dense = kInputsAtOnce * kUnitsAtOnce + kUnitsAtOnce;
  const int loss = 2 * kOutputsAtOnce * (widest_base + 1) + kOutputsAtOnce * kSplineParams * (padded + 1);
  return dense > loss ? dense : loss;
}

void launch_training(int rows, int flow_width, const TrainTasks& tasks, int group, const TrainMemory& memory,
                     cudaStream_t stream) {
  const auto launch = rows == 64 ? launch_training_64 : launch_training_128;
  launch(flow_width, tasks, group, memory, stream);
}

}  // namespace dissent::device
