// The tables that a campaign begins with, as files.
#pragma once

#include <string>

#include "dissent/problem/problem.hpp"
#include "dissent/table/column_options.hpp"

namespace dissent {

struct TablePaths {
  std::string labelled = {};
  std::string pool = {};
  std::string test = {};  // may be empty
  ColumnOptions columns = {};

  bool any() const {
    return !labelled.empty() || !pool.empty() || !test.empty() || !columns.targets.empty() || !columns.inputs.empty();
  }
};

// `pool_labelled` says whether the pool must have the targets; if not, they are not read. InputErrors name the file.
Problem load_tables(const TablePaths& paths, bool pool_labelled);

}  // namespace dissent
