// Which row is this? Compares rows that come back from people and programs with those that went out, by their input
// columns, so that no label ends up on the wrong row. cell_match.hpp says when cells are the same.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "dissent/table/table.hpp"

namespace dissent {

// The line of a file that a row of its table is on; the header is the first.
inline std::size_t line_number(std::size_t row) { return row + 2; }

// InputError, with the column and both values, unless every row of `table` in `lines` has the inputs that the row of
// `pool` in `rows` has. Columns that `table` does not have, and empty fields, are not compared.
void check_inputs(const Table& table, std::span<const std::size_t> lines, const Table& pool,
                  std::span<const std::size_t> rows, std::span<const std::string> input_names);

// For each row of `question`, which row of `answer` it is, by the columns that both have; without any, they are in
// order. Both must have the same number of rows. InputError if `answer` has rows that nobody asked for, or too few
// columns to tell rows apart.
std::vector<std::size_t> match_rows(const Table& answer, const Table& question);

}  // namespace dissent
