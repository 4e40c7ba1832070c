// The tables that a campaign begins with: from files, or from anything else that makes a Table.
#pragma once

#include <optional>
#include <string>

#include "dissent/loop/settings.hpp"
#include "dissent/problem/problem.hpp"
#include "dissent/table/encoding.hpp"
#include "dissent/table/table.hpp"

namespace dissent {

struct TablePaths {
  std::string labelled = {};
  std::string pool = {};
  std::string test = {};  // may be empty
  ColumnOptions columns = {};
  std::string aim = {};  // rows at which predictions will be needed, or "test" for those of `test`; may be empty

  bool any() const { return !labelled.empty() || !pool.empty() || !test.empty() || !aim.empty() || columns.any(); }
};

// Messages name a table by its source.
struct CampaignTables {
  std::optional<Table> labelled = {};
  std::optional<Table> pool = {};
  std::optional<Table> test = {};  // may be absent
  ColumnOptions columns = {};
  std::optional<Table> aim = {};  // may be absent; its targets are not looked at

  bool any() const { return labelled || pool || test || aim || columns.any(); }
};

// Reads those that have a path.
CampaignTables read_tables(const TablePaths& paths);

// `pool_labelled` says whether the pool must have the targets; if not, they are not used, but Problem::told says if
// only some rows have them. InputError for a missing table or column, and for values that are not finite numbers. The
// settings say what labels cost (that column is not an input unless named as one) and which rows are left out. Rows
// without targets are left out too. The inputs are made from the columns as `encoding` says or, without one, as suits
// the tables; Problem::told says what was done.
Problem make_problem(const CampaignTables& tables, bool pool_labelled, const CampaignSettings& settings = {},
                     const TableEncoding& encoding = {});

// How the inputs of a problem are made from columns; if they are columns, it says so.
TableEncoding table_encoding(const Problem& problem);

// The inputs of a table as the aim of a problem; Problem::told says what it has that the problem's tables lack.
ProblemRows aim_rows(const Table& table, Problem& problem);

}  // namespace dissent
