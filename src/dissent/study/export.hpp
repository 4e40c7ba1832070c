// A study as one table, for other programs; read_results() reads it back.
//
//   study, cell, problem, model, acquisition, seed, data_seed, other axes of the grid,
//   state, worker, version, error, started, changed, fit_epochs, and the fields of a round or of a chosen row
//
// One row per round of a campaign, or per chosen row; a campaign that has none yet has one row without them. Times are
// seconds since 1970. Measurements are a table of their own: study, and the fields of a measurement.
#pragma once

#include <string>
#include <vector>

#include "dissent/study/results.hpp"

namespace dissent {

// Keeps the campaigns of these acquisitions, as typed ("mc:5000") or whatever their parameter ("mc"). InputError for
// one that no campaign has.
void keep_methods(StudyResults& results, const std::vector<std::string>& names);

// Keeps, for each problem and model, the rounds that all of its campaigns have; campaigns that have none yet do not
// count. Then all methods of a study that has not ended have come equally far.
void keep_common_rounds(StudyResults& results);

std::string rounds_csv(const StudyResults& results);
std::string choices_csv(const StudyResults& results, const std::vector<CellChoice>& choices);
std::string measurements_csv(const StudyResults& results);

}  // namespace dissent
