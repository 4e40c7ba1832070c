#include "dissent/loop/answer_lines.hpp"

#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>

#include "dissent/base/error.hpp"
#include "dissent/base/names.hpp"
#include "dissent/loop/row_match.hpp"

namespace dissent {

std::vector<std::size_t> answered_lines(const Table& table, const std::vector<std::string>& targets) {
  const std::vector<const Column*> columns = table.find(targets);
  std::vector<std::size_t> lines;
  for (std::size_t line = 0; line < table.num_rows; ++line) {
    const auto is_missing = [&](const Column* column) { return column->is_missing(line); };
    const auto num_missing = static_cast<std::size_t>(std::ranges::count_if(columns, is_missing));
    check(num_missing == 0 || num_missing == targets.size(),
          "line {} of the file has some of its targets and not all; fill in {}, or none of them", line_number(line),
          fmt::join(targets, ", "));
    if (num_missing == 0) {
      lines.push_back(line);
    }
  }
  check(!lines.empty(), "no row has its targets filled in ({})", fmt::join(targets, ", "));
  return lines;
}

std::size_t row_at(const Table& table, const std::string& row_column, std::size_t line) {
  check(!table.column(row_column).is_missing(line),
        "line {} of the file has its targets, but its '{}' is empty; it says which row of the pool they are of",
        line_number(line), row_column);
  const double number = table.column(row_column).number(line);
  check(number >= 0 && number < 1e15 && number == std::floor(number), "row {} was never asked for", number);
  return static_cast<std::size_t>(number);
}

void check_no_text(const Table& table, const std::vector<std::string>& targets, const std::string& row_column) {
  constexpr std::size_t kShownLength = 40;
  for (const Column* column : table.find(targets)) {
    if (!column->is_text()) {
      continue;
    }
    if (!column->doubt.empty()) {
      column->check_numbers();  // no cell that is wrong, but one that may be read in two ways
    }
    const std::size_t line = *column->first_text_row;
    const bool has_number =
        table.has(row_column) && !table.column(row_column).is_text() && !table.column(row_column).is_missing(line);
    const std::string remedy = has_number ? fmt::format("; `drop` takes row {} of the pool if its experiment failed",
                                                        table.column(row_column).values[line])
                                          : "";
    throw InputError(Fault{.value = column->text[line].substr(0, kShownLength),
                           .rule = fmt::format("is text; a number is required: leave it empty{}", remedy),
                           .column = column->name,
                           .row = line});
  }
}

std::vector<double> targets_at(const Table& table, std::size_t line, const std::vector<std::string>& names) {
  std::vector<double> targets;
  for (const std::string& name : names) {
    targets.push_back(table.column(name).number(line));
  }
  return targets;
}

void check_in_pool(std::size_t row, std::size_t num_rows) {
  check(row < num_rows, "row {} is not in the pool of {}", row, counted(num_rows, "row"));
}

void AnsweredRows::add(std::size_t row, std::size_t line) {
  const auto [first, is_new] = line_of_.try_emplace(row, line);
  check(is_new, "lines {} and {} of the file both answer row {} of the pool; a row is told once",
        line_number(first->second), line_number(line), row);
}

}  // namespace dissent
