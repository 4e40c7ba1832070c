#include "dissent/loop/canonical_cells.hpp"

#include <algorithm>
#include <cmath>
#include <optional>

#include "dissent/table/date.hpp"

namespace dissent {
namespace {

std::optional<std::string> boolean_text(const std::string& cell) {
  const int truth = cell == "0" ? 0 : cell == "1" ? 1 : boolean_value(cell);
  return truth < 0 ? std::nullopt : std::optional<std::string>(truth == 1 ? "true" : "false");
}

// A date in the order that the encoding reads; none for one with seconds, which date_text() leaves out.
std::optional<std::string> ordered_date(double days, DateOrder order) {
  const std::string text = date_text(days);
  const std::optional<double> read = parse_date(text, DateOrder::kYearFirst);
  if (!read || std::abs(*read - days) > 1e-7) {
    return std::nullopt;
  }
  if (order == DateOrder::kYearFirst) {
    return text;
  }
  const std::string year = text.substr(0, 4);
  const std::string month = text.substr(5, 2);
  const std::string day = text.substr(8, 2);
  return (order == DateOrder::kDayFirst ? day + "/" + month : month + "/" + day) + "/" + year + text.substr(10);
}

// Reads a date in the encoding's order, else year first, else (with dots) day first, else in the order of its column.
std::optional<double> read_date(const std::string& cell, DateOrder own, const DateColumn& column) {
  std::optional<double> days = parse_date(cell, own);
  if (!days) {
    days = parse_date(cell, DateOrder::kYearFirst);
  }
  if (!days && cell.find('.') < cell.find('/')) {
    days = parse_date(cell, DateOrder::kDayFirst);
  }
  if (!days && column.are_dates && !column.ambiguous) {
    days = parse_date(cell, column.order);
  }
  return days;
}

void rewrite(Column& column, const ColumnCode& code, std::size_t num_rows) {
  const DateColumn dates = code.kind == ColumnKind::kDate && column.is_text() ? judge_dates(column.text) : DateColumn();
  std::vector<std::string> cells(num_rows);
  for (std::size_t row = 0; row < num_rows; ++row) {
    if (is_missing_cell(column, row)) {
      continue;
    }
    const std::string cell = cell_of(column, row);
    std::optional<std::string> text;
    if (code.kind == ColumnKind::kBoolean) {
      text = boolean_text(cell);
    } else if (const std::optional<double> days = read_date(cell, code.date_order, dates)) {
      text = ordered_date(*days, code.date_order);
    }
    cells[row] = text.value_or(cell);
  }
  if (!column.is_text()) {
    column.values.clear();
    column.first_text_row = 0;
  }
  column.text = std::move(cells);
}

}  // namespace

Table canonical_cells(Table table, const TableEncoding& encoding) {
  for (const ColumnCode& code : encoding.columns) {
    const auto column = std::ranges::find(table.columns, code.column, &Column::name);
    if (column != table.columns.end() && (code.kind == ColumnKind::kBoolean || code.kind == ColumnKind::kDate)) {
      rewrite(*column, code, table.num_rows);
    }
  }
  return table;
}

}  // namespace dissent
