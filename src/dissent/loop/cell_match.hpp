// Whether two cells say the same, allowing for what people and programs lose when they copy them.
//
// If the row of an answer is known, or is one of those that an oracle was asked for, numbers are the same if they
// differ by at most 1e-5 of the larger one: a spreadsheet that shows a few digits saves only those, and awk prints six.
// If the row must be found in the whole pool by its inputs, numbers are the same only if rounding explains the
// difference. Texts are compared without the spaces around them.
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

// The number in a cell, if it is one; NaN or none for a missing cell.
std::optional<double> number_in(const Column& column, std::size_t row);
// Without the spaces around it.
std::string_view trimmed(std::string_view text);

// Compares a cell of one table with one of another; a missing value is the same only as another missing one.
bool same_cell(const Column& one, std::size_t row, const Column& other, std::size_t other_row);
// Likewise, with numbers compared by is_rounded().
bool rounded_cell(const Column& known, std::size_t row, const Column& written, std::size_t other_row);
// To the last digit.
bool equal_cell(const Column& one, std::size_t row, const Column& other, std::size_t other_row);
// Turns a text column into numbers if all its cells are numbers or missing, as in a part of a column that has texts.
void take_for_numbers(Column& column);
std::string cell_text(const Column& column, std::size_t row);

}  // namespace dissent
