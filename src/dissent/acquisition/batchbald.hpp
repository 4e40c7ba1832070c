// batchbald:K: greedy choice of the batch with the largest joint mutual information by K Monte Carlo samples
// (BatchBALD, Kirsch et al. 2019, for Gaussian outputs; sampled.hpp). Every pick draws noise of its own, the same for
// all candidates.
#pragma once

#include <cstddef>
#include <span>

#include "dissent/acquisition/acquisition.hpp"

namespace dissent {

Choice batchbald(std::size_t num_samples, const AcquisitionTask& task, std::span<const double> candidates);

}  // namespace dissent
