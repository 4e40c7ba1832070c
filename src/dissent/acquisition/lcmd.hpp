// lcmd: largest-cluster-maximum-distance (Holzmueller et al. 2023), with training rows as the first centres.
//
// Every candidate belongs to its nearest centre; a cluster's size is the sum of its rows' squared distances. The next
// pick is the row farthest from its centre in the largest cluster, and becomes a centre. Without training rows the
// first pick is the row with the longest features. Of clusters of the same size the one with the farthest row is taken,
// and of rows as far as each other the one the random stream says.
//
// Distances are those of gradient features: the gradients of the components' mean heads with respect to their last
// layers. The gradient of output d is (last hidden activations, 1) in the place of d and zero elsewhere, so the squared
// distance is D times the one of the activations, which are what is compared.
#pragma once

#include <cstddef>
#include <span>

#include "dissent/acquisition/acquisition.hpp"

namespace dissent {

Choice lcmd(const AcquisitionTask& task, std::span<const double> candidates);

}  // namespace dissent
