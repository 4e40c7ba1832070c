// The paper's numbers beside those of a study, for problems of the study.
#pragma once

#include <optional>
#include <vector>

#include "dissent/report/page.hpp"
#include "dissent/study/comparison.hpp"
#include "dissent/study/results.hpp"

namespace dissent::report {

// Mean curves with the points of the paper's tables. Nothing if the paper has none of these problems.
std::optional<Chart> paper_chart(const std::vector<Comparison>& comparisons);

// What the paper's printed numbers say about its own methods, for problems of the study that it has.
std::optional<TableBlock> paper_tests(const StudyResults& results);

// Side studies, here and there: run times, ensemble sizes, rank correlations, matched samples.
std::vector<TableBlock> paper_tables(const StudyResults& results);

}  // namespace dissent::report
