// Methods over all problems of a study: scores, performance profiles, the probability of improvement, and where ours
// is better. Each chart can be switched between metrics and models.
#pragma once

#include <optional>
#include <vector>

#include "dissent/report/page.hpp"
#include "dissent/study/comparison.hpp"

namespace dissent::report {

// Nothing if no two methods can be compared yet.
std::optional<Chart> score_chart(const std::vector<Comparison>& comparisons);
std::optional<Chart> profile_chart(const std::vector<Comparison>& comparisons);
std::optional<Chart> improvement_chart(const std::vector<Comparison>& comparisons);
// Problems by baselines: better, worse or a tie, by tests paired by seed.
std::optional<Chart> outcome_chart(const std::vector<Comparison>& comparisons);

// Problems won, tied and lost.
std::optional<TableBlock> wins_table(const std::vector<Comparison>& comparisons);

// What so few seeds can show.
std::vector<std::string> power_sentences(const std::vector<Comparison>& comparisons);

}  // namespace dissent::report
