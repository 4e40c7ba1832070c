#include "dissent/process/search.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>

#include "process/data.hpp"

namespace dissent {
namespace {

using Eigen::VectorXd;

TEST(Search, FindsNoiseAndColumnsThatMatter) {
  const RowMatrix inputs = normal_rows(150, 4, 1);
  const VectorXd targets = smooth_targets(inputs, 0.3, 2);
  const Hyperparameters found = find_hyperparameters(inputs, targets, {}).hyperparameters;
  EXPECT_NEAR(found.noise_variance, 0.09, 0.03);
  EXPECT_LT(4 * found.length_scales[0], found.length_scales[2]);  // columns 2 and 3 say nothing
  EXPECT_LT(4 * found.length_scales[0], found.length_scales[3]);
}

TEST(Search, EndsWhereTheGradientIsSmall) {
  const RowMatrix inputs = normal_rows(60, 2, 1);
  const VectorXd targets = smooth_targets(inputs, 0.2, 2);
  const SearchResult found = find_hyperparameters(inputs, targets, {});
  const VectorXd gradient = log_prior({}, found.hyperparameters.log_vector()).gradient +
                            log_marginal_likelihood(found.hyperparameters, inputs, targets).gradient;
  EXPECT_LT(gradient.cwiseAbs().maxCoeff(), 0.3);  // of nats per unit of a logarithm
}

// The default prior would hold the noise up.
TEST(Search, LoosensThePriorForFunctionsWithoutNoise) {
  const RowMatrix inputs = normal_rows(100, 1, 1);
  const SearchResult clean = find_hyperparameters(inputs, smooth_targets(inputs, 0, 2), {});
  EXPECT_EQ(clean.prior.noise.log_stddev, kLoosePrior.noise.log_stddev);
  EXPECT_LT(clean.hyperparameters.noise_variance, 1e-5);
  const SearchResult noisy = find_hyperparameters(inputs, smooth_targets(inputs, 0.3, 2), {});
  EXPECT_EQ(noisy.prior.noise.log_stddev, HyperPrior{}.noise.log_stddev);
}

// From the prior's mode such functions look like noise, whichever rows there are.
TEST(Search, FindsFunctionsThatWiggle) {
  constexpr double kNoise = 0.1;
  const auto noise_found = [&](Eigen::Index rows, Eigen::Index columns, std::uint64_t seed, const auto& function) {
    const RowMatrix inputs = normal_rows(rows, columns, seed).array().max(-2).min(2);
    VectorXd targets = kNoise * normal_rows(rows, 1, seed + 100).col(0);
    for (Eigen::Index row = 0; row < rows; ++row) {
      targets[row] += function(inputs.row(row));
    }
    return find_hyperparameters(inputs, targets, {.seed = seed}).hyperparameters.noise_variance;
  };
  for (std::uint64_t seed = 1; seed <= 6; ++seed) {
    SCOPED_TRACE(seed);
    const auto near_truth = [](double found) { return found > 0.4 * kNoise * kNoise && found < 4 * kNoise * kNoise; };
    EXPECT_PRED1(near_truth, noise_found(120, 1, seed, [](const auto& x) { return std::sin(8 * x[0]); }));
    EXPECT_PRED1(near_truth,
                 noise_found(300, 2, seed, [](const auto& x) { return std::sin(4 * x[0]) * std::cos(3 * x[1]); }));
    EXPECT_PRED1(near_truth,
                 noise_found(300, 6, seed, [](const auto& x) { return std::sin(4 * x[0]) + std::sin(3 * x[1]); }));
    EXPECT_PRED1(near_truth, noise_found(450, 1, seed, [](const auto& x) { return std::sin(40 * x[0]); }));
  }
}

TEST(Search, SameSeedSameBits) {
  const RowMatrix inputs = normal_rows(200, 2, 1);
  const VectorXd targets = smooth_targets(inputs, 0.2, 2);
  const SearchOptions options{.start_rows = 50, .rows = 100, .seed = 3};
  const SearchResult one = find_hyperparameters(inputs, targets, options);
  const SearchResult two = find_hyperparameters(inputs, targets, options);
  EXPECT_EQ(one.hyperparameters.log_vector(), two.hyperparameters.log_vector());
  EXPECT_EQ(one.rows, two.rows);
}

TEST(Search, TakesNoMoreRowsThanAllowedAndNoneTwice) {
  const RowMatrix inputs = normal_rows(200, 2, 1);
  std::vector<Eigen::Index> rows =
      find_hyperparameters(inputs, smooth_targets(inputs, 0.2, 2), {.start_rows = 30, .rows = 70}).rows;
  EXPECT_EQ(rows.size(), 70u);
  std::sort(rows.begin(), rows.end());
  EXPECT_EQ(std::adjacent_find(rows.begin(), rows.end()), rows.end());
}

}  // namespace
}  // namespace dissent
