// A model on rows that it has not seen and whose targets are known: all that a report says about it. N rows, D targets.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "dissent/ensemble/ensemble.hpp"
#include "dissent/ensemble/metrics.hpp"
#include "dissent/ensemble/summary.hpp"
#include "dissent/estimator/estimator.hpp"
#include "dissent/table/table.hpp"

namespace dissent::report {

struct HeldOut {
  std::string source;  // the table
  std::size_t num_rows = 0;
  std::size_t num_targets = 0;
  std::vector<double> inputs;   // [N][C]
  std::vector<double> targets;  // [N][D]
  Summary summary;              // with the quantiles 5% and 95%
  Uncertainty uncertainty;
  double log_likelihood = 0;
  std::vector<std::string> notes = {};  // what was left out of the table, or is new to the model

  double low(std::size_t row, std::size_t target) const { return summary.quantile[2 * (row * num_targets + target)]; }
  double high(std::size_t row, std::size_t target) const {
    return summary.quantile[2 * (row * num_targets + target) + 1];
  }
};

// Rows without targets are left out. InputError for a table with no other rows, or without one of the model's columns.
HeldOut measure(const Ensemble& model, const Table& table, Executor* executor = nullptr);

// Over all values of a target, or of all targets.
struct Scores : Metrics {
  double coverage_50 = 0;
  double coverage_95 = 0;
};
Scores scores(const HeldOut& held_out, std::optional<std::size_t> target = {});

// A target's column of a matrix [N][D], or all of it.
std::vector<double> values_of(const std::vector<double>& matrix, std::size_t num_targets,
                              std::optional<std::size_t> target);

// For each row: the root mean square of its errors over targets, each in units of that target's RMSE.
std::vector<double> row_errors(const HeldOut& held_out);

}  // namespace dissent::report
