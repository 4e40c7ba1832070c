#include "dissent/loop/tables.hpp"

#include "dissent/base/error.hpp"
#include "dissent/table/read_table.hpp"

namespace dissent {
namespace {

ProblemRows rows_of(const Table& table, const Problem& problem, bool with_targets) {
  check(table.num_rows > 0, "{}: has no rows", table.source);
  return {table.num_rows, table.matrix(problem.input_names),
          with_targets ? table.matrix(problem.target_names) : std::vector<double>(), table.source};
}

}  // namespace

Problem load_tables(const TablePaths& paths, bool pool_labelled) {
  check(!paths.labelled.empty(), "--labelled is needed: a table of rows whose targets are known");
  check(!paths.pool.empty(), "--pool is needed: a table of rows to choose from");
  check(!paths.columns.targets.empty(), "--targets is needed: the columns to predict");
  const Table labelled = read_table(paths.labelled);
  Problem problem;
  problem.name = paths.labelled;
  problem.target_names = paths.columns.targets;
  problem.input_names = paths.columns.input_names(labelled);
  problem.train = rows_of(labelled, problem, true);
  const Table pool = read_table(paths.pool);
  for (const std::string& name : problem.target_names) {
    check(!pool_labelled || pool.has(name),
          "{}: has no column '{}'; a pool without its targets needs --oracle COMMAND, or 'dissent ask' and 'tell'",
          paths.pool, name);
  }
  problem.pool = rows_of(pool, problem, pool_labelled);
  if (!paths.test.empty()) {
    problem.test = rows_of(read_table(paths.test), problem, true);
  }
  return problem;
}

}  // namespace dissent
