#include "dissent/table/csv_cell.hpp"

#include <algorithm>
#include <charconv>
#include <string>

#include "dissent/table/csv.hpp"

namespace dissent {
namespace {

// One to three digits, then groups of the mark and three.
bool is_grouped(std::string_view field, char mark) {
  constexpr std::size_t kGroup = 3;
  field = trimmed_cell(field);
  if (field.starts_with('-') || field.starts_with('+')) {
    field.remove_prefix(1);
  }
  bool first = true;
  while (true) {
    const std::size_t digits = std::min(field.find_first_not_of("0123456789"), field.size());
    if (first ? digits == 0 || digits > kGroup || digits == field.size() : digits != kGroup) {
      return false;
    }
    if (digits == field.size()) {
      return true;
    }
    if (field[digits] != mark) {
      return false;
    }
    field.remove_prefix(digits + 1);
    first = false;
  }
}

}  // namespace

bool parse_decimal_comma(std::string_view field, double& value) {
  std::string text(field);
  const std::size_t comma = text.find(',');
  if (comma == std::string::npos || text.find('.') != std::string::npos) {
    return false;
  }
  text[comma] = '.';
  return parse_cell(text, value) == NumberText::kNumber;
}

bool is_grouped_by_commas(std::string_view field) { return is_grouped(field, ','); }

bool is_grouped_by_points(std::string_view field) {
  return is_grouped(field, '.') && trimmed_cell(field).find_first_of("123456789") < field.find('.');  // not 0.731
}

bool is_missing_text(std::string_view field) {
  field = trimmed_cell(field);
  constexpr std::size_t kLongest = 4;
  std::string lower;
  for (const char c : field.substr(0, field.size() <= kLongest ? kLongest : 0)) {
    lower += c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  }
  return field.empty() || lower == "na" || lower == "n/a" || lower == "#n/a" || lower == "null" || lower == "?" ||
         lower == "-";
}

NumberText parse_cell(std::string_view field, double& value) {
  field = trimmed_cell(field);
  if (field.starts_with('+') && !field.substr(1).starts_with('-')) {
    field.remove_prefix(1);  // from_chars takes a minus only
  }
  double parsed = 0;
  const char* const end = field.data() + field.size();
  const auto [stop, error] = std::from_chars(field.data(), end, parsed);
  if (stop != end || error == std::errc::invalid_argument || has_payload(parsed, stop)) {
    return NumberText::kText;
  }
  if (error == std::errc::result_out_of_range) {
    return NumberText::kOutOfRange;
  }
  value = parsed;
  return NumberText::kNumber;
}

}  // namespace dissent
