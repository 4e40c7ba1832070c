// Where and when the campaigns of a study ran, and how far they are.
#pragma once

#include <optional>

#include "dissent/report/page.hpp"
#include "dissent/study/results.hpp"

namespace dissent::report {

KeyNumbers run_numbers(const StudyResults& results);

// From start to end, by worker. Nothing if no times are known.
std::optional<Chart> timeline_chart(const StudyResults& results);

// A line for each campaign.
TableBlock runs_table(const StudyResults& results);

}  // namespace dissent::report
