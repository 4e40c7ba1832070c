// Training on a card: the FitDevice behind `device = cuda`.
#pragma once

#include <memory>

#include "dissent/ensemble/fit_device.hpp"

namespace dissent {

// Of card number `card`, which must be there. Fits of many threads are run together (train_queue.hpp).
std::unique_ptr<FitDevice> make_cuda_fits(int card);

}  // namespace dissent
