// Where the middle of a sample lies, by measures from the mean to those that heavy tails cannot move, and areas under
// learning curves.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

namespace dissent {

struct Moments {
  double mean = 0;
  double stddev = 0;  // with count - 1 in the denominator; 0 for one value
  std::size_t count = 0;
};

struct Interval {
  double estimate = 0;
  double low = 0;
  double high = 0;
};

// All of these throw InputError for an empty sample and for values that are not finite.
Moments moments(std::span<const double> sample);
double median(std::span<const double> sample);

// The mean without the lowest and the highest `share` of the values, floor(share n) on each side, like
// scipy.stats.trim_mean. share is in [0, 0.5).
double trimmed_mean(std::span<const double> sample, double share);
// The mean of the middle half, of all runs of all tasks together (Agarwal et al. 2021).
double interquartile_mean(std::span<const double> sample);

// The p-quantile, p in [0, 1], linear between order statistics.
double quantile(std::span<const double> sample, double p);

// The mean height of a curve between its first and last abscissa, by trapezoids; that of one point is its height.
// InputError unless the abscissas ascend.
double mean_height(std::span<const double> abscissa, std::span<const double> height);

}  // namespace dissent
