// Trend: the straight-line part of targets, which a model then need not learn.
//
//   y_d = slope_d . (x - centre) + what the model predicts
// Where a line explains nearly all of a target, as for the next state of a robot, networks learn the rest far better,
// and away from the data the line goes on. C input columns, D targets; matrices are row-major.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace dissent {

struct Trend {
  std::vector<double> centre;  // [C]
  std::vector<double> low;     // [C], inputs beyond are taken for these: a line is not to be trusted everywhere
  std::vector<double> high;    // [C]
  std::vector<double> slope;   // [D][C], of targets without a trend all zero

  bool empty() const { return slope.empty(); }
  // Takes away the trend of targets whose mark is not 0; no marks: of none.
  void leave_out(std::span<const std::uint8_t> marks);
  // Adds factor times the trend at each input to its values: [N][P][D], the same to all P of an input.
  void add(std::span<const double> inputs, std::size_t points_per_input, double factor, std::span<double> values) const;
  // InputError unless it is empty, or of these sizes, finite, and low <= high.
  void check_values(std::size_t num_input_columns, std::size_t num_outputs) const;
};

// By ridge regression, its strength chosen by the error of leaving a row out. Targets of which that error leaves more
// than a small share of the variance have no trend; empty if no target has one.
Trend fit_trend(std::span<const double> inputs, std::size_t num_input_columns, std::span<const double> targets,
                std::size_t num_outputs);

}  // namespace dissent
