// Scaling of columns: scaled = (value - offset) / scale, column by column, with the statistics of the rows it was made
// from. Min-max maps them to [0, 1], standardising to mean 0 and stddev 1. A constant column keeps scale 1, so it maps
// to 0 and back to itself, and values that differ from it later stay finite.
//
// Robust scaling is for inputs: the min-max scaling of values within six standard deviations, estimated from the
// quartiles, of the median. Scaled values beyond +-1.5 bend (`knee`) and never reach +-3. So a few outliers neither
// squeeze the other rows together nor reach far out.
//
// A log density of scaled values becomes one of the values themselves by subtracting log_scale_sum().
#pragma once

#include <cmath>
#include <cstddef>
#include <limits>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace dissent {

enum class ScalingKind { kMinMax, kStandard, kNone, kRobust };

std::string_view scaling_name(ScalingKind kind);       // "robust", "minmax", "standard", "none"
ScalingKind scaling_from_name(std::string_view name);  // InputError for any other name
std::vector<std::string> scaling_names();

// Targets need a linear scaling: min-max if inputs are scaled robustly, else the same.
constexpr ScalingKind target_scaling_kind(ScalingKind kind) {
  return kind == ScalingKind::kRobust ? ScalingKind::kMinMax : kind;
}

struct Scaling {
  std::vector<double> offset;
  std::vector<double> scale;  // > 0
  // Scaled values s beyond it become knee (2 - knee / |s|), with the sign of s.
  double knee = std::numeric_limits<double>::infinity();

  std::size_t num_columns() const { return offset.size(); }
  double scaled(std::size_t column, double value) const {
    const double linear = (value - offset[column]) / scale[column];
    const double distance = std::abs(linear);
    return distance > knee ? std::copysign(knee * (2 - knee / distance), linear) : linear;
  }
  // The way back, for a scaling without a knee.
  double original(std::size_t column, double value) const { return offset[column] + scale[column] * value; }

  // sum over columns of ln scale
  double log_scale_sum() const;

  // InputError unless sizes agree, all is finite, and every scale and the knee are positive.
  void check_values(std::string_view source) const;
};

// From a row-major matrix [num_rows][num_columns] of finite numbers; InputError without rows.
Scaling fit_scaling(ScalingKind kind, std::span<const double> values, std::size_t num_columns);

// Row-major [num_rows][num_columns] in and out.
std::vector<float> apply_scaling(const Scaling& scaling, std::span<const double> values);

}  // namespace dissent
