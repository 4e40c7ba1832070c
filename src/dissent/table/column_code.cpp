#include "dissent/table/column_code.hpp"

#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

#include "dissent/table/date.hpp"
#include "dissent/table/encoded_rows.hpp"

namespace dissent {
namespace {

constexpr std::size_t kMostLevels = 50;  // with "other"

double median(std::vector<double> values) {
  std::ranges::sort(values);
  const std::size_t middle = values.size() / 2;
  return values.empty() ? 0 : values.size() % 2 == 1 ? values[middle] : (values[middle - 1] + values[middle]) / 2;
}

// The values of a code's only feature, for cells that are not missing.
std::vector<double> present_values(const ColumnCode& code, const Column* column) {
  std::vector<double> values;
  if (column == nullptr) {
    return values;
  }
  const Table table{"", column->text.size() + column->values.size(), {*column}};
  ColumnCode unmarked = code;
  unmarked.marks_missing = false;
  const std::vector<double> all = TableEncoding{{unmarked}}.matrix(table);
  for (std::size_t row = 0; row < table.num_rows; ++row) {
    if (!is_missing_cell(*column, row)) {
      values.push_back(all[row]);
    }
  }
  return values;
}

}  // namespace

void set_fill(const ColumnCells& cells, std::span<const std::size_t> labelled_rows, ColumnCode& code) {
  if (code.kind == ColumnKind::kCategory) {
    return;
  }
  std::vector<double> values = in_rows(labelled_rows, [&] { return present_values(code, cells.labelled); });
  code.fill = median(values.empty() ? present_values(code, cells.pool) : std::move(values));
  if (code.kind != ColumnKind::kNumber && code.kind != ColumnKind::kDate) {
    code.fill = std::floor(code.fill);  // a value that exists
  }
}

void set_dates(const DateCells& dates, ColumnCode& code) {
  code.kind = ColumnKind::kDate;
  code.date_order = dates.order;
  code.origin = dates.earliest;
}

void set_categories(const ColumnCells& cells, ColumnCode& code) {
  code.kind = ColumnKind::kCategory;
  for (const auto& [text, count] : cells.counts) {
    code.levels.push_back(text);
  }
  if (code.levels.size() > kMostLevels) {
    std::ranges::stable_sort(code.levels, std::ranges::greater(),
                             [&](const std::string& level) { return cells.counts.at(level); });
    code.levels.resize(kMostLevels - 1);
    std::ranges::sort(code.levels);
    code.has_other = true;
  }
}

std::string missing_text(const ColumnCells& cells, const ColumnCode& code) {
  if (!cells.any_missing()) {
    return "";
  }
  const std::string fill = code.kind == ColumnKind::kDate      ? date_text(code.origin + code.fill)
                           : code.kind == ColumnKind::kOrdered ? code.levels[static_cast<std::size_t>(code.fill)]
                                                               : fmt::format("{:.6g}", code.fill);
  const std::string count = cells.num_missing_in_pool == 0 ? fmt::format("{} missing", cells.num_missing)
                                                           : fmt::format("{} missing and {} in the pool",
                                                                         cells.num_missing, cells.num_missing_in_pool);
  return code.kind == ColumnKind::kCategory ? count + ", marked"
                                            : fmt::format("{}, filled with the median {} and marked", count, fill);
}

std::string kind_text(const ColumnCells& cells, const ColumnCode& code) {
  switch (code.kind) {
    case ColumnKind::kNumber:
      return "";
    case ColumnKind::kBoolean:
      return "true or false, as 1 or 0";
    case ColumnKind::kDate:
      return "days since " + date_text(code.origin);
    case ColumnKind::kOrdered:
      return fmt::format("{} as 0 to {}", fmt::join(code.levels, " < "), code.levels.size() - 1);
    case ColumnKind::kCategory:
      break;
  }
  const std::size_t count = cells.counts.size();
  return code.has_other
             ? fmt::format("{} categories, the {} most frequent one-hot, others as 'other'", count, code.levels.size())
             : fmt::format("{} {}, one-hot", count, count == 1 ? "category" : "categories");
}

}  // namespace dissent
