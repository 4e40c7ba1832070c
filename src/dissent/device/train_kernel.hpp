// Launching the training kernels (train_kernel.cuh) for jobs of one kind.
#pragma once

#include <cuda_runtime_api.h>

#include <cstddef>

#include "dissent/device/train_job.hpp"

namespace dissent::device {

// Bytes of shared memory that a block may take on the current card, at most kMostShared.
std::size_t most_shared();

// Those that a block of `rows` threads takes.
std::size_t shared_bytes(int rows, const TrainMemory& memory);

// The same without copies, which are made only where there is room.
TrainMemory without_copies(TrainMemory memory);

// Enough for either.
TrainMemory merged(const TrainMemory& a, const TrainMemory& b);

// Runs jobs of a kind; TrainTasks::num_stretches is chosen here.
void launch_training(const TrainKind& kind, const TrainTasks& tasks, const TrainMemory& memory, cudaStream_t stream);

// The same with so many threads a block and `group` blocks a job, each in a source of its own.
void launch_training_64(const TrainKind& kind, int group, const TrainTasks& tasks, const TrainMemory& memory,
                        cudaStream_t stream);
void launch_training_128(const TrainKind& kind, int group, const TrainTasks& tasks, const TrainMemory& memory,
                         cudaStream_t stream);
void launch_training_256(const TrainKind& kind, int group, const TrainTasks& tasks, const TrainMemory& memory,
                         cudaStream_t stream);

}  // namespace dissent::device
