#include "dissent/statistics/location.hpp"

#include <algorithm>
#include <cmath>

#include "dissent/base/error.hpp"

namespace dissent {
namespace {

void check_sample(std::span<const double> sample, const char* what) {
  check(!sample.empty(), "{}: there is no value", what);
  for (std::size_t k = 0; k < sample.size(); ++k) {
    check(std::isfinite(sample[k]), "{}: value {} of {} is not finite", what, k + 1, sample.size());
  }
}

std::vector<double> sorted(std::span<const double> sample) {
  std::vector<double> values(sample.begin(), sample.end());
  std::ranges::sort(values);
  return values;
}

double mean_of(std::span<const double> sample) {
  double sum = 0;
  for (const double value : sample) {
    sum += value;
  }
  return sum / static_cast<double>(sample.size());
}

}  // namespace

Moments moments(std::span<const double> sample) {
  check_sample(sample, "moments");
  Moments result{.mean = mean_of(sample), .count = sample.size()};
  double squares = 0;
  for (const double value : sample) {
    squares += (value - result.mean) * (value - result.mean);
  }
  if (sample.size() > 1) {
    result.stddev = std::sqrt(squares / static_cast<double>(sample.size() - 1));
  }
  return result;
}

double median(std::span<const double> sample) { return quantile(sample, 0.5); }

double trimmed_mean(std::span<const double> sample, double share) {
  check_sample(sample, "trimmed_mean");
  check(share >= 0 && share < 0.5, "trimmed_mean: share = {} is not in [0, 0.5)", share);
  const std::vector<double> values = sorted(sample);
  const auto cut = static_cast<std::size_t>(share * static_cast<double>(values.size()));
  return mean_of(std::span(values).subspan(cut, values.size() - 2 * cut));
}

double interquartile_mean(std::span<const double> sample) { return trimmed_mean(sample, 0.25); }

double quantile(std::span<const double> sample, double p) {
  check_sample(sample, "quantile");
  check(p >= 0 && p <= 1, "quantile: p = {} is not in [0, 1]", p);
  const std::vector<double> values = sorted(sample);
  const double position = p * static_cast<double>(values.size() - 1);
  const auto below = static_cast<std::size_t>(position);
  const std::size_t above = std::min(below + 1, values.size() - 1);
  return std::lerp(values[below], values[above], position - static_cast<double>(below));
}

double mean_height(std::span<const double> abscissa, std::span<const double> height) {
  check_sample(height, "mean_height");
  check(abscissa.size() == height.size(), "mean_height: {} abscissas, {} heights", abscissa.size(), height.size());
  if (height.size() == 1) {
    return height[0];
  }
  double area = 0;
  for (std::size_t k = 1; k < height.size(); ++k) {
    check(abscissa[k] > abscissa[k - 1], "mean_height: the abscissas do not ascend at {}", k + 1);
    area += (abscissa[k] - abscissa[k - 1]) * (height[k] + height[k - 1]) / 2;
  }
  return area / (abscissa.back() - abscissa.front());
}

}  // namespace dissent
