// Launching the training kernel (train_kernel.cu) for jobs of one kind.
#pragma once

#include <cuda_runtime_api.h>

#include <cstddef>

#include "dissent/device/train_job.hpp"

namespace dissent::device {

// Shared memory of a block of `rows` threads.
std::size_t shared_bytes(int rows, const TrainMemory& memory);

// TrainMemory::weights. flow_width: units of the conditioner's last hidden layer, 0 without a flow.
int weight_floats(int widest_base, int flow_width);

// Runs jobs on `group` blocks each; TrainTasks::num_stretches is chosen here. One for each number of threads a block
// ...
void launch_training_64(int flow_width, const TrainTasks& tasks, int group, const TrainMemory& memory,
                        cudaStream_t stream);
void launch_training_128(int flow_width, const TrainTasks& tasks, int group, const TrainMemory& memory,
                         cudaStream_t stream);

// ... which is `rows`.
void launch_training(int rows, int flow_width, const TrainTasks& tasks, int group, const TrainMemory& memory,
                     cudaStream_t stream);

}  // namespace dissent::device
