#include "dissent/loop/question_table.hpp"

#include <algorithm>
#include <map>
#include <numeric>

#include "dissent/base/error.hpp"
#include "dissent/loop/row_match.hpp"

namespace dissent {
namespace {

Column empty_column(const std::string& name, std::size_t num_rows) {
  Column column{name, std::vector<double>(num_rows, std::numeric_limits<double>::quiet_NaN()), {}, {}, {}};
  column.missing_rows.resize(num_rows);
  std::iota(column.missing_rows.begin(), column.missing_rows.end(), std::size_t{0});
  return column;
}

// Some rows of a column, in the order given.
Column picked(const Column& from, std::span<const ChosenRow> rows) {
  Column column{from.name, {}, {}, {}, {}};
  if (from.is_text()) {
    column.first_text_row = 0;
  }
  for (std::size_t k = 0; k < rows.size(); ++k) {
    const std::size_t row = rows[k].row;
    from.is_text() ? column.text.push_back(from.text[row]) : column.values.push_back(from.values[row]);
    if (from.is_missing(row)) {
      column.missing_rows.push_back(k);
    }
  }
  return column;
}

Column reasons_of(std::span<const ChosenRow> rows) {
  Column column{"why", {}, {}, {}, 0};
  for (std::size_t k = 0; k < rows.size(); ++k) {
    column.text.push_back(rows[k].why);
    if (rows[k].why.empty()) {
      column.missing_rows.push_back(k);
    }
  }
  return column;
}

// As question_table(), of any rows that were chosen.
Table table_of(std::span<const ChosenRow> rows, const Laboratory& laboratory) {
  const Table& pool = laboratory.pool();
  Table table{"the table to fill in", rows.size(), {}};
  Column numbers{"row", {}, {}, {}, {}};
  for (const ChosenRow& chosen : rows) {
    numbers.values.push_back(static_cast<double>(chosen.row));
  }
  table.columns.push_back(std::move(numbers));
  for (const Column& column : pool.columns) {
    table.columns.push_back(picked(column, rows));
  }
  if (!pool.has("why")) {
    table.columns.push_back(reasons_of(rows));
  }
  for (const std::string& name : laboratory.data().target_names) {
    table.columns.push_back(empty_column(name, rows.size()));
  }
  return table;
}

// The chosen rows that the lines of a table are about.
std::vector<ChosenRow> rows_of(const Table& table, const Campaign& campaign) {
  std::map<double, const ChosenRow*> chosen;
  for (const ChosenRow& row : campaign.chosen) {
    chosen[static_cast<double>(row.row)] = &row;
  }
  check(table.has("row") && !table.column("row").is_text(), "it has no column 'row' of row numbers");
  std::vector<ChosenRow> rows;
  for (const double number : table.column("row").values) {
    const auto found = chosen.find(number);
    check(found != chosen.end(), "it has a row {} that was never asked for", number);
    rows.push_back(*found->second);
  }
  return rows;
}

void check_answer(const Column& column, std::size_t line, const ChosenRow& chosen, std::size_t d) {
  if (column.is_missing(line)) {
    return;
  }
  check(!chosen.is_pending(), "it has an answer for row {} that was not told yet", chosen.row);
  check(!chosen.dropped, "it has an answer for row {}, which was dropped", chosen.row);
  check(!column.is_text() && column.values[line] == chosen.targets[d], "its answer for row {} is {}, but {} was told",
        chosen.row, cell_text(column, line), chosen.targets[d]);
}

}  // namespace

Table question_table(const Laboratory& laboratory) {
  std::vector<ChosenRow> rows;
  for (const std::size_t position : pending(laboratory.campaign())) {
    rows.push_back(laboratory.campaign().chosen[position]);
  }
  return table_of(rows, laboratory);
}

void check_told(const Table& table, const Laboratory& laboratory) {
  const std::vector<ChosenRow> rows = rows_of(table, laboratory.campaign());
  const Table written = table_of(rows, laboratory);
  const std::vector<std::string>& targets = laboratory.data().target_names;
  for (const Column& column : table.columns) {
    check(written.has(column.name) || column.missing_rows.size() == table.num_rows,
          "it has a column '{}' that is not the campaign's", column.name);
    if (!written.has(column.name)) {
      continue;
    }
    const auto target = std::ranges::find(targets, column.name);
    for (std::size_t line = 0; line < table.num_rows; ++line) {
      if (target != targets.end()) {
        check_answer(column, line, rows[line], static_cast<std::size_t>(target - targets.begin()));
      } else {
        check(column.is_missing(line) || same_cell(column, line, written.column(column.name), line),
              "its column '{}' of row {} is {}, but the campaign's {}", column.name, rows[line].row,
              cell_text(column, line), cell_text(written.column(column.name), line));
      }
    }
  }
}

}  // namespace dissent
