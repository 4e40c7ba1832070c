#include "dissent/loop/row_match.hpp"

#include <fmt/ranges.h>

#include <algorithm>
#include <numeric>

#include "dissent/base/error.hpp"
#include "dissent/loop/cell_match.hpp"
#include "dissent/loop/row_finder.hpp"

namespace dissent {
namespace {

std::vector<std::size_t> all_rows(std::size_t count) {
  std::vector<std::size_t> rows(count);
  std::iota(rows.begin(), rows.end(), std::size_t{0});
  return rows;
}

// The inputs of a line as "a = 1, b = 2".
std::string inputs_text(const Table& table, std::size_t line, const std::vector<std::string>& names) {
  constexpr std::size_t kMostNamed = 4;
  std::vector<std::string> parts;
  for (const std::string& name : names) {
    if (parts.size() < kMostNamed) {
      parts.push_back(fmt::format("{} = {}", name, cell_text(table.column(name), line)));
    }
  }
  return fmt::format("{}{}", fmt::join(parts, ", "), names.size() > kMostNamed ? ", ..." : "");
}

// Where the row nearest to a line differs from it: "; it was asked for b = 6". The row in the same place is nearest
// unless another has more in common.
std::string nearest_text(const Table& answer, std::size_t line, const Table& question,
                         const std::vector<std::string>& names) {
  const auto differing = [&](std::size_t row) {
    std::vector<std::string> different = names;
    std::erase_if(different, [&](const std::string& name) {
      return same_cell(question.column(name), row, answer.column(name), line);
    });
    return different;
  };
  std::size_t nearest = line;
  for (std::size_t row = 0; row < question.num_rows; ++row) {
    nearest = differing(row).size() < differing(nearest).size() ? row : nearest;
  }
  return fmt::format("; it was asked for {}", inputs_text(question, nearest, differing(nearest)));
}

}  // namespace

void check_inputs(const Table& table, std::span<const std::size_t> lines, const Table& pool,
                  std::span<const std::size_t> rows, std::span<const std::string> input_names) {
  for (const std::string& name : input_names) {
    if (!table.has(name) || !pool.has(name)) {
      continue;
    }
    const Column& given = table.column(name);
    const Column& known = pool.column(name);
    for (std::size_t k = 0; k < lines.size(); ++k) {
      if (!given.is_missing(lines[k]) && !same_cell(given, lines[k], known, rows[k])) {
        throw InputError(Fault{
            .source = table.source,
            .rule = fmt::format("it is {} on line {} of the file, but row {} of the pool has {}; the "
                                "answers are of other rows, or of another campaign",
                                cell_text(given, lines[k]), line_number(lines[k]), rows[k], cell_text(known, rows[k])),
            .column = name});
      }
    }
  }
}

std::vector<std::size_t> match_rows(const Table& answer, const Table& question) {
  std::vector<std::string> all;
  std::vector<std::string> names;
  for (const Column& column : question.columns) {
    all.push_back(column.name);
    if (answer.has(column.name)) {
      names.push_back(column.name);
    }
  }
  std::vector<std::size_t> lines = all_rows(question.num_rows);
  const auto in_place = [&](const std::string& name) {
    const Column& asked = question.column(name);
    const Column& echoed = answer.column(name);
    return std::ranges::all_of(lines, [&](std::size_t k) { return equal_cell(asked, k, echoed, k); });
  };
  if (std::ranges::all_of(names, in_place)) {
    return lines;
  }
  const RowFinder finder(question, names, same_cell);
  std::vector<bool> taken(lines.size(), false);
  for (std::size_t line = 0; line < answer.num_rows; ++line) {
    const std::vector<std::size_t> found = finder.find(answer, line);
    const auto name = [&] { return inputs_text(answer, line, names); };
    check(!found.empty(), "row {}: {} was not asked for{}", line + 1, name(),
          found.empty() ? nearest_text(answer, line, question, names) : "");
    const bool clear = all_equal(question, found, all);
    check(
        clear || std::ranges::find(found, line) != found.end(),
        "row {}: {} is the same for several rows that were asked for; write all inputs, with all their digits, or none",
        line + 1, name());
    const auto free = std::ranges::find_if(found, [&](std::size_t k) { return !taken[k] && (clear || k == line); });
    check(free != found.end(), "row {}: {} is answered more often than it was asked for", line + 1, name());
    taken[*free] = true;
    lines[*free] = line;
  }
  return lines;
}

}  // namespace dissent
