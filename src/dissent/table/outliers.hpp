// Values that look like errors, such as a typing error in a table: far from the middle of their column, and alone
// there.
//
// Per column, u = asinh((v - median) / scale) turns heavy tails (log-normal, Pareto, Cauchy) into exponential ones and
// leaves light ones light. On each side, the median excess over the tail's beginning gives the step that such a tail
// takes from value to value. A gap of more than ten steps, and of a good part of the way from the middle, occurs by
// chance in a few columns of 1,000 with heavy tails, and in none of the others that were tried. Rows beyond a gap are
// errors if they are at most one row in 400 (or two rows): more are a group of their own. Columns of few distinct
// values have no errors.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <vector>

namespace dissent {

// What is usual in a column; values outside [low, high] look like errors.
struct UsualRange {
  double low = 0;
  double high = 0;
  double least = 0;  // of the rows inside
  double most = 0;

  bool holds(double value) const { return value >= low && value <= high; }
};

// Of one column; infinite if there are too few values to say. The values must be finite.
UsualRange usual_range(std::vector<double> values);

// Of every column of rows [N][C].
std::vector<UsualRange> usual_ranges(std::span<const double> rows, std::size_t num_columns);

// The first column in which a row [C] looks like an error.
std::optional<std::size_t> first_outlier(std::span<const UsualRange> ranges, std::span<const double> row);

}  // namespace dissent
