// Table: named columns of equal length, column by column (values[row]), numbers and text kept apart.
//
// A column is numeric until one of its fields is not a number; then it is text, and first_text_row says where that was.
// An empty field, or one that says so (csv.hpp), is missing: recorded as NaN in `values` (or as it is in `text`) and
// listed in `missing_rows`, so that a NaN written as such ("nan") can be told from no value at all. Rows count from 0
// here and from 1 in messages.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace dissent {

// How numbers were spelled in the text they were read from, if they would be written differently: 01, 1.50, +1, or more
// digits than a double holds. Codes and identifiers must not lose that. Takes a few bytes for each, and none for other
// cells.
class Spellings {
 public:
  // Rows ascend.
  void add(std::size_t row, std::string_view text);
  std::optional<std::string_view> of(std::size_t row) const;

 private:
  std::vector<std::size_t> rows_;
  std::vector<std::size_t> ends_;  // in text_
  std::string text_;
};

struct Column {
  std::string name;
  std::vector<double> values;             // [num_rows], or empty for a text column
  std::vector<std::string> text;          // [num_rows] for a text column, else empty
  std::vector<std::size_t> missing_rows;  // ascending
  std::optional<std::size_t> first_text_row;
  bool unnamed = false;        // no real name in the file: `name` is its place ("column 1") or made up ("Unnamed: 0")
  Spellings spellings = {};    // of a numeric column
  std::string doubt = {};      // of a text column that seems to be numbers: why its first text is not read as one
  bool doubts_points = false;  // it is points that are in doubt, not commas

  bool is_text() const { return first_text_row.has_value(); }
  bool is_missing(std::size_t row) const;
  // Of a text column: whether the text in a row is a number, and not one that is in doubt.
  bool is_sure_number(std::size_t row) const;

  // InputError, with column and row, if the column is text or lacks a value.
  void check_numbers() const;
  // The number in a row, NaN if it is missing; InputError if the column is text.
  double number(std::size_t row) const;
  // Likewise; InputError if it is not finite.
  double finite_number(std::size_t row) const;
};

inline constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";

// How a table is written as text.
struct TextStyle {
  char delimiter = ',';
  bool decimal_comma = false;
  bool byte_order_mark = false;  // before UTF-8, so that Excel recognises it

  bool operator==(const TextStyle&) const = default;
};

struct Table {
  std::string source;  // the file, for messages
  std::size_t num_rows = 0;
  std::vector<Column> columns;
  std::vector<std::string> notes = {};  // how it was read, if that is a guess: lines for the user
  TextStyle style = {};                 // of the file it was read from

  bool has(std::string_view name) const;

  // InputError, with the nearest name or all names, if there is no such column.
  const Column& column(std::string_view name) const;
  // Several at once, in less than quadratic time. InputError names all that are missing.
  std::vector<const Column*> find(std::span<const std::string> names) const;

  // The named columns as one row-major matrix [num_rows][names.size()]. A value in them that is text,
  // missing or not finite is an InputError that names column and row.
  std::vector<double> matrix(std::span<const std::string> names) const;
};

// Rows of a row-major matrix, picked by number.
template <class Numbers>
std::vector<double> pick_rows(std::span<const double> matrix, std::size_t num_columns, const Numbers& rows) {
  std::vector<double> out;
  out.reserve(rows.size() * num_columns);
  for (const std::size_t row : rows) {
    const std::span<const double> from = matrix.subspan(row * num_columns, num_columns);
    out.insert(out.end(), from.begin(), from.end());
  }
  return out;
}

// "has no column 'prise'; did you mean 'price'?", with all names if none is near. If the names are only numbers, it
// says that a header is required.
std::string missing_column_text(std::span<const std::string> missing, const std::vector<std::string>& names);

// The rows with a value in each of the named columns, ascending: those that can be learned from.
std::vector<std::size_t> complete_rows(const Table& table, std::span<const std::string> names);

// Chosen rows, with every column.
Table picked_rows(const Table& table, std::span<const std::size_t> rows);

// InputError unless there is at least one name, and none is empty or given twice.
void check_column_names(std::span<const std::string> names, const std::string& source);

}  // namespace dissent
