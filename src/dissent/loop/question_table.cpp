#include "dissent/loop/question_table.hpp"

#include <algorithm>
#include <filesystem>
#include <iterator>
#include <map>
#include <numeric>
#include <system_error>

#include "dissent/acquisition/reasons.hpp"
#include "dissent/base/error.hpp"
#include "dissent/base/file.hpp"
#include "dissent/loop/cell_match.hpp"
#include "dissent/table/csv.hpp"

namespace dissent {
namespace {

Column empty_column(const std::string& name, std::size_t num_rows) {
  Column column{name, std::vector<double>(num_rows, std::numeric_limits<double>::quiet_NaN()), {}, {}, {}};
  column.missing_rows.resize(num_rows);
  std::iota(column.missing_rows.begin(), column.missing_rows.end(), std::size_t{0});
  return column;
}

std::vector<std::size_t> numbers_of(std::span<const ChosenRow> rows) {
  std::vector<std::size_t> numbers;
  for (const ChosenRow& chosen : rows) {
    numbers.push_back(chosen.row);
  }
  return numbers;
}

Column reasons_of(std::span<const ChosenRow> rows, const std::string& name) {
  Column column{name, {}, {}, {}, 0};
  for (std::size_t k = 0; k < rows.size(); ++k) {
    column.text.push_back(rows[k].why);
    if (rows[k].why.empty()) {
      column.missing_rows.push_back(k);
    }
  }
  return column;
}

// As question_table(), for any chosen rows.
Table table_of(std::span<const ChosenRow> rows, const Laboratory& laboratory) {
  const Table& pool = laboratory.pool();
  Table table{"the table to fill in", rows.size(), {}, {}, pool.style};
  Column numbers{laboratory.own_column("row"), {}, {}, {}, {}};
  for (const ChosenRow& chosen : rows) {
    numbers.values.push_back(static_cast<double>(chosen.row));
  }
  table.columns.push_back(std::move(numbers));
  std::ranges::move(picked_rows(pool, numbers_of(rows)).columns, std::back_inserter(table.columns));
  table.columns.push_back(reasons_of(rows, laboratory.own_column("why")));
  for (const std::string& name : laboratory.data().target_names) {
    table.columns.push_back(empty_column(name, rows.size()));
  }
  return table;
}

// The chosen rows that the lines of a table are about.
std::vector<ChosenRow> rows_of(const Table& table, const Campaign& campaign, const std::string& row_column) {
  std::map<double, const ChosenRow*> chosen;
  for (const ChosenRow& row : campaign.chosen) {
    chosen[static_cast<double>(row.row)] = &row;
  }
  check(table.has(row_column) && !table.column(row_column).is_text(), "it has no column '{}' of row numbers",
        row_column);
  std::vector<ChosenRow> rows;
  for (const double number : table.column(row_column).values) {
    const auto found = chosen.find(number);
    check(found != chosen.end(), "it has a row {} that was never asked for", number);
    rows.push_back(*found->second);
  }
  return rows;
}

// Rows that wait get new reasons, so a table may have those of an earlier day.
bool is_reason(const Column& column, std::size_t line) {
  return column.is_text() && column.text[line].find(kReasonMark) != std::string::npos;
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
  const std::vector<ChosenRow> rows = rows_of(table, laboratory.campaign(), laboratory.own_column("row"));
  const Table written = table_of(rows, laboratory);
  const std::vector<std::string>& targets = laboratory.data().target_names;
  const std::string why = laboratory.own_column("why");
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
        check(column.is_missing(line) || same_cell(column, line, written.column(column.name), line) ||
                  (column.name == why && is_reason(column, line)),
              "its column '{}' of row {} is {}, but the campaign's {}", column.name, rows[line].row,
              cell_text(column, line), cell_text(written.column(column.name), line));
      }
    }
  }
}

std::string why_not_replace(const std::string& path, const Laboratory& laboratory) {
  std::error_code ignored;
  if (!std::filesystem::is_regular_file(path, ignored) || std::filesystem::file_size(path, ignored) == 0) {
    return "";
  }
  try {
    check_told(read_csv(path), laboratory);
  } catch (const InputError& error) {
    const Fault& fault = error.fault();
    return Fault{.rule = fault.rule, .column = fault.column, .row = fault.row}.text();
  }
  return "";
}

std::string write_questions(const std::string& path, const Laboratory& laboratory) {
  const Table table = question_table(laboratory);
  const std::string reason = why_not_replace(path, laboratory);
  if (reason.empty()) {
    AtomicFile file(path);
    file.write(format_csv(table, table.style));
    file.commit();
  }
  return reason;
}

}  // namespace dissent
