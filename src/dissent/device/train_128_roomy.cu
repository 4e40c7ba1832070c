// The training kernels with 128 rows to a block that has more registers and shared memory.
#include "dissent/device/train_kernel.cuh"

namespace dissent::device {

void launch_training_128_roomy(const TrainKind& kind, int group, const TrainTasks& tasks, const TrainMemory& memory,
                               cudaStream_t stream) {
  launch_rows<128, true>(kind.flow_width, tasks, group, memory, stream);
}

}  // namespace dissent::device
