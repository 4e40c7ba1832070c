// Single fields of CSV text (csv.hpp says which are numbers and which are missing).
#pragma once

#include <cmath>
#include <string_view>

namespace dissent {

// Without spaces and tabs around it.
inline std::string_view trimmed_cell(std::string_view text) {
  const std::size_t begin = text.find_first_not_of(" \t");
  return begin == std::string_view::npos ? "" : text.substr(begin, text.find_last_not_of(" \t") - begin + 1);
}

// std::from_chars accepts nan(payload), which is nobody's idea of a number in a table.
inline bool has_payload(double value, const char* end) { return std::isnan(value) && end[-1] == ')'; }

// "1,5", as a table with another delimiter may have it; no second comma, and no point.
bool parse_decimal_comma(std::string_view field, double& value);

// "1,234" or "-12,345,678": one to three digits, then groups of a comma and three.
bool is_grouped_by_commas(std::string_view field);
// "1.234", as people write thousands where commas mark decimals; but not "0.731".
bool is_grouped_by_points(std::string_view field);

// Whether a finite number, read from this text, would be written differently. A fraction of more than 15 digits or with
// an exponent is a measurement and not a code: its spelling does not count.
bool is_spelled_otherwise(std::string_view text, double value);

}  // namespace dissent
