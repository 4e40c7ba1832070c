// What to check about the rows of a fit: rows that occur twice, a target that is the same everywhere, values so far
// from the others that the fit serves only them, and a few zeros that keep a target from being fitted by its logarithm.
// Each warning is a sentence that names the column, the row or both.
#pragma once

#include <string>
#include <vector>

#include "dissent/base/executor.hpp"
#include "dissent/ensemble/ensemble.hpp"

namespace dissent {

// The warnings for a model fitted to these rows.
std::vector<std::string> fit_warnings(const Ensemble& model, const TrainingRows& rows, Executor* executor);

}  // namespace dissent
