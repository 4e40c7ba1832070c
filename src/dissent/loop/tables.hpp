// The tables that a campaign begins with: from files, or from anything else that makes a Table.
#pragma once

#include <optional>
#include <string>

#include "dissent/problem/problem.hpp"
#include "dissent/table/column_options.hpp"
#include "dissent/table/table.hpp"

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

// Messages name a table by its source.
struct CampaignTables {
  std::optional<Table> labelled = {};
  std::optional<Table> pool = {};
  std::optional<Table> test = {};  // may be absent
  ColumnOptions columns = {};

  bool any() const { return labelled || pool || test || !columns.targets.empty() || !columns.inputs.empty(); }
};

// Those that have a path.
CampaignTables read_tables(const TablePaths& paths);

// `pool_labelled` says whether the pool must have the targets; if not, they are not looked at. InputError for a table
// or column that is missing, and for values that are no finite numbers.
Problem make_problem(const CampaignTables& tables, bool pool_labelled);

}  // namespace dissent
