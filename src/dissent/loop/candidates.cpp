#include "dissent/loop/candidates.hpp"

#include <algorithm>
#include <utility>

#include "dissent/base/error.hpp"
#include "dissent/table/row_condition.hpp"

namespace dissent {
namespace {

constexpr std::size_t kMostCompared = 20'000;

void leave_out_outliers(Problem& problem) {
  const std::size_t C = problem.input_names.size();
  const std::vector<UsualRange> usual = usual_inputs(problem);
  problem.left_out.resize(problem.pool.num_rows);
  for (std::size_t row = 0; row < problem.pool.num_rows; ++row) {
    if (first_outlier(usual, std::span(problem.pool.inputs).subspan(row * C, C))) {
      problem.left_out[row] = 1;
    }
  }
}

// The inputs of a problem's pool, as columns.
Table pool_table(const Problem& problem) {
  const std::size_t C = problem.input_names.size();
  Table table{problem.name, problem.pool.num_rows, {}};
  for (std::size_t c = 0; c < C; ++c) {
    Column& column = table.columns.emplace_back();
    column.name = problem.input_names[c];
    for (std::size_t k = c; k < problem.pool.inputs.size(); k += C) {
      column.values.push_back(problem.pool.inputs[k]);
    }
  }
  return table;
}

}  // namespace

void apply_settings(Problem& problem, const Table& pool, const CampaignSettings& settings) {
  problem.cost = settings.cost.empty() ? std::vector<double>() : label_costs(pool, settings.cost);
  problem.left_out = left_out(pool, settings);
  if (settings.skip_outliers) {
    leave_out_outliers(problem);
  }
}

void apply_settings(Problem& problem, const CampaignSettings& settings) {
  apply_settings(problem, columns_of(settings).empty() ? Table() : pool_table(problem), settings);
}

void check_batch(const Problem& problem, std::size_t batch) {
  const std::size_t num_rows = problem.pool.num_rows;
  const auto num_left_out = static_cast<std::size_t>(std::ranges::count(problem.left_out, 1));
  check_argument(batch <= num_rows, "batch", batch, "more rows than the pool has, which are {}", num_rows);
  check_argument(batch <= num_rows - num_left_out, "batch", batch,
                 "more rows than may be chosen, which are {} of the pool's {}", num_rows - num_left_out, num_rows);
}

std::vector<double> label_costs(const Table& pool, const std::string& column) {
  return in_source(pool.source, [&] {
    const Column& costs = pool.column(column);
    costs.check_numbers();
    for (std::size_t row = 0; row < pool.num_rows; ++row) {
      if (!(costs.finite_number(row) > 0)) {
        throw InputError(Fault{.value = fmt::format("{}", costs.values[row]),
                               .rule = "is no cost; a cost must be > 0",
                               .column = column,
                               .row = row});
      }
    }
    return costs.values;
  });
}

std::vector<std::uint8_t> left_out(const Table& pool, const CampaignSettings& settings) {
  std::vector<std::uint8_t> rows;
  const auto leave_out = [&](std::string_view name, const std::string& text, std::uint8_t if_held) {
    for (const RowCondition& condition : parse_conditions(name, text)) {
      rows.resize(pool.num_rows);
      const std::vector<std::uint8_t> holds = condition.holds(pool);
      for (std::size_t row = 0; row < pool.num_rows; ++row) {
        rows[row] |= holds[row] == if_held ? 1 : 0;
      }
    }
  };
  leave_out("require", settings.require, 0);
  leave_out("exclude", settings.exclude, 1);
  return rows;
}

std::vector<std::string> columns_of(const CampaignSettings& settings) {
  std::vector<std::string> names;
  const auto add = [&](const std::string& name) {
    if (!name.empty() && std::ranges::find(names, name) == names.end()) {
      names.push_back(name);
    }
  };
  add(settings.cost);
  for (const auto& [name, text] : {std::pair("require", &settings.require), std::pair("exclude", &settings.exclude)}) {
    for (const RowCondition& condition : parse_conditions(name, *text)) {
      add(condition.column);
    }
  }
  return names;
}

std::vector<std::size_t> rows_to_compare(std::size_t num_rows) {
  return draw_candidates(num_rows, kMostCompared, Stream(0, Purpose::kAcquire));  // of no round: those count from 1
}

std::vector<UsualRange> usual_inputs(std::span<const double> compared, std::span<const double> labelled,
                                     std::size_t num_columns) {
  std::vector<double> rows(compared.begin(), compared.end());
  rows.insert(rows.end(), labelled.begin(), labelled.end());
  return usual_ranges(rows, num_columns);
}

std::vector<UsualRange> usual_inputs(const Problem& problem) {
  const std::size_t C = problem.input_names.size();
  return usual_inputs(pick_rows(problem.pool.inputs, C, rows_to_compare(problem.pool.num_rows)), problem.train.inputs,
                      C);
}

}  // namespace dissent
