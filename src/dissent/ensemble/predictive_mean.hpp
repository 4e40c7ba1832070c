// The mean of p(y | x) alone, [N][D] in the user's units, at a fifth of the cost of summarise().
//
// pne:  the weighted means of the components.
// flow: each base Gaussian is carried through the flow on fixed points (normal_points.hpp): 33 with one output, 64 with
//       more; a quarter of the points of summarise(), whose other results need them all.
#pragma once

#include <span>
#include <vector>

#include "dissent/ensemble/ensemble.hpp"

namespace dissent {

std::vector<double> predictive_mean(const Ensemble& model, std::span<const double> inputs,
                                    Executor* executor = nullptr);

}  // namespace dissent
