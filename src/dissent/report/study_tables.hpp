// The tables of a study: verdicts, and its results beside the paper's.
#pragma once

#include <optional>
#include <vector>

#include "dissent/report/page.hpp"
#include "dissent/study/claims.hpp"
#include "dissent/study/comparison.hpp"

namespace dissent::report {

// Each claim with its verdict; and what each verdict rests on.
TableBlock verdict_table(const std::vector<JudgedClaim>& claims);
std::optional<TableBlock> finding_table(const std::vector<JudgedClaim>& claims);

// Mean and deviation of each method after the last round of its problem, with the paper's at the same round; one table
// per metric and model.
std::vector<TableBlock> main_tables(const std::vector<Comparison>& comparisons);

}  // namespace dissent::report
