// The training kernels with 64 rows to a block.
#include "dissent/device/train_kernel.cuh"

namespace dissent::device {

void launch_training_64(const TrainKind& kind, int group, const TrainTasks& tasks, const TrainMemory& memory,
                        cudaStream_t stream) {
  launch_rows<64, false>(kind.flow_width, tasks, group, memory, stream);
}

}  // namespace dissent::device
