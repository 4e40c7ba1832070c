#include "dissent/loop/answers.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <span>

#include "dissent/base/error.hpp"
#include "dissent/loop/learn.hpp"

namespace dissent {
namespace {

// Rows of the table whose targets are all empty are not answered yet; one that is half filled in is a mistake.
std::vector<std::size_t> answered_rows(const Table& table, const std::vector<std::string>& targets) {
  std::vector<std::size_t> rows;
  for (std::size_t row = 0; row < table.num_rows; ++row) {
    const auto is_missing = [&](const std::string& name) {
      return std::ranges::binary_search(table.column(name).missing_rows, row);
    };
    const auto num_missing = static_cast<std::size_t>(std::ranges::count_if(targets, is_missing));
    check(num_missing == 0 || num_missing == targets.size(),
          "row {} of the file has some of its targets and not all; fill in {}, or none of them", row + 1,
          fmt::join(targets, ", "));
    if (num_missing == 0) {
      rows.push_back(row);
    }
  }
  return rows;
}

// The number of a pool row is a whole one.
std::size_t row_at(const Table& table, const std::string& row_column, std::size_t line) {
  check(!table.column(row_column).is_missing(line),
        "row {} of the file has its targets, but its '{}' is empty; it says which row of the pool they are of",
        line + 1, row_column);
  const double number = table.column(row_column).number(line);
  check(number >= 0 && number < 1e15 && number == std::floor(number), "row {} was never asked for", number);
  return static_cast<std::size_t>(number);
}

}  // namespace

Answers read_answers(const Table& table, const std::vector<std::string>& target_names, const std::string& row_column) {
  Answers answers{table.source, {}, {}};
  in_source(table.source, [&] {
    check(table.has(row_column), "has no column '{}'; answers carry the numbers of the rows that were asked for",
          row_column);
    std::map<std::size_t, std::size_t> line_of;
    for (const std::size_t line : answered_rows(table, target_names)) {
      const std::size_t row = row_at(table, row_column, line);
      const auto [first, is_new] = line_of.try_emplace(row, line);
      check(is_new, "rows {} and {} of the file both answer row {} of the pool; a row is told once", first->second + 1,
            line + 1, row);
      answers.rows.push_back(row);
      for (const std::string& name : target_names) {
        answers.targets.push_back(table.column(name).number(line));
      }
    }
    check(!answers.rows.empty(), "no row has its targets filled in ({})", fmt::join(target_names, ", "));
  });
  return answers;
}

void take_answers(Campaign& campaign, const Problem& data, const Answers& answers) {
  std::map<std::size_t, std::size_t> position_of;
  for (std::size_t k = 0; k < campaign.chosen.size(); ++k) {
    position_of[campaign.chosen[k].row] = k;
  }
  const std::size_t D = campaign.num_targets;
  in_source(answers.source, [&] {
    check(answers.targets.size() == answers.rows.size() * D, "{} target values for {} rows of {}",
          answers.targets.size(), answers.rows.size(), D);
    const Campaign before = campaign;
    for (std::size_t k = 0; k < answers.rows.size(); ++k) {
      const auto found = position_of.find(answers.rows[k]);
      check(found != position_of.end(), "row {} was never asked for", answers.rows[k]);
      tell(campaign, found->second, std::span(answers.targets).subspan(k * D, D));
    }
    check_labels(before, data, answers.rows, answers.targets);
  });
}

}  // namespace dissent
