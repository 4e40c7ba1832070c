// From the columns of a table, of any kind, to the numbers that models compute with: features.
//
//   number    itself
//   boolean   0 or 1 (true/false, yes/no, on/off, t/f, y/n in any case)
//   date      days since the earliest one (date.hpp); each table may write them in its own style
//   ordered   0, 1, 2, ... by the order given
//   category  one feature for each value, "cut=Ideal": 1 where the cell has it, else 0
//
// A missing cell (of a number: also NaN) is filled with the median and marked by a feature of its own, "Ozone missing";
// in a category it is only marked. If a table has neither text nor missing cells, features are its columns to the bit,
// and the encoding is empty.
//
// Cells that the fit never saw are encoded too. A new value of a category is 0 in all its features (or "other", if rare
// values were grouped). A missing cell of a column that had none is filled, but not marked. A value without a place in
// the order, or neither true nor false, counts as missing. Notes report this in words.
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
  std::vector<std::string> others = {};  // columns with another use: not inputs unless named as such
  std::vector<std::string> ignore = {};  // columns to leave out
  std::vector<std::string> ids = {};     // columns that tell rows apart: not inputs, but copied to the output
  // Categories from least to most, one list for each time they are given: {"cut=Fair", "Good", "Ideal"}. Inside a list,
  // another column's name and an equals sign, "color=J", begin that column's categories.
  std::vector<std::vector<std::string>> order = {};

  bool any() const { return !targets.empty() || !inputs.empty() || !ignore.empty() || !ids.empty() || !order.empty(); }

  // The inputs found in `table`. InputError for a name given twice or in two roles, and if no input is left.
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
  double fill = 0;  // of a missing cell, as a feature; unused for a category
  DateOrder date_order{};
  double origin = 0;  // of dates, in days since 1970-01-01

  std::size_t num_features() const;
  std::vector<std::string> feature_names() const;
  bool is_plain() const { return kind == ColumnKind::kNumber && !marks_missing; }
  bool operator==(const ColumnCode&) const = default;
};

struct TableEncoding {
  std::vector<ColumnCode> columns = {};
  std::vector<std::string> ids = {};  // columns that tell rows apart: not inputs, but copied to the output

  bool empty() const { return columns.empty() && ids.empty(); }
  // Whether the features are the table's columns, unchanged.
  bool is_plain() const;

  // The part that must be kept: without the columns if they are plain.
  TableEncoding kept() const { return {is_plain() ? std::vector<ColumnCode>() : columns, ids}; }

  // Their names, all different, in the order of the columns.
  std::vector<std::string> features() const;
  // The names of the columns they come from.
  std::vector<std::string> sources() const;

  // Row-major [num_rows][features().size()]. `told` receives the notes of the table, and one line for each column with
  // cells that the fit never saw. InputError for a missing column, text where a number or a date is required, and
  // infinite values.
  std::vector<double> matrix(const Table& table, std::vector<std::string>* told = nullptr) const;
  // The same as a table of features.
  Table features_of(const Table& table, std::vector<std::string>* told = nullptr) const;

  // The column that a feature belongs to, as a position in `columns`.
  std::size_t column_of(std::size_t feature) const;
  // What the cell of that column says in a row of features, in words: "Ideal", "missing", "2020-03-01". Empty for a
  // plain number, which speaks for itself.
  std::string cell_text(std::size_t feature, std::span<const double> row) const;

  bool operator==(const TableEncoding&) const = default;
};

// As JSON text, in model files and in the state of campaigns, and back; InputError for any other text.
std::string format_encoding(const TableEncoding& encoding);
TableEncoding parse_encoding(std::string_view text);

// A column's categories from least to most.
struct ColumnOrder {
  std::string column;
  std::vector<std::string> levels;
};

// Parses `order` for the columns of a table. InputError for a column that the table does not have, and for a category
// given twice.
std::vector<ColumnOrder> parse_orders(const std::vector<std::vector<std::string>>& order, const Table& table);

// Whether a cell is missing: empty, a text for nothing ("NA"), or a number that is NaN.
bool is_missing_cell(const Column& column, std::size_t row);

// Whether the column has any.
bool has_missing(const Column& column);

// 0 or 1 for a word such as yes, TRUE or off, else -1; `pair` receives which pair of words it belongs to.
int boolean_value(std::string_view word, std::size_t* pair = nullptr);

// A cell as text without spaces around it; numbers as they were spelled, else in the fewest digits.
std::string cell_of(const Column& column, std::size_t row);

}  // namespace dissent
