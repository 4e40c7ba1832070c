#include "dissent/table/scaling.hpp"

#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <iterator>
#include <limits>
#include <utility>

#include "dissent/base/error.hpp"

namespace dissent {
namespace {

constexpr double kRobustKnee = 1.5;
constexpr double kOutlierDeviations = 6;  // from the median

constexpr std::array<std::pair<ScalingKind, std::string_view>, 4> kNames{{
    {ScalingKind::kRobust, "robust"},
    {ScalingKind::kMinMax, "minmax"},
    {ScalingKind::kStandard, "standard"},
    {ScalingKind::kNone, "none"},
}};

// A spread that is mere rounding beside the values counts as that of a constant column.
double usable_scale(double spread, double magnitude) {
  const bool constant = !(spread > 16 * std::numeric_limits<double>::epsilon() * magnitude) ||
                        spread < std::numeric_limits<double>::min();
  return constant ? 1 : spread;
}

void fit_min_max(std::span<const double> values, std::size_t column, Scaling& scaling) {
  const std::size_t num_columns = scaling.num_columns();
  double low = values[column];
  double high = low;
  for (std::size_t k = column; k < values.size(); k += num_columns) {
    low = std::min(low, values[k]);
    high = std::max(high, values[k]);
  }
  scaling.offset[column] = low;
  scaling.scale[column] = usable_scale(high - low, std::max(std::abs(low), std::abs(high)));
}

// Squares of numbers beyond 1e150 or below 1e-150 leave the range of doubles; dividing by a power of two brings them
// back and costs no digits.
void fit_standard(std::span<const double> values, std::size_t column, Scaling& scaling) {
  const std::size_t num_columns = scaling.num_columns();
  const double num_rows = static_cast<double>(values.size() / num_columns);
  double largest = 0;
  for (std::size_t k = column; k < values.size(); k += num_columns) {
    largest = std::max(largest, std::abs(values[k]));
  }
  const bool extreme = largest > 1e150 || (largest > 0 && largest < 1e-150);
  const double unit = extreme ? std::exp2(std::floor(std::log2(largest))) : 1;
  double mean = 0;
  for (std::size_t k = column; k < values.size(); k += num_columns) {
    mean += values[k] / unit / num_rows;
  }
  double variance = 0;
  for (std::size_t k = column; k < values.size(); k += num_columns) {
    variance += (values[k] / unit - mean) * (values[k] / unit - mean) / num_rows;
  }
  scaling.offset[column] = mean * unit;
  scaling.scale[column] = usable_scale(std::sqrt(variance) * unit, largest);
}

// Interpolates between the two nearest of ascending values.
double quantile(const std::vector<double>& ascending, double share) {
  const double at = share * static_cast<double>(ascending.size() - 1);
  const auto below = static_cast<std::size_t>(at);
  const std::size_t above = std::min(below + 1, ascending.size() - 1);
  const double weight = at - static_cast<double>(below);
  return (1 - weight) * ascending[below] + weight * ascending[above];
}

// The stddev of a Gaussian with the quartiles of the values, or, if those are equal, with their outer twentieths; 0 if
// these are equal too.
double robust_stddev(const std::vector<double>& ascending) {
  struct Range {
    double share, deviations;  // from quantile `share` to 1 - share, of a Gaussian
  };
  for (const Range range : {Range{0.25, 1.349}, Range{0.05, 3.290}}) {
    const double low = quantile(ascending, range.share);
    const double high = quantile(ascending, 1 - range.share);
    if (high - low > 16 * std::numeric_limits<double>::epsilon() * std::max(std::abs(low), std::abs(high))) {
      return (high - low) / range.deviations;
    }
  }
  return 0;
}

void fit_robust(std::span<const double> values, std::size_t column, Scaling& scaling) {
  std::vector<double> ascending;
  for (std::size_t k = column; k < values.size(); k += scaling.num_columns()) {
    ascending.push_back(values[k]);
  }
  std::ranges::sort(ascending);
  const double stddev = robust_stddev(ascending);
  if (stddev == 0) {
    fit_min_max(values, column, scaling);  // nearly all values are the same: there is nothing to squeeze
    return;
  }
  const double median = quantile(ascending, 0.5);
  const double low = *std::ranges::lower_bound(ascending, median - kOutlierDeviations * stddev);
  const double high = *std::prev(std::ranges::upper_bound(ascending, median + kOutlierDeviations * stddev));
  scaling.offset[column] = low;
  scaling.scale[column] = usable_scale(high - low, std::max(std::abs(low), std::abs(high)));
}

}  // namespace

std::string_view scaling_name(ScalingKind kind) {
  return std::ranges::find(kNames, kind, [](const auto& entry) { return entry.first; })->second;
}

ScalingKind scaling_from_name(std::string_view name) {
  for (const auto& [kind, known] : kNames) {
    if (known == name) {
      return kind;
    }
  }
  fail("scaling: '{}' is not known; there are: {}", name, fmt::join(scaling_names(), ", "));
}

std::vector<std::string> scaling_names() {
  std::vector<std::string> names;
  for (const auto& [kind, name] : kNames) {
    names.emplace_back(name);
  }
  return names;
}

double Scaling::log_scale_sum() const {
  double sum = 0;
  for (const double s : scale) {
    sum += std::log(s);
  }
  return sum;
}

void Scaling::check_values(std::string_view source) const {
  check(offset.size() == scale.size(), "{}: {} offsets and {} scales; there must be one of each per column", source,
        offset.size(), scale.size());
  check(knee > 0, "{}: a knee of {}; it must be > 0", source, knee);
  for (std::size_t k = 0; k < offset.size(); ++k) {
    check(std::isfinite(offset[k]) && std::isfinite(scale[k]) && scale[k] > 0,
          "{}: column {} has offset {} and scale {}; both must be finite and the scale > 0", source, k, offset[k],
          scale[k]);
  }
}

Scaling fit_scaling(ScalingKind kind, std::span<const double> values, std::size_t num_columns) {
  check(num_columns > 0 && !values.empty() && values.size() % num_columns == 0,
        "fit_scaling: {} values in {} columns; at least one whole row is required", values.size(), num_columns);
  Scaling scaling{std::vector<double>(num_columns, 0.0), std::vector<double>(num_columns, 1.0)};
  for (std::size_t column = 0; column < num_columns; ++column) {
    if (kind == ScalingKind::kMinMax) {
      fit_min_max(values, column, scaling);
    } else if (kind == ScalingKind::kStandard) {
      fit_standard(values, column, scaling);
    } else if (kind == ScalingKind::kRobust) {
      fit_robust(values, column, scaling);
    }
  }
  scaling.knee = kind == ScalingKind::kRobust ? kRobustKnee : scaling.knee;
  scaling.check_values("fit_scaling");  // a range beyond the largest number
  return scaling;
}

std::vector<float> apply_scaling(const Scaling& scaling, std::span<const double> values) {
  const std::size_t num_columns = scaling.num_columns();
  std::vector<float> out(values.size());
  for (std::size_t k = 0; k < values.size(); ++k) {
    out[k] = static_cast<float>(scaling.scaled(k % num_columns, values[k]));
  }
  return out;
}

}  // namespace dissent
