#include "dissent/loop/row_match.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <limits>
#include <numeric>
#include <utility>

#include "dissent/base/error.hpp"
#include "dissent/loop/row_finder.hpp"
#include "dissent/table/csv.hpp"
#include "dissent/table/encoding.hpp"

namespace dissent {
namespace {

// As many as the shortest form has that reads back to the same bits.
int significant_digits(double value) {
  std::array<char, 40> text{};
  const char* end = std::to_chars(text.data(), text.data() + text.size(), value, std::chars_format::scientific).ptr;
  const char* exponent = std::find<const char*>(text.data(), end, 'e');
  return static_cast<int>(
      std::count_if<const char*>(text.data(), exponent, [](char c) { return c >= '0' && c <= '9'; }));
}

bool is_whole(double value) { return value == std::floor(value) && std::abs(value) < 1e15; }

bool cells_match(const Column& one, std::size_t row, const Column& other, std::size_t other_row,
                 bool (*is_same)(double, double)) {
  if (is_missing_cell(one, row) || is_missing_cell(other, other_row)) {
    return is_missing_cell(one, row) && is_missing_cell(other, other_row);
  }
  const std::optional<double> number = number_in(one, row);
  const std::optional<double> other_number = number_in(other, other_row);
  if (number && other_number) {
    return is_same(*number, *other_number);
  }
  return !number && !other_number && trimmed(one.text[row]) == trimmed(other.text[other_row]);
}

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

// Where the row that is nearest to a line differs from it: "; it was asked for b = 6". The one in its place is nearest
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

bool same_number(double one, double other) {
  return one == other || std::abs(one - other) <= kRounding * std::max(std::abs(one), std::abs(other));
}

bool is_rounded(double known, double written) {
  constexpr int kFewest = 6;
  constexpr int kMost = 15;  // what a double keeps of any decimal number
  if (known == written || !std::isfinite(known) || !std::isfinite(written)) {
    return known == written;
  }
  if (!same_number(known, written) || (is_whole(known) && is_whole(written))) {
    return false;  // whole numbers count something, as seconds, and are written in full
  }
  const int digits = std::clamp(significant_digits(written), kFewest, kMost);
  return static_cast<double>(static_cast<float>(known)) == written ||
         fmt::format("{:.{}e}", known, digits - 1) == fmt::format("{:.{}e}", written, digits - 1);
}

std::optional<double> number_in(const Column& column, std::size_t row) {
  if (!column.is_text()) {
    return column.values[row];
  }
  double value = 0;
  return parse_cell(column.text[row], value) == NumberText::kNumber ? std::optional(value) : std::nullopt;
}

std::string_view trimmed(std::string_view text) {
  const std::size_t begin = text.find_first_not_of(" \t");
  return begin == std::string_view::npos ? "" : text.substr(begin, text.find_last_not_of(" \t") - begin + 1);
}

bool same_cell(const Column& one, std::size_t row, const Column& other, std::size_t other_row) {
  return cells_match(one, row, other, other_row, same_number);
}

bool rounded_cell(const Column& known, std::size_t row, const Column& written, std::size_t other_row) {
  return cells_match(known, row, written, other_row, is_rounded);
}

bool equal_cell(const Column& one, std::size_t row, const Column& other, std::size_t other_row) {
  if (is_missing_cell(one, row) || is_missing_cell(other, other_row)) {
    return is_missing_cell(one, row) && is_missing_cell(other, other_row);
  }
  const std::optional<double> number = number_in(one, row);
  const std::optional<double> other_number = number_in(other, other_row);
  return number || other_number ? number == other_number : one.text[row] == other.text[other_row];
}

void take_for_numbers(Column& column) {
  std::vector<double> values;
  for (std::size_t row = 0; row < column.text.size(); ++row) {
    const std::optional<double> number =
        column.is_missing(row) ? std::numeric_limits<double>::quiet_NaN() : number_in(column, row);
    if (!number) {
      return;
    }
    values.push_back(*number);
  }
  if (column.is_text()) {
    column.values = std::move(values);
    column.text.clear();
    column.first_text_row.reset();
  }
}

std::string cell_text(const Column& column, std::size_t row) {
  if (column.is_missing(row)) {
    return "empty";
  }
  return column.is_text() ? fmt::format("'{}'", column.text[row]) : fmt::format("{}", column.values[row]);
}

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
