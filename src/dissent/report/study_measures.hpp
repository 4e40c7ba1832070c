// The side studies of a study: what was measured besides its campaigns.
//
// The kind of a measurement says what it is:
//   seconds       of an estimate, by output columns, components or samples
//   bias          of an estimate, by the input or by samples
//   epistemic     by the input of a problem that has one, for each estimator
//   data, sample  points of a picture of such a problem, x `at` and y `value`: given, or drawn by a model
// spearman and matched_samples are shown beside the paper's (study_paper.hpp). Other kinds become a table.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "dissent/report/page.hpp"
#include "dissent/study/results.hpp"

namespace dissent::report {

// Medians of seconds, bias or epistemic over what was varied. Nothing if nothing was.
std::optional<Chart> sweep_chart(const std::vector<Measurement>& measurements, const std::string& kind);

// Data and samples of problems with one input.
std::optional<Chart> picture_chart(const std::vector<Measurement>& measurements);

// For the kinds that have no other place: median, least and largest over seeds.
std::optional<TableBlock> measurement_table(const std::vector<Measurement>& measurements);

}  // namespace dissent::report
