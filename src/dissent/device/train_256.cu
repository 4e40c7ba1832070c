// The training kernels with 256 rows to a block.
#include "dissent/device/train_kernel.cuh"

namespace dissent::device {

void launch_training_256(const TrainKind& kind, int group, const TrainTasks& tasks, const TrainMemory& memory,
                         cudaStream_t stream) {
  launch_rows<256, false>(kind.flow_width, tasks, group, memory, stream);
}

}  // namespace dissent::device
