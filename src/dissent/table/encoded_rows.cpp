#include "dissent/table/encoded_rows.hpp"

#include <fmt/ranges.h>

#include <algorithm>
#include <limits>
#include <string_view>
#include <unordered_set>
#include <utility>

#include "dissent/base/check_in.hpp"
#include "dissent/base/error.hpp"
#include "dissent/base/names.hpp"
#include "dissent/table/csv.hpp"

namespace dissent {
namespace {

constexpr std::size_t kShownLength = 40;  // of a text in a message

// Turns a column without text into numbers, like a reader that sees only these rows.
void make_numbers(Column& column) {
  std::vector<double> values(column.text.size(), std::numeric_limits<double>::quiet_NaN());
  for (std::size_t row = 0; row < values.size(); ++row) {
    if (!column.is_missing(row) &&
        (!column.is_sure_number(row) || parse_cell(column.text[row], values[row]) != NumberText::kNumber)) {
      return;
    }
  }
  column.values = std::move(values);
  column.text.clear();
  column.first_text_row.reset();
  column.doubt.clear();
}

// Only for columns that the encoding has as numbers; "01" stays a category's name.
void make_numbers_where(Table& table, const TableEncoding& encoding) {
  std::unordered_set<std::string_view> numbers;
  for (const ColumnCode& code : encoding.columns) {
    if (code.kind == ColumnKind::kNumber) {
      numbers.insert(code.column);
    }
  }
  for (Column& column : table.columns) {
    if (column.is_text() && numbers.contains(column.name)) {
      make_numbers(column);
    }
  }
}

void check_any(const Table& table, const std::vector<std::string>& targets, const std::vector<std::size_t>& rows) {
  check_in(table.source, !rows.empty(), "no row has its targets ({})", fmt::join(targets, ", "));
}

}  // namespace

Table rows_with_targets(const Table& table, const std::vector<std::string>& targets, std::vector<std::size_t>& rows) {
  rows = complete_rows(table, targets);
  check_any(table, targets, rows);
  Table part = picked_rows(table, rows);
  for (Column& column : part.columns) {
    if (column.is_text()) {
      make_numbers(column);
    }
  }
  return part;
}

EncodedRows encoded_rows(const Table& table, const TableEncoding& encoding, const std::vector<std::string>& targets,
                         std::vector<std::string>& told) {
  check_in(table.source, table.num_rows > 0, "has no rows");
  const std::vector<std::size_t> rows = complete_rows(table, targets);
  if (rows.size() == table.num_rows) {
    std::vector<double> inputs = encoding.matrix(table, &told);
    return {table.num_rows, std::move(inputs), known_targets(table, targets, rows)};
  }
  check_any(table, targets, rows);
  Table part = picked_rows(table, rows);
  make_numbers_where(part, encoding);
  std::vector<double> inputs = in_rows(rows, [&] { return encoding.matrix(part, &told); });
  told.push_back(fmt::format("{}: {} without {}, left out", table.source, counted(table.num_rows - rows.size(), "row"),
                             fmt::join(targets, ", ")));
  std::vector<double> known = known_targets(table, targets, rows);
  return {rows.size(), std::move(inputs), std::move(known), rows};
}

std::vector<double> known_targets(const Table& table, const std::vector<std::string>& targets,
                                  std::span<const std::size_t> rows) {
  std::vector<double> out;
  in_source(table.source, [&] {
    const std::vector<const Column*> columns = table.find(targets);
    for (const std::size_t row : rows) {
      for (const Column* column : columns) {
        if (column->is_text() && column->doubt.empty()) {
          const std::size_t first = *column->first_text_row;
          throw InputError(Fault{.value = column->text[first].substr(0, kShownLength),
                                 .rule = "is text; a number is required: correct it, or leave it empty, and its row is "
                                         "left out",
                                 .column = column->name,
                                 .row = first});
        }
        out.push_back(column->finite_number(row));
      }
    }
  });
  return out;
}

void tell_measured(const Table& pool, const std::vector<std::string>& targets, std::vector<std::string>& told) {
  if (!std::ranges::all_of(targets, [&](const std::string& name) { return pool.has(name); })) {
    return;
  }
  const std::size_t count = complete_rows(pool, targets).size();
  if (count > 0 && count < pool.num_rows) {
    told.push_back(fmt::format("{}: {} {} already, and may be chosen again; give a pool without {}", pool.source,
                               count == 1 ? "1 row has" : fmt::format("{} rows have", count), fmt::join(targets, ", "),
                               count == 1 ? "it" : "them"));
  }
}

}  // namespace dissent
