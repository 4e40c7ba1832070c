// Whether two cells say the same, as far as people and programs that copy them keep it.
//
// Where it is known which row an answer is of, numbers are the same when they differ by at most 1e-5 of the larger one:
// a spreadsheet that shows a few digits saves those, and awk prints six. Where the inputs alone say which row it is,
// they are the same only as far as rounding explains it. Texts are the same without the spaces around them.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

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

}  // namespace dissent
