#include "dissent/loop/tables.hpp"

#include <fmt/ranges.h>

#include <cmath>
#include <limits>
#include <utility>

#include "dissent/base/check_in.hpp"
#include "dissent/base/error.hpp"
#include "dissent/base/names.hpp"
#include "dissent/loop/candidates.hpp"
#include "dissent/table/encoded_rows.hpp"
#include "dissent/table/encoding_fit.hpp"
#include "dissent/table/read_table.hpp"

namespace dissent {
namespace {

ProblemRows labelled_of(const Table& table, const TableEncoding& encoding, Problem& problem) {
  EncodedRows rows = encoded_rows(table, encoding, problem.target_names, problem.told);
  return {rows.num_rows, std::move(rows.inputs), std::move(rows.targets), table.source};
}

ProblemRows inputs_of(const Table& table, const TableEncoding& encoding, Problem& problem) {
  check_in(table.source, table.num_rows > 0, "has no rows");
  return {table.num_rows, encoding.matrix(table, &problem.told), {}, table.source};
}

// NaN if a row of the pool has no targets: it is left out.
std::vector<double> pool_targets(const Table& pool, Problem& problem) {
  const std::vector<std::size_t> complete = complete_rows(pool, problem.target_names);
  if (complete.size() == pool.num_rows) {
    return pool.matrix(problem.target_names);
  }
  const std::size_t D = problem.target_names.size();
  const std::vector<double> known = known_targets(pool, problem.target_names, complete);
  std::vector<double> targets(pool.num_rows * D, std::numeric_limits<double>::quiet_NaN());
  for (std::size_t k = 0; k < known.size(); ++k) {
    targets[complete[k / D] * D + k % D] = known[k];
  }
  problem.told.push_back(fmt::format("{}: {} without {}, never chosen", pool.source,
                                     counted(pool.num_rows - complete.size(), "row"),
                                     fmt::join(problem.target_names, ", ")));
  return targets;
}

void leave_out_unlabelled(Problem& problem) {
  const std::size_t D = problem.target_names.size();
  for (std::size_t k = 0; k < problem.pool.targets.size(); ++k) {
    if (std::isnan(problem.pool.targets[k])) {
      problem.left_out.resize(problem.pool.num_rows);
      problem.left_out[k / D] = 1;
    }
  }
}

// The columns that the inputs of the labelled rows are made from.
Table given_columns(const Table& labelled, const TableEncoding& encoding, const std::vector<std::string>& targets) {
  Table columns{labelled.source, labelled.num_rows, {}};
  for (const Column* column : labelled.find(encoding.sources())) {
    columns.columns.push_back(*column);
  }
  return picked_rows(columns, complete_rows(labelled, targets));
}

// The columns of the pool that are shown in place of the inputs.
Table shown_columns(const Table& pool, const TableEncoding& encoding) {
  Table shown{pool.source, pool.num_rows, {}};
  for (const std::string& id : encoding.ids) {
    if (pool.has(id)) {
      shown.columns.push_back(pool.column(id));
    }
  }
  for (const Column* column : pool.find(encoding.sources())) {
    shown.columns.push_back(*column);
  }
  return shown;
}

std::optional<Table> read_if_given(const std::string& path) {
  return path.empty() ? std::nullopt : std::optional(read_table(path));
}

FittedEncoding fit_to(const CampaignTables& tables, const CampaignSettings& settings) {
  ColumnOptions columns = tables.columns;
  columns.others.push_back(settings.cost);
  return fit_encoding(columns, *tables.labelled, &*tables.pool);
}

}  // namespace

CampaignTables read_tables(const TablePaths& paths) {
  check(paths.aim != "test" || !paths.test.empty(), "`aim` test stands for the rows of `test`, which are not given");
  return {read_if_given(paths.labelled), read_if_given(paths.pool), read_if_given(paths.test), paths.columns,
          read_if_given(paths.aim == "test" ? paths.test : paths.aim)};
}

Problem make_problem(const CampaignTables& tables, bool pool_labelled, const CampaignSettings& settings,
                     const TableEncoding& encoding) {
  check(tables.labelled.has_value(), "`labelled` is needed: a table of rows whose targets are known");
  check(tables.pool.has_value(), "`pool` is needed: a table of rows to choose from");
  check(!tables.columns.targets.empty(), "`targets` is needed: the columns to predict");
  Problem problem;
  problem.name = tables.labelled->source;
  problem.target_names = tables.columns.targets;
  tables.labelled->find(problem.target_names);
  FittedEncoding fitted = encoding.columns.empty() ? fit_to(tables, settings) : FittedEncoding{encoding, {}};
  fitted.encoding.ids = encoding.ids.empty() ? fitted.encoding.ids : encoding.ids;
  problem.encoding = fitted.encoding.kept();
  problem.told = std::move(fitted.told);
  problem.input_names = fitted.encoding.features();
  problem.train = labelled_of(*tables.labelled, fitted.encoding, problem);
  for (const std::string& name : problem.target_names) {
    check_in(tables.pool->source, !pool_labelled || tables.pool->has(name),
             "has no column '{}'; a pool without its targets needs an `oracle`, or people to ask", name);
  }
  problem.pool = inputs_of(*tables.pool, fitted.encoding, problem);
  if (pool_labelled) {
    problem.pool.targets = pool_targets(*tables.pool, problem);
  } else {
    tell_measured(*tables.pool, problem.target_names, problem.told);
  }
  if (tables.test) {
    problem.test = labelled_of(*tables.test, fitted.encoding, problem);
  }
  if (tables.aim) {
    problem.aim = inputs_of(*tables.aim, fitted.encoding, problem);
  }
  if (!problem.encoding.empty()) {
    problem.pool_columns = shown_columns(*tables.pool, fitted.encoding);
    problem.train_columns = given_columns(*tables.labelled, fitted.encoding, problem.target_names);
  }
  apply_settings(problem, *tables.pool, settings);
  leave_out_unlabelled(problem);
  return problem;
}

TableEncoding table_encoding(const Problem& problem) {
  TableEncoding encoding = problem.encoding;
  for (const std::string& name : problem.input_names) {
    if (problem.encoding.columns.empty()) {
      encoding.columns.push_back({.column = name});
    }
  }
  return encoding;
}

ProblemRows aim_rows(const Table& table, Problem& problem) {
  return inputs_of(table, table_encoding(problem), problem);
}

}  // namespace dissent
