#include "dissent/loop/tables.hpp"

#include "dissent/base/check_in.hpp"
#include "dissent/base/error.hpp"
#include "dissent/loop/candidates.hpp"
#include "dissent/table/read_table.hpp"

namespace dissent {
namespace {

ProblemRows rows_of(const Table& table, const Problem& problem, bool with_targets) {
  check_in(table.source, table.num_rows > 0, "has no rows");
  return {table.num_rows, table.matrix(problem.input_names),
          with_targets ? table.matrix(problem.target_names) : std::vector<double>(), table.source};
}

std::optional<Table> read_if_given(const std::string& path) {
  return path.empty() ? std::nullopt : std::optional(read_table(path));
}

}  // namespace

CampaignTables read_tables(const TablePaths& paths) {
  check(paths.aim != "test" || !paths.test.empty(), "`aim` test stands for the rows of `test`, which are not given");
  return {read_if_given(paths.labelled), read_if_given(paths.pool), read_if_given(paths.test), paths.columns,
          read_if_given(paths.aim == "test" ? paths.test : paths.aim)};
}

Problem make_problem(const CampaignTables& tables, bool pool_labelled, const CampaignSettings& settings) {
  check(tables.labelled.has_value(), "`labelled` is needed: a table of rows whose targets are known");
  check(tables.pool.has_value(), "`pool` is needed: a table of rows to choose from");
  check(!tables.columns.targets.empty(), "`targets` is needed: the columns to predict");
  Problem problem;
  problem.name = tables.labelled->source;
  problem.target_names = tables.columns.targets;
  ColumnOptions columns = tables.columns;
  columns.others.push_back(settings.cost);
  problem.input_names = columns.input_names(*tables.labelled);
  problem.train = rows_of(*tables.labelled, problem, true);
  for (const std::string& name : problem.target_names) {
    check_in(tables.pool->source, !pool_labelled || tables.pool->has(name),
             "has no column '{}'; a pool without its targets needs an `oracle`, or people to ask", name);
  }
  problem.pool = rows_of(*tables.pool, problem, pool_labelled);
  if (tables.test) {
    problem.test = rows_of(*tables.test, problem, true);
  }
  if (tables.aim) {
    problem.aim = aim_rows(*tables.aim, problem);
  }
  apply_settings(problem, *tables.pool, settings);
  return problem;
}

ProblemRows aim_rows(const Table& table, const Problem& problem) { return rows_of(table, problem, false); }

}  // namespace dissent
