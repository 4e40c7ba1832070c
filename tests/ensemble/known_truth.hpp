// Data whose true conditional density is known (problem/one_dimensional.hpp), and fits of it.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <vector>

#include "dissent/base/special.hpp"
#include "dissent/ensemble/fit.hpp"
#include "dissent/estimator/estimator.hpp"
#include "dissent/mixture/gaussian.hpp"
#include "dissent/problem/one_dimensional.hpp"

namespace dissent {

enum class Truth { kHetero, kBimodal };

struct KnownRows {
  std::vector<double> x;
  std::vector<double> y;
  TrainingRows rows() const { return {{"x"}, {"y"}, x, y}; }
};

// Training inputs of the problem; a `part` of its own for training and for test.
inline KnownRows draw_rows(Truth truth, std::size_t num_rows, std::uint64_t seed, std::uint64_t part) {
  KnownRows rows;
  Stream stream(seed, Purpose::kTest, part);
  for (std::size_t n = 0; n < num_rows; ++n) {
    const Point point = truth == Truth::kHetero ? draw_hetero(InputDistribution::kTraining, stream)
                                                : draw_bimodal(InputDistribution::kTraining, stream);
    rows.x.push_back(point.x);
    rows.y.push_back(point.y);
  }
  return rows;
}

inline double true_log_density(Truth truth, double x, double y) {
  const auto normal = [](double residual, double stddev) {
    return -0.5 * (kLogTwoPi + residual * residual / (stddev * stddev)) - std::log(stddev);
  };
  if (truth == Truth::kHetero) {
    return normal(y - 7 * std::sin(x), 3 * std::abs(std::cos(x / 2)));
  }
  const double modes[] = {normal(y - 10 * std::sin(x), 1), normal(y - 10 * std::cos(x) - 20 + x, 1)};
  return log_sum_exp(modes) - std::log(2);
}

inline double mean_of(const std::vector<double>& values) {
  return std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
}

// Nats per row by which the truth explains the test rows better than the model.
inline double gap_to_truth(Truth truth, const Ensemble& model, const KnownRows& test) {
  double sum = 0;
  for (std::size_t n = 0; n < test.x.size(); ++n) {
    sum += true_log_density(truth, test.x[n], test.y[n]);
  }
  return sum / static_cast<double>(test.x.size()) - mean_of(model.log_density(test.x, test.y));
}

// Mean epistemic uncertainty over evenly spaced inputs of some intervals.
struct Interval {
  double low, high;
};
inline double mean_epistemic(const Ensemble& model, const std::vector<Interval>& where, std::string_view estimator) {
  constexpr int kPoints = 50;
  std::vector<double> x;
  for (const Interval& interval : where) {
    for (int k = 0; k < kPoints; ++k) {
      x.push_back(interval.low + (interval.high - interval.low) * (k + 0.5) / kPoints);
    }
  }
  return mean_of(estimate(parse_estimator(std::string(estimator)), model.predict(x).view()).epistemic);
}

// Epistemic uncertainty where data is thin over that where it is dense: hetero has inputs around -4, 0 and 4, bimodal
// an exponential density that halves every 0.35.
inline double thin_over_dense(Truth truth, const Ensemble& model, std::string_view estimator) {
  if (truth == Truth::kHetero) {
    return mean_epistemic(model, {{-2.6, -1.8}, {1.8, 2.6}}, estimator) /
           mean_epistemic(model, {{-4.3, -3.7}, {-0.5, 0.5}, {3.7, 4.3}}, estimator);
  }
  return mean_epistemic(model, {{2.5, 4}}, estimator) / mean_epistemic(model, {{0, 0.7}}, estimator);
}

// What that ratio must exceed at least.
inline double least_ratio(Truth truth) { return truth == Truth::kHetero ? 1.0 : 3.0; }

// A quarter of the default's steps: enough for the shape of the uncertainty.
inline const TrainOptions kQuick{.epochs = 300};

// 40 to 60% of the model's samples in each mode of bimodal, whose halves meet between the two means; a share of 4000
// fair draws leaves that range with a chance below 1e-30, so what is seen is the model's own weight.
inline void expect_both_modes(const Ensemble& model, double x) {
  constexpr std::size_t kSamples = 4000;
  const double middle = (10 * std::sin(x) + 10 * std::cos(x) + 20 - x) / 2;
  const std::vector<double> samples = model.sample(std::vector<double>{x}, kSamples, 1);
  const auto upper = std::ranges::count_if(samples, [&](double y) { return y > middle; });
  EXPECT_GT(upper, 0.4 * kSamples) << x;
  EXPECT_LT(upper, 0.6 * kSamples) << x;
}

}  // namespace dissent
