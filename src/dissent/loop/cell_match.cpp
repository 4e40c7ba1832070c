#include "dissent/loop/cell_match.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <limits>
#include <utility>
#include <vector>

#include "dissent/table/csv.hpp"
#include "dissent/table/encoding.hpp"

namespace dissent {
namespace {

// Digits of the shortest form that reads back to the same bits.
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
    return false;  // whole numbers count something, like seconds, and are written in full
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

}  // namespace dissent
