#include "dissent/table/table.hpp"

#include <algorithm>
#include <cmath>
#include <unordered_set>

#include "dissent/base/error.hpp"
#include "dissent/table/csv.hpp"

namespace dissent {

bool Table::has(std::string_view name) const {
  return std::any_of(columns.begin(), columns.end(), [&](const Column& column) { return column.name == name; });
}

const Column& Table::column(std::string_view name) const {
  for (const Column& column : columns) {
    if (column.name == name) {
      return column;
    }
  }
  std::vector<std::string_view> names;
  for (const Column& column : columns) {
    names.push_back(column.name);
  }
  fail("{}: has no column '{}'; it has: {}", source, name, fmt::join(names, ", "));
}

std::vector<double> Table::matrix(std::span<const std::string> names) const {
  std::vector<double> out(num_rows * names.size());
  for (std::size_t k = 0; k < names.size(); ++k) {
    const Column& from = column(names[k]);
    if (from.is_text()) {
      fail("{}: column '{}' row {} is text ('{}'); a number is required", source, from.name, *from.first_text_row + 1,
           from.text[*from.first_text_row].substr(0, 40));
    }
    check(from.missing_rows.empty(), "{}: column '{}' row {} is missing; a number is required", source, from.name,
          from.missing_rows.empty() ? 0 : from.missing_rows.front() + 1);
    for (std::size_t row = 0; row < num_rows; ++row) {
      check(std::isfinite(from.values[row]), "{}: column '{}' row {} is {}; a finite number is required", source,
            from.name, row + 1, from.values[row]);
      out[row * names.size() + k] = from.values[row];
    }
  }
  return out;
}

void check_column_names(std::span<const std::string> names, const std::string& source) {
  check(!names.empty(), "{}: has no columns; at least one is required", source);
  std::unordered_set<std::string_view> seen;
  bool numbers_only = true;
  for (std::size_t k = 0; k < names.size(); ++k) {
    check(!names[k].empty(), "{}: column {} has no name; every column of the header must have one", source, k + 1);
    check(seen.insert(names[k]).second, "{}: column name '{}' occurs twice; names must be unique", source, names[k]);
    double ignored = 0;
    numbers_only = numbers_only && parse_number(names[k], ignored) != NumberText::kText;
  }
  check(!numbers_only, "{}: the first line holds numbers only; a header line with column names is required", source);
}

}  // namespace dissent
