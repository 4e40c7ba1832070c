// Trend: the straight-line part of targets, which a model then need not learn.
//
//   y_d = slope_d . (x - centre) + what the model predicts
// If a line explains nearly all of a target, as for the next state of a robot, networks learn the rest far better, and
// away from the data the line goes on. C input columns, D targets; matrices are row-major.
#pragma once

#include <cstddef>
#include <span>

#include "dissent/ensemble/model_parts.hpp"

namespace dissent {

// By ridge regression, with the strength that has the least leave-one-out error. A target has no trend if that error is
// more than a small share of its variance; empty if no target has one.
Trend fit_trend(std::span<const double> inputs, std::size_t num_input_columns, std::span<const double> targets,
                std::size_t num_outputs);

}  // namespace dissent
