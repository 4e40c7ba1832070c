// Training on a card: the FitDevice behind `device = cuda`.
#pragma once

#include <memory>

#include "dissent/ensemble/fit_device.hpp"

namespace dissent {

// For card number `card`, which must exist. Fits of many threads run together (train_queue.hpp).
std::unique_ptr<FitDevice> make_cuda_fits(int card);

}  // namespace dissent
