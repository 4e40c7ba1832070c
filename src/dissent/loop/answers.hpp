// Answers: targets of pool rows, as people bring them, in any order.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "dissent/loop/campaign.hpp"
#include "dissent/table/table.hpp"

namespace dissent {

// Targets [n][D] of pool rows, as they come from `source`, which messages name.
struct Answers {
  std::string source;
  std::vector<std::size_t> rows;
  std::vector<double> targets;
};

// A table with the columns `row_column` and the targets; others are ignored, and so are rows whose targets are all
// missing. InputError for a row that has some of its targets or is answered twice, and for a table without any answer.
Answers read_answers(const Table& table, const std::vector<std::string>& target_names,
                     const std::string& row_column = "row");

// Tells the campaign all of them. InputError, which leaves the campaign half told, for a row that was never asked for
// or has its answer, and for targets that no fit could compute with.
void take_answers(Campaign& campaign, const Problem& data, const Answers& answers);

}  // namespace dissent
