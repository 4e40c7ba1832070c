// The training kernels with 512 rows to a block.
#include "dissent/device/train_kernel.cuh"

namespace dissent::device {

void launch_training_512(const TrainKind& kind, const TrainTasks& tasks, const TrainMemory& memory,
                         cudaStream_t stream) {
  launch_rows<512>(kind.flow_width, tasks, kind.group, memory, stream);
}

}  // namespace dissent::device
