// TrainShape: what a fit looks like to the training kernels.
#pragma once

#include <cstddef>
#include <vector>

#include "dissent/device/train_job.hpp"
#include "dissent/ensemble/fit_device.hpp"

namespace dissent::device {

struct TrainShape {
  std::vector<DenseNet> networks;
  DenseNet conditioner;
  TrainKind kind;
  TrainMemory memory;
  int scratch_size = 0;  // floats of a block

  // most_shared: bytes of shared memory that a block may take.
  TrainShape(const FitProblem& problem, std::size_t most_shared);

  int widest() const;  // units of its widest layer in shared memory
};

}  // namespace dissent::device
