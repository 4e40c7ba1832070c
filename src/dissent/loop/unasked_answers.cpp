// Answers for rows that need not have been asked for: each line is for a row of the pool, found by its number or its
// inputs, or for an extra row.
#include <algorithm>
#include <cmath>
#include <optional>
#include <span>
#include <unordered_map>
#include <utility>

#include "dissent/base/error.hpp"
#include "dissent/base/names.hpp"
#include "dissent/loop/answer_lines.hpp"
#include "dissent/loop/answers.hpp"
#include "dissent/loop/cell_match.hpp"
#include "dissent/loop/kept_campaign.hpp"
#include "dissent/loop/row_finder.hpp"
#include "dissent/loop/row_match.hpp"
#include "dissent/loop/tables.hpp"

namespace dissent {
namespace {

// Rows of the pool by their inputs.
class PoolRows {
 public:
  PoolRows(const Table& pool, std::vector<std::string> names, const Campaign& campaign)
      : pool_(pool), names_(std::move(names)), finder_(pool, names_, rounded_cell) {
    for (const ChosenRow& row : campaign.chosen) {
      is_pending_[row.row] = row.is_pending();
    }
  }

  // The row that has the inputs of a line, if any.
  std::optional<std::size_t> find(const Table& table, std::size_t line, const AnsweredRows& answered) const {
    const std::vector<std::size_t> found = finder_.find(table, line);
    if (found.empty()) {
      return std::nullopt;
    }
    check(all_equal(pool_, found, names_),
          "line {} of the file could be any of {} of the pool, whose inputs differ little; give the number in a column "
          "'row'",
          line_number(line), counted(found.size(), "row"));
    return best_of(found, answered);
  }

  // A note on a row that was found though a number differs; empty if none does.
  std::string difference(const Table& table, std::size_t line, std::size_t row) const {
    for (const std::string& name : names_) {
      const Column& given = table.column(name);
      const Column& known = pool_.column(name);
      if (!equal_cell(known, row, given, line) && cell_text(known, row) != cell_text(given, line)) {
        return fmt::format("line {} of the file is taken for row {} of the pool, rounded: {} is {} here, {} there",
                           line_number(line), row, name, cell_text(given, line), cell_text(known, row));
      }
    }
    return "";
  }

 private:
  // Among rows with equal inputs: one that waits, else one that was never chosen, else the first.
  std::size_t best_of(std::span<const std::size_t> rows, const AnsweredRows& answered) const {
    const auto rank = [&](std::size_t row) {
      const auto found = is_pending_.find(row);
      const int of_campaign = found == is_pending_.end() ? 1 : found->second ? 0 : 2;
      return of_campaign + (answered.has(row) ? 3 : 0);
    };
    return *std::ranges::min_element(rows, {}, rank);
  }

  const Table& pool_;
  std::vector<std::string> names_;
  RowFinder finder_;
  std::unordered_map<std::size_t, bool> is_pending_;  // of chosen rows
};

void check_none_missing(const Column& column, std::span<const std::size_t> lines) {
  for (std::size_t k = 0; k < lines.size(); ++k) {
    if (is_missing_cell(column, k)) {
      throw InputError(Fault{.rule = "it is empty; no labelled row lacks it, so a model cannot know what that means",
                             .column = column.name,
                             .row = lines[k]});
    }
  }
}

// The columns that the inputs are made from, for some lines.
Table columns_at(const Table& table, std::span<const std::size_t> lines, const TableEncoding& encoding) {
  Table columns{table.source, table.num_rows, {}};
  for (const Column* column : table.find(encoding.sources())) {
    columns.columns.push_back(*column);
  }
  Table rows = picked_rows(columns, lines);
  for (std::size_t k = 0; k < rows.columns.size(); ++k) {
    if (encoding.columns[k].kind == ColumnKind::kNumber) {
      take_for_numbers(rows.columns[k]);
    }
    if (!encoding.columns[k].marks_missing) {
      check_none_missing(rows.columns[k], lines);
    }
  }
  return rows;
}

// Adds the inputs [lines][C] of some lines, made from their columns as the problem's inputs are, and those columns.
void add_extra(Answers& answers, const Table& table, std::span<const std::size_t> lines, const Problem& data) {
  const TableEncoding encoding = table_encoding(data);
  const Table rows = columns_at(table, lines, encoding);
  try {
    answers.extra.inputs = encoding.matrix(rows, &answers.told);
  } catch (const InputError& error) {
    Fault fault = error.fault();
    fault.row = fault.row ? std::optional(lines[*fault.row]) : std::nullopt;
    throw InputError(fault);
  }
  answers.extra.told.resize(lines.size());
  for (std::size_t k = 0; !data.encoding.columns.empty() && k < lines.size(); ++k) {
    for (const Column& column : rows.columns) {
      answers.extra.cells.push_back(is_missing_cell(column, k) ? "" : cell_of(column, k));
    }
  }
}

// The row of the pool whose number is on a line, if any.
std::optional<std::size_t> numbered_row(const Table& table, std::size_t line, const std::string& row_column,
                                        const Table& pool, const std::vector<std::string>& names) {
  if (!table.has(row_column) || table.column(row_column).is_missing(line)) {
    return std::nullopt;
  }
  const std::size_t row = row_at(table, row_column, line);
  check_in_pool(row, pool.num_rows);
  check_inputs(table, std::vector{line}, pool, std::vector{row}, names);
  return row;
}

void check_finite(std::span<const double> targets, std::size_t line) {
  for (const double value : targets) {
    check(std::isfinite(value), "line {} of the file is told {}; answers must be finite numbers", line_number(line),
          value);
  }
}

}  // namespace

Answers read_unasked(const Table& table, const Campaign& campaign, const Problem& data, const Table& pool,
                     const std::string& row_column) {
  const std::vector<std::string> names = source_columns(data);
  Answers answers{table.source};
  answers.unasked = true;
  in_source(table.source, [&] {
    check_no_text(table, data.target_names, row_column);
    const PoolRows pool_rows(pool, names, campaign);
    AnsweredRows answered;
    std::vector<std::size_t> extra;
    for (const std::size_t line : answered_lines(table, data.target_names)) {
      const std::vector<double> targets = targets_at(table, line, data.target_names);
      check_finite(targets, line);
      std::optional<std::size_t> row = numbered_row(table, line, row_column, pool, names);
      if (!row && (row = pool_rows.find(table, line, answered))) {
        if (std::string text = pool_rows.difference(table, line, *row); !text.empty()) {
          answers.told.push_back(std::move(text));
        }
      }
      if (row) {
        answered.add(*row, line);
        answers.add(*row, targets);
      } else {
        extra.push_back(line);
        answers.extra.targets.insert(answers.extra.targets.end(), targets.begin(), targets.end());
      }
    }
    if (!extra.empty()) {
      add_extra(answers, table, extra, data);
    }
  });
  return answers;
}

}  // namespace dissent
