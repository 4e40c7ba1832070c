// Finds rows of one table among those of another, by columns that both have.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "dissent/loop/cell_match.hpp"
#include "dissent/table/table.hpp"

namespace dissent {

// Whether a cell of the known table and one of another are the same: same_cell or rounded_cell.
using CellRule = bool (*)(const Column& known, std::size_t row, const Column& other, std::size_t other_row);

// The tables must outlive it.
class RowFinder {
 public:
  // `known` must have the columns `names`, and so must tables whose rows are looked up.
  RowFinder(const Table& known, const std::vector<std::string>& names, CellRule is_same);

  // Known rows that equal a row of `table` or, if none does, those that are the same; ascending.
  std::vector<std::size_t> find(const Table& table, std::size_t row) const;

 private:
  // The rows of the known table, by their cell in one column.
  struct Index {
    std::vector<std::pair<double, std::size_t>> numbers = {};  // ascending
    std::unordered_map<std::string, std::vector<std::size_t>> texts = {};
    std::vector<std::size_t> missing = {};
    std::size_t num_distinct = 0;
  };
  static Index index_of(const Column& column, std::size_t num_rows);
  // Rows that may be the same in the indexed column.
  std::vector<std::size_t> candidates(const Column& column, std::size_t row) const;

  CellRule is_same_;
  std::size_t num_rows_;
  std::vector<const Column*> columns_;
  std::size_t indexed_ = 0;  // the column of the index: the one with the most distinct cells
  Index index_ = {};
};

// Whether rows of a table are equal in the columns `names`.
bool all_equal(const Table& table, std::span<const std::size_t> rows, const std::vector<std::string>& names);

}  // namespace dissent
