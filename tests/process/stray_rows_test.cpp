#include "dissent/process/stray_rows.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <numeric>

#include "dissent/process/process.hpp"
#include "process/data.hpp"

namespace dissent {
namespace {

using Eigen::Index;
using Eigen::VectorXd;

double log_evidence(const Posterior& posterior) {
  return -0.5 * (posterior.targets().dot(posterior.weights()) + posterior.factor().log_determinant());
}

std::vector<Index> stray_rows(const VectorXd& extra_noise) {
  std::vector<Index> out;
  for (Index k = 0; k < extra_noise.size(); ++k) {
    if (extra_noise[k] > 0) {
      out.push_back(k);
    }
  }
  return out;
}

// Against all noise variances of a fine grid.
TEST(StrayRows, TheGainIsTheMostThatTheEvidenceCanGrow) {
  const RowMatrix inputs = normal_rows(15, 2, 1);
  VectorXd targets = smooth_targets(inputs, 0.2, 2);
  targets[4] += 3;
  const Hyperparameters hyperparameters = some_hyperparameters(2);
  const Posterior plain(hyperparameters, inputs, targets);
  const LeaveOneOut alone = plain.leave_one_out();
  const Eigen::ArrayXd gains = stray_gains(alone.residual, alone.variance);
  EXPECT_GT(gains[4], 1);
  for (Index row = 0; row < inputs.rows(); ++row) {
    double most = 0;
    for (double log_noise = -12; log_noise < 8; log_noise += 0.01) {
      VectorXd extra = VectorXd::Zero(inputs.rows());
      extra[row] = std::exp(log_noise);
      most = std::max(most, log_evidence({hyperparameters, inputs, targets, extra}) - log_evidence(plain));
    }
    EXPECT_NEAR(gains[row], most, 1e-3 * (1 + most)) << row;
  }
}

TEST(StrayRows, ATypingErrorIsFoundAndCountsForNothing) {
  const RowMatrix inputs = normal_rows(100, 2, 1);
  const VectorXd targets = smooth_targets(inputs, 0.05, 2);
  VectorXd typed = targets;
  typed[31] += 8;
  const RobustSearchResult found = find_robustly(inputs, typed, {});
  EXPECT_EQ(stray_rows(found.extra_noise), std::vector<Index>{31});
  const RowMatrix at = normal_rows(200, 2, 3);
  const VectorXd truth = smooth_targets(at, 0, 4);
  const Posterior plain(find_hyperparameters(inputs, typed, {}).hyperparameters, inputs, typed);
  const Posterior robust(found.found.hyperparameters, inputs, typed, found.extra_noise);
  EXPECT_LT(2 * (robust.mean(at) - truth).norm(), (plain.mean(at) - truth).norm());
}

// No noise, and a slope that ends before two of 120 rows.
TEST(StrayRows, RowsBeyondAKinkAreFound) {
  const RowMatrix inputs = normal_rows(120, 3, 5);
  const VectorXd smooth = inputs.rowwise().sum() + (0.3 * inputs.col(0)).array().sin().matrix();
  std::vector<Index> beyond(120);
  std::iota(beyond.begin(), beyond.end(), Index{0});
  std::ranges::sort(beyond, std::greater(), [&](Index k) { return smooth[k]; });
  const VectorXd targets = smooth.array().min(smooth[beyond[2]]);
  beyond.resize(2);
  std::ranges::sort(beyond);
  const RobustSearchResult found = find_robustly(inputs, targets, {});
  EXPECT_EQ(stray_rows(found.extra_noise), beyond);
  EXPECT_GT(found.found.hyperparameters.length_scales[1],
            1.5 * find_hyperparameters(inputs, targets, {}).hyperparameters.length_scales[1]);
}

TEST(StrayRows, ATableWithoutThemIsSearchedAsEver) {
  const RowMatrix inputs = normal_rows(150, 3, 1);
  for (const double noise : {0.0, 0.3}) {
    const VectorXd targets = smooth_targets(inputs, noise, 2);
    const RobustSearchResult robust = find_robustly(inputs, targets, {});
    const SearchResult plain = find_hyperparameters(inputs, targets, {});
    EXPECT_EQ(robust.extra_noise.size(), 0);
    EXPECT_EQ(robust.found.hyperparameters.log_vector(), plain.hyperparameters.log_vector());
    EXPECT_EQ(robust.found.rows, plain.rows);
  }
}

// Student's t with 4 degrees of freedom.
TEST(StrayRows, HeavyTailsCostFewRows) {
  const RowMatrix inputs = normal_rows(200, 2, 1);
  VectorXd targets = smooth_targets(inputs, 0, 2);
  Stream stream(9, Purpose::kTest);
  for (double& target : targets) {
    double chi_squared = 0;
    for (int k = 0; k < 4; ++k) {
      chi_squared += std::pow(stream.normal(), 2);
    }
    target += 0.3 * stream.normal() / std::sqrt(chi_squared / 4);
  }
  EXPECT_LE(stray_rows(find_robustly(inputs, targets, {}).extra_noise).size(), 3U);
}

TEST(StrayRows, NoMoreThanTheirShare) {
  const RowMatrix inputs = normal_rows(60, 1, 1);
  VectorXd targets = smooth_targets(inputs, 0.01, 2);
  targets.head(5).array() += 20;
  EXPECT_TRUE(stray_rows(find_robustly(inputs, targets, {.stray_share = 0}).extra_noise).empty());
  EXPECT_LE(stray_rows(find_robustly(inputs, targets, {}).extra_noise).size(), 3U);
}

// Paths scatter about such a row as they would without it.
TEST(StrayRows, PathsDoNotPassThroughThem) {
  const RowMatrix inputs = normal_rows(40, 1, 1);
  VectorXd targets = smooth_targets(inputs, 0.01, 2);
  targets[7] += 5;
  OutputHyperparameters own{some_hyperparameters(1), {}, VectorXd::Zero(40)};
  own.mode.noise_variance = 1e-4;
  own.extra_noise[7] = 25;
  const GaussianProcess process({}, inputs, targets, {own});
  std::vector<double> mean(10);
  std::vector<double> stddev(10);
  process.predict(inputs.row(7), mean, stddev);
  for (const double value : mean) {
    EXPECT_NEAR(value, targets[7] - 5, 0.5);
  }
}

}  // namespace
}  // namespace dissent
