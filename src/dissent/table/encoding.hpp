// From the columns of a table, of any kind, to the numbers that models compute with: features.
//
//   number    itself
//   boolean   0 or 1 (true/false, yes/no, on/off, t/f, y/n in any case)
//   date      days since the earliest one (date.hpp); each table may write them in its own style
//   ordered   0, 1, 2, ... by the order given
//   category  one feature for each value, "cut=Ideal": 1 where the cell has it, else 0
//
// A missing cell (of a number: also NaN) is filled with the median and marked by a feature of its own, "Ozone missing";
// that of a category is marked alone. Where a table has neither text nor missing cells, features are its columns to the
// bit, and the encoding is empty.
//
// What the fit never saw has an answer too. A value that is none of a category's is 0 in all its features (or "other",
// where rare values were put together); a missing cell of a column that had none is filled, and not marked; a value
// without a place in the order, or neither true nor false, counts as missing. Whoever applies it is told, in words.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "dissent/table/table.hpp"

namespace dissent {

enum class DateOrder;  // of date.hpp

// Which columns of a table are predicted, and from which.
struct ColumnOptions {
  std::vector<std::string> targets = {};
  std::vector<std::string> inputs = {};  // empty: every column that is neither a target nor named below
  std::vector<std::string> others = {};  // columns with another use: no inputs unless named so
  std::vector<std::string> ignore = {};  // columns to leave out
  std::vector<std::string> ids = {};     // columns that tell rows apart: no inputs, passed on to what is written
  // Categories from least to most, a list for each time they are given: {"cut=Fair", "Good", "Ideal"}. Inside of a list
  // another column's name and an equals sign, "color=J", begin the categories of that column.
  std::vector<std::vector<std::string>> order = {};

  bool any() const { return !targets.empty() || !inputs.empty() || !ignore.empty() || !ids.empty() || !order.empty(); }

  // The inputs found in `table`. InputError for a name given twice or as both, and when none is left.
  std::vector<std::string> input_names(const Table& table) const;
};

enum class ColumnKind { kNumber, kBoolean, kDate, kOrdered, kCategory };
std::string_view kind_name(ColumnKind kind);  // "number", "boolean", ...

// How one column becomes features.
struct ColumnCode {
  std::string column;
  ColumnKind kind = ColumnKind::kNumber;
  std::vector<std::string> levels = {};  // of a category: those with a feature; ordered: least first
  bool has_other = false;                // rare values share the feature "cut=other"
  bool marks_missing = false;
  double fill = 0;  // of a missing cell, as a feature; no use for a category
  DateOrder date_order{};
  double origin = 0;  // of dates, in days since 1970-01-01

  std::size_t num_features() const;
  std::vector<std::string> feature_names() const;
  bool is_plain() const { return kind == ColumnKind::kNumber && !marks_missing; }
  bool operator==(const ColumnCode&) const = default;
};

struct TableEncoding {
  std::vector<ColumnCode> columns = {};
  std::vector<std::string> ids = {};  // columns that tell rows apart: no inputs, passed on to what is written

  bool empty() const { return columns.empty() && ids.empty(); }
  // Whether features are columns of the table, as they are.
  bool is_plain() const;

  // What must be kept of it: without the columns where they are plain.
  TableEncoding kept() const { return {is_plain() ? std::vector<ColumnCode>() : columns, ids}; }

  // Their names, all different, in the order of the columns.
  std::vector<std::string> features() const;
  // The names of the columns they come from.
  std::vector<std::string> sources() const;

  // Row-major [num_rows][features().size()]. `told` receives the notes of the table, and one line for each
  // column with what the fit never saw.
  // InputError for a column that is not there, text where a number or a date must be, and what is infinite.
  std::vector<double> matrix(const Table& table, std::vector<std::string>* told = nullptr) const;
  // The same as a table of features.
  Table features_of(const Table& table, std::vector<std::string>* told = nullptr) const;

  // The column that a feature is of, as a position in `columns`.
  std::size_t column_of(std::size_t feature) const;
  // What the cell of that column says in a row of features, in words: "Ideal", "missing", "2020-03-01". Empty for a
  // plain number, which says it itself.
  std::string cell_text(std::size_t feature, std::span<const double> row) const;

  bool operator==(const TableEncoding&) const = default;
};

// As JSON text, in model files and in the state of campaigns, and back; InputError for what no encoding wrote.
std::string format_encoding(const TableEncoding& encoding);
TableEncoding parse_encoding(std::string_view text);

// A column's categories from least to most.
struct ColumnOrder {
  std::string column;
  std::vector<std::string> levels;
};

// What `order` says of the columns of a table. InputError for a column that it does not have, and for a category given
// twice.
std::vector<ColumnOrder> parse_orders(const std::vector<std::vector<std::string>>& order, const Table& table);

// Whether a cell is missing: empty, or a number that is NaN.
bool is_missing_cell(const Column& column, std::size_t row);

// Whether the column has any.
bool has_missing(const Column& column);

// 0 or 1 for a word such as yes, TRUE or off, else -1; `pair` receives which pair of words it is of.
int boolean_value(std::string_view word, std::size_t* pair = nullptr);

// A cell as text without spaces around it; numbers as they were spelled, else in the fewest digits.
std::string cell_of(const Column& column, std::size_t row);

}  // namespace dissent
