// Launching the training kernels (train_kernel.cuh) for jobs of one kind.
#pragma once

#include <cuda_runtime_api.h>

#include <cstddef>

#include "dissent/device/train_job.hpp"

namespace dissent::device {

// Bytes of shared memory that a block may take on the current card, at most kMostShared.
std::size_t most_shared();

// Bytes that a block of `rows` threads takes.
std::size_t shared_bytes(int rows, const TrainMemory& memory);

// The same memory without copies, which are made only if there is room.
TrainMemory without_copies(TrainMemory memory);

// Enough for either.
TrainMemory merged(const TrainMemory& a, const TrainMemory& b);

// Runs jobs of a kind; TrainTasks::num_stretches is chosen here.
void launch_training(const TrainKind& kind, const TrainTasks& tasks, const TrainMemory& memory, cudaStream_t stream);

// The same with this many threads per block and `group` blocks per job, each in its own source file.
void launch_training_64(const TrainKind& kind, int group, const TrainTasks& tasks, const TrainMemory& memory,
                        cudaStream_t stream);
void launch_training_128(const TrainKind& kind, int group, const TrainTasks& tasks, const TrainMemory& memory,
                         cudaStream_t stream);
void launch_training_128_roomy(const TrainKind& kind, int group, const TrainTasks& tasks, const TrainMemory& memory,
                               cudaStream_t stream);
void launch_training_256(const TrainKind& kind, int group, const TrainTasks& tasks, const TrainMemory& memory,
                         cudaStream_t stream);

}  // namespace dissent::device
