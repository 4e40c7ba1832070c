// What about the rows of a fit should be looked at: rows that are there twice, a target that is the same everywhere,
// values so far from the others that the fit serves them alone, and a few zeros that keep a target from being fitted by
// its logarithm. Each is a sentence that names column and row.
#pragma once

#include <string>
#include <vector>

#include "dissent/base/executor.hpp"
#include "dissent/ensemble/ensemble.hpp"

namespace dissent {

// Of a model fitted to these rows.
std::vector<std::string> fit_warnings(const Ensemble& model, const TrainingRows& rows, Executor* executor);

}  // namespace dissent
