#include "dissent/table/table.hpp"

#include <algorithm>
#include <cmath>
#include <unordered_map>
#include <unordered_set>

#include "dissent/base/error.hpp"
#include "dissent/table/csv.hpp"

namespace dissent {
namespace {

[[noreturn]] void fail_at(const Column& column, std::size_t row, std::string value, std::string rule) {
  throw InputError(Fault{.value = std::move(value), .rule = std::move(rule), .column = column.name, .row = row});
}

constexpr std::size_t kShownLength = 40;  // of a text in a message

}  // namespace

bool Column::is_missing(std::size_t row) const { return std::ranges::binary_search(missing_rows, row); }

void Column::check_numbers() const {
  if (is_text()) {
    fail_at(*this, *first_text_row, text[*first_text_row].substr(0, kShownLength), "is text; a number is required");
  }
  if (!missing_rows.empty()) {
    fail_at(*this, missing_rows.front(), "", "the value is missing; a number is required");
  }
}

double Column::number(std::size_t row) const {
  if (is_text()) {
    check_numbers();
  }
  return values[row];
}

double Column::finite_number(std::size_t row) const {
  const double value = number(row);
  if (!std::isfinite(value)) [[unlikely]] {
    fail_at(*this, row, fmt::format("{}", value), "is not a finite number");
  }
  return value;
}

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
  throw InputError(
      Fault{.source = source, .rule = fmt::format("has no column '{}'; it has: {}", name, fmt::join(names, ", "))});
}

std::vector<const Column*> Table::find(std::span<const std::string> names) const {
  std::unordered_map<std::string_view, const Column*> by_name;
  for (const Column& column : columns) {
    by_name.emplace(column.name, &column);
  }
  std::vector<const Column*> found;
  for (const std::string& name : names) {
    const auto at = by_name.find(name);
    found.push_back(at == by_name.end() ? &column(name) : at->second);  // which says what there is
  }
  return found;
}

std::vector<double> Table::matrix(std::span<const std::string> names) const {
  std::vector<double> out(num_rows * names.size());
  const std::vector<const Column*> found = find(names);
  for (std::size_t k = 0; k < names.size(); ++k) {
    const Column& from = *found[k];
    in_source(source, [&] {
      from.check_numbers();
      for (std::size_t row = 0; row < num_rows; ++row) {
        out[row * names.size() + k] = from.finite_number(row);
      }
    });
  }
  return out;
}

void check_column_names(std::span<const std::string> names, const std::string& source) {
  in_source(source, [&] {
    check(!names.empty(), "has no columns; at least one is required");
    std::unordered_set<std::string_view> seen;
    bool numbers_only = true;
    for (std::size_t k = 0; k < names.size(); ++k) {
      check(!names[k].empty(), "column {} has no name; every column of the header must have one", k + 1);
      check(seen.insert(names[k]).second, "column name '{}' occurs twice; names must be unique", names[k]);
      double ignored = 0;
      numbers_only = numbers_only && parse_cell(names[k], ignored) != NumberText::kText;
    }
    check(!numbers_only, "the first line holds numbers only; a header line with column names is required");
  });
}

}  // namespace dissent
