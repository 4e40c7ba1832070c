// Rows of a pool as people and programs see them: the columns of their tables, or the inputs if these are the columns.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "dissent/problem/problem.hpp"
#include "dissent/table/csv.hpp"

namespace dissent {

inline std::vector<std::string> shown_names(const Problem& data) {
  std::vector<std::string> names;
  for (const Column& column : data.pool_columns.columns) {
    names.push_back(column.name);
  }
  return names.empty() ? data.input_names : names;
}

// One row into a CsvText or CsvWriter.
template <class Writer>
void put_shown(Writer& writer, const Problem& data, std::size_t row) {
  for (const Column& column : data.pool_columns.columns) {
    put_cell(writer, column, row);
  }
  const std::size_t C = data.input_names.size();
  for (std::size_t c = 0; data.pool_columns.columns.empty() && c < C; ++c) {
    writer.field(data.pool.inputs[row * C + c]);
  }
}

}  // namespace dissent
