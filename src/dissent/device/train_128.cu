// The training kernels with 128 rows to a block.
#include "dissent/device/train_kernel.cuh"

namespace dissent::device {

void launch_training_128(const TrainKind& kind, int group, const TrainTasks& tasks, const TrainMemory& memory,
                         cudaStream_t stream) {
  launch_rows<128, false>(kind.flow_width, tasks, group, memory, stream);
}

}  // namespace dissent::device
