// bait: the batch that leaves least of the Fisher information unexplained (BAIT, Ash et al. 2021; bait_select.hpp).
//
// The Fisher information of a Gaussian's last layer has a closed form, so no target is sampled: it is block diagonal
// with a block for each head, c(x) h h', where h = (last hidden activations, 1) and c is 1 / stddev^2 for a mean and 2
// for a log-stddev. Components have blocks of their own; the D blocks of a component's log-stddevs are equal. Scores:
// gains.
#pragma once

#include <span>

#include "dissent/acquisition/acquisition.hpp"

namespace dissent {

Choice bait(const AcquisitionTask& task, std::span<const double> candidates);

}  // namespace dissent
