#include "dissent/ensemble/row_weights.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "dissent/base/error.hpp"
#include "dissent/table/table.hpp"

namespace dissent {

void check_weights(const TrainingRows& rows) {
  const std::size_t num_rows = rows.inputs.size() / rows.input_names.size();
  check_argument(rows.weights.size() == num_rows, "weights", fmt::format("{} numbers", rows.weights.size()),
                 "give one for each of the {} rows", num_rows);
  for (std::size_t n = 0; n < num_rows; ++n) {
    if (!(std::isfinite(rows.weights[n]) && rows.weights[n] >= 0)) {
      throw InputError(Fault{.argument = "weights",
                             .value = fmt::format("{}", rows.weights[n]),
                             .rule = "a weight must be finite and >= 0",
                             .row = rows.row_number(n)});
    }
  }
}

WeighedRows::WeighedRows(const TrainingRows& rows) : rows_(rows) {
  const auto weighs = [](double weight) { return weight > 0; };
  if (!std::ranges::all_of(rows.weights, weighs)) {
    std::vector<std::uint32_t> kept;
    for (std::size_t n = 0; n < rows.weights.size(); ++n) {
      if (weighs(rows.weights[n])) {
        kept.push_back(static_cast<std::uint32_t>(n));
      }
    }
    inputs_ = pick_rows(rows.inputs, rows.input_names.size(), kept);
    targets_ = pick_rows(rows.targets, rows.target_names.size(), kept);
    weights_ = pick_rows(rows.weights, 1, kept);
    rows_.inputs = inputs_;
    rows_.targets = targets_;
    rows_.weights = weights_;
    rows_.row_numbers.clear();
    for (const std::uint32_t row : kept) {
      rows_.row_numbers.push_back(rows.row_number(row));
    }
    changed_ = true;
  }
  if (std::ranges::all_of(rows_.weights, [&](double weight) { return weight == rows_.weights.front(); })) {
    rows_.weights = {};
    changed_ = true;
  }
}

std::vector<float> scaled_weights(std::span<const double> weights, std::span<const std::uint32_t> order,
                                  std::size_t num_trained) {
  if (weights.empty()) {
    return {};
  }
  const std::vector<double> ordered = pick_rows(weights, 1, order);
  const double largest = std::ranges::max(std::span(ordered).first(num_trained));  // plain sums could overflow
  double sum = 0;
  for (std::size_t n = 0; n < num_trained; ++n) {
    sum += ordered[n] / largest;
  }
  const double mean = sum / static_cast<double>(num_trained);
  constexpr double kLeast = std::numeric_limits<float>::min();  // so that no weight becomes 0 ...
  constexpr double kMost = 1e30;                                // ... and no sum over held-out rows overflows
  std::vector<float> scaled(ordered.size());
  std::ranges::transform(ordered, scaled.begin(), [&](double weight) {
    return static_cast<float>(std::clamp(weight / largest / mean, kLeast, kMost));
  });
  return scaled;
}

void scale_columns(Panel<float> panel, std::span<const float> weights) {
  for (std::size_t r = 0; r < panel.rows; ++r) {
    float* row = panel.row(r);
    for (std::size_t b = 0; b < weights.size(); ++b) {
      row[b] *= weights[b];
    }
  }
}

double weighted_nll(const GaussianOptions& options, Panel<const float> heads, Panel<const float> targets,
                    std::span<const float> weights) {
  const auto low = static_cast<float>(options.log_stddev_min);
  const auto high = static_cast<float>(options.log_stddev_max);
  const std::size_t D = targets.rows;
  double sum = 0;
  for (std::size_t d = 0; d < D; ++d) {
    const float* mean = heads.row(d);
    const float* log_stddev = heads.row(D + d);
    const float* target = targets.row(d);
    for (std::size_t b = 0; b < weights.size(); ++b) {
      // Not std::clamp, which could hide a NaN: a comparison with one is false.
      const float s = log_stddev[b] < low ? low : log_stddev[b] > high ? high : log_stddev[b];
      const float z = (mean[b] - target[b]) * std::exp(-s);
      sum += static_cast<double>(weights[b] * (s + 0.5F * z * z));
    }
  }
  return sum / static_cast<double>(D);
}

}  // namespace dissent
