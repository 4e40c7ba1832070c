// How good predictions are, on rows whose true values are known. N rows, D outputs, row-major [N][D], the user's units.
//
// rmse               sqrt of the mean over rows and outputs of (mean - y)^2
// rmse_paper         mean over rows of sqrt(mean over outputs of (mean - y)^2)
// mae                mean of |mean - y|
// log_likelihood     mean over rows of ln p(y | x)
// crps               mean over rows and outputs of the continuous ranked probability score
// coverage_90        share of values between the 5% and the 95% quantile
// calibration_error  mean over p = 0.05, 0.10, ..., 0.95 of |share of values with cdf <= p  -  p|
// sharpness          mean predicted stddev
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "dissent/base/field.hpp"
#include "dissent/ensemble/ensemble.hpp"
#include "dissent/ensemble/summary.hpp"

namespace dissent {

struct Metrics {
  std::size_t num_rows = 0;
  double rmse = 0;
  double rmse_paper = 0;
  double mae = 0;
  double log_likelihood = 0;
  double crps = 0;
  double coverage_90 = 0;
  double calibration_error = 0;
  double sharpness = 0;
};

template <>
std::span<const Field<Metrics>> fields();

// InputError without rows. by_target receives the metrics of each target by itself, since units may differ: all but
// log_likelihood, which is NaN.
Metrics evaluate(const Ensemble& model, std::span<const double> inputs, std::span<const double> targets,
                 Executor* executor = nullptr, std::vector<Metrics>* by_target = nullptr);

// The same from a summary with the targets' cdf and crps: all but log_likelihood, which is NaN.
Metrics metrics_of(const Summary& summary, std::span<const double> targets, std::size_t num_outputs);

// Single metrics, for predictions from anywhere. InputError if sizes differ or there are no values.
double rmse(std::span<const double> predicted, std::span<const double> actual);
double rmse_paper(std::span<const double> predicted, std::span<const double> actual, std::size_t num_outputs);
double mean_absolute_error(std::span<const double> predicted, std::span<const double> actual);
double calibration_error(std::span<const double> cdf);
// Share of values inside the central interval that should hold `level` of them.
double coverage(std::span<const double> cdf, double level);

// Spearman's rank correlation in [-1, 1]; ties share their mean rank. NaN if one side is constant. At least two values.
double spearman(std::span<const double> a, std::span<const double> b);

}  // namespace dissent
