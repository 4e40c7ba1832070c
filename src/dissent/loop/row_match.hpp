// Which row is this? Rows that come back from people and programs are compared with those that went out by their input
// columns, so that no label ends up on another row.
//
// Where it is known which row an answer is of, numbers are the same when they differ by at most 1e-5 of the larger one:
// a spreadsheet that shows a few digits saves those, and awk prints six. Where the inputs alone say which row it is,
// they are the same only as far as rounding explains it. Texts are the same without the spaces around them.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "dissent/table/table.hpp"

namespace dissent {

inline constexpr double kRounding = 1e-5;  // of the larger one

bool same_number(double one, double other);

// Whether `written` is what rounding makes of `known`: both print the same with as many significant digits as `written`
// needs, but at least 6 and at most 15, or it is `known` in single precision. Two whole numbers must be equal.
bool is_rounded(double known, double written);

// The number in a cell, if it is one; of a missing cell NaN, or none.
std::optional<double> number_in(const Column& column, std::size_t row);
// Without the spaces around it.
std::string_view trimmed(std::string_view text);

// What stands in one row of a table and in one of another; a missing value is the same as a missing one alone.
bool same_cell(const Column& one, std::size_t row, const Column& other, std::size_t other_row);
// Likewise, with numbers as is_rounded() has them.
bool rounded_cell(const Column& known, std::size_t row, const Column& written, std::size_t other_row);
// To the last digit.
bool equal_cell(const Column& one, std::size_t row, const Column& other, std::size_t other_row);
// Makes a column of text one of numbers if all its cells are numbers or missing, as in a part of one that has others.
void take_for_numbers(Column& column);
std::string cell_text(const Column& column, std::size_t row);

// The line of a file that a row of its table is on; the header is the first.
inline std::size_t line_number(std::size_t row) { return row + 2; }

// InputError, with the column and both values, unless every row of `table` in `lines` has the inputs that the row of
// `pool` in `rows` has. Columns that `table` does not have, and empty fields, are not compared.
void check_inputs(const Table& table, std::span<const std::size_t> lines, const Table& pool,
                  std::span<const std::size_t> rows, std::span<const std::string> input_names);

// For each row of `question`, which row of `answer` it is, by the columns that both have; without any they stand in
// order. They must have as many rows. InputError when `answer` has rows that nobody asked for, or too few columns to
// tell rows apart.
std::vector<std::size_t> match_rows(const Table& answer, const Table& question);

}  // namespace dissent
