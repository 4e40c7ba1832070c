// Scaling of columns: scaled = (value - offset) / scale, column by column, with the statistics of the rows it was made
// from. Min-max maps them to [0, 1], standardising to mean 0 and stddev 1. A constant column keeps scale 1, so it maps
// to 0 and back to itself, and values that differ from it later stay finite.
//
// A log density of scaled values becomes one of the values themselves by subtracting log_scale_sum().
#pragma once

#include <cstddef>
#include <span>
#include <string_view>
#include <vector>

namespace dissent {

enum class ScalingKind { kMinMax, kStandard, kNone };

std::string_view scaling_name(ScalingKind kind);       // "minmax", "standard", "none"
ScalingKind scaling_from_name(std::string_view name);  // InputError for any other name

struct Scaling {
  std::vector<double> offset;
  std::vector<double> scale;  // > 0

  std::size_t num_columns() const { return offset.size(); }
  double scaled(std::size_t column, double value) const { return (value - offset[column]) / scale[column]; }
  double original(std::size_t column, double value) const { return offset[column] + scale[column] * value; }

  // sum over columns of ln scale
  double log_scale_sum() const;

  // InputError unless sizes agree, all is finite and every scale is positive.
  void check_values(std::string_view source) const;
};

// From a row-major matrix [num_rows][num_columns] of finite numbers; InputError without rows.
Scaling fit_scaling(ScalingKind kind, std::span<const double> values, std::size_t num_columns);

// Row-major [num_rows][num_columns] in and out.
std::vector<float> apply_scaling(const Scaling& scaling, std::span<const double> values);

}  // namespace dissent
