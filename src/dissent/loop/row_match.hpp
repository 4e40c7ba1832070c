// Which row is this? Rows that come back from people and programs are compared with those that went out by their input
// columns, so that no label ends up on another row.
//
// Numbers are the same when they differ by at most 1e-5 of the larger one: a spreadsheet that shows a few digits saves
// those, and awk prints six. Texts are the same without the spaces around them.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "dissent/table/table.hpp"

namespace dissent {

bool same_number(double one, double other);

// What stands in one row of a table and in one of another; a missing value is the same as a missing one alone.
bool same_cell(const Column& one, std::size_t row, const Column& other, std::size_t other_row);
// To the last digit.
bool equal_cell(const Column& one, std::size_t row, const Column& other, std::size_t other_row);
// Some rows of a column, in the order given.
Column picked_rows(const Column& column, std::span<const std::size_t> rows);
std::string cell_text(const Column& column, std::size_t row);

// The line of a file that a row of its table is on; the header is the first.
inline std::size_t line_number(std::size_t row) { return row + 2; }

// InputError, with the column and both values, unless every row of `table` in `lines` has the inputs that the row of
// `pool` in `rows` has. Columns that `table` does not have, and empty fields, are not compared.
void check_inputs(const Table& table, std::span<const std::size_t> lines, const Table& pool,
                  std::span<const std::size_t> rows, std::span<const std::string> input_names);

// Rows of a table, to find those of another among by columns that both have. The tables must outlive it.
class RowFinder {
 public:
  // `known` must have the columns `names`, and so must tables whose rows are looked up.
  RowFinder(const Table& known, const std::vector<std::string>& names);

  // Those that equal a row of `table`, or, where none does, those that are the same; ascending.
  std::vector<std::size_t> find(const Table& table, std::size_t row) const;

 private:
  std::size_t num_rows_;
  std::vector<const Column*> columns_;
};

// Whether rows of a table are equal in the columns `names`.
bool all_equal(const Table& table, std::span<const std::size_t> rows, const std::vector<std::string>& names);

// For each row of `question`, which row of `answer` it is, by the columns that both have; without any they stand in
// order. They must have as many rows. InputError when `answer` has rows that nobody asked for, or too few columns to
// tell rows apart.
std::vector<std::size_t> match_rows(const Table& answer, const Table& question);

}  // namespace dissent
