#include "dissent/estimator/monte_carlo.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "support/mixtures.hpp"

namespace dissent {
namespace {

TEST(MonteCarlo, SharesSamplesByWeight) {
  const Weights weights = Weights::from(std::vector<double>{0.5, 0.3, 0.2, 0}, 4);
  const auto counts = [](const Weights& of, std::size_t K, double offset) {
    return share_samples(of, K, offset).count;
  };
  using Counts = std::vector<std::size_t>;
  EXPECT_EQ(counts(weights, 1000, 0.5), (Counts{500, 300, 200, 0}));
  EXPECT_EQ(share_samples(weights, 1000, 0.5).weight, weights.value);
  EXPECT_EQ(counts(Weights::uniform(5), 5000, 0.5), Counts(5, 1000));
  EXPECT_EQ(counts(Weights::uniform(5), 10, 0.5), Counts(5, 2));
  EXPECT_EQ(counts(Weights::uniform(5), 5, 0.5), Counts(5, 1));
}

// With few samples there are exactly so many, and over the offsets a component has its share of them.
TEST(MonteCarlo, FewSamplesAreSharedByChance) {
  const Weights weights = Weights::from(std::vector<double>{0.5, 0.3, 0.2, 0}, 4);
  for (std::size_t K = 1; K < 10; ++K) {
    std::vector<double> mean(4);
    constexpr int kOffsets = 1000;
    for (int k = 0; k < kOffsets; ++k) {
      const SampleShares shares = share_samples(weights, K, (k + 0.5) / kOffsets);
      std::size_t sum = 0;
      for (std::size_t m = 0; m < 4; ++m) {
        sum += shares.count[m];
        mean[m] += static_cast<double>(shares.count[m]) / kOffsets;
        EXPECT_DOUBLE_EQ(shares.weight[m], static_cast<double>(shares.count[m]) / static_cast<double>(K));
      }
      EXPECT_EQ(sum, K);
    }
    for (std::size_t m = 0; m < 4; ++m) {
      EXPECT_NEAR(mean[m], weights.value[m] * static_cast<double>(K), 2e-3) << K;
    }
  }
}

// Any number of samples gives an unbiased estimate of the deficit: over 4000 seeds its mean is the truth within 5
// standard errors of that mean (false alarms: below 1e-5 in all).
TEST(MonteCarlo, FewSamplesAreUnbiased) {
  const test::MixtureCase c{.num_components = 3, .mean_gap = 1, .scale_gap = 0.7, .weighted = true, .seed = 5};
  const Mixture<double> mixture = test::diagonal_mixture<double>(c);
  const Weights weights = test::case_weights(c);
  const double truth = weights.entropy - test::run("quadrature", mixture, weights).epistemic[0];
  InputComponents components;
  components.load(mixture.view(), 0, 0);
  for (const std::size_t K : {1UL, 2UL, 4UL}) {
    constexpr int kRuns = 4000;
    double sum = 0;
    double squares = 0;
    for (std::uint64_t seed = 0; seed < kRuns; ++seed) {
      const MonteCarloResult mc = monte_carlo_input(components, weights, K, seed, 0);
      EXPECT_EQ(mc.num_samples, K);
      EXPECT_EQ(std::isfinite(mc.standard_error), K > 1);
      sum += mc.deficit - truth;
      squares += (mc.deficit - truth) * (mc.deficit - truth);
    }
    EXPECT_LT(std::abs(sum / kRuns), 5 * std::sqrt(squares) / kRuns) << K;
  }
}

TEST(MonteCarlo, SeedAndInputNameTheSamples) {
  const test::MixtureCase c{.num_inputs = 2, .num_components = 3, .num_outputs = 2, .seed = 1};
  Mixture<double> mixture = test::diagonal_mixture<double>(c);
  std::copy_n(mixture.mean.data(), 6, mixture.mean.data() + 6);
  std::copy_n(mixture.stddev.data(), 6, mixture.stddev.data() + 6);
  const Weights weights = Weights::uniform(3);
  const Uncertainty a = test::run("mc:100", mixture, weights, {.seed = 1});
  const Uncertainty b = test::run("mc:100", mixture, weights, {.seed = 2});
  EXPECT_NE(a.epistemic[0], a.epistemic[1]);  // the same mixture, other samples
  EXPECT_NE(a.epistemic[0], b.epistemic[0]);
  EXPECT_EQ(a.epistemic[1], estimate(parse_estimator("mc:100"), mixture.view().rows(1, 2).weighted(weights),
                                     {.seed = 1, .first_input = 1})
                                .epistemic[0]);
}

// Over 300 seeds the mean is the truth within 5 standard errors (false alarms: below 1e-6), and the spread is what the
// standard error says: the ratio of variances stays within 0.65 to 1.5 (chi-squared with 299 degrees; below 1e-6).
TEST(MonteCarlo, StandardErrorIsHonest) {
  const test::MixtureCase c{.num_components = 3, .mean_gap = 1, .scale_gap = 0.7, .weighted = true, .seed = 5};
  const Mixture<double> mixture = test::diagonal_mixture<double>(c);
  const Weights weights = test::case_weights(c);
  const double truth = test::run("quadrature", mixture, weights).epistemic[0];
  constexpr int kRuns = 300;
  double sum = 0;
  double squares = 0;
  double claimed = 0;
  for (int k = 0; k < kRuns; ++k) {
    const Uncertainty u = test::run("mc:400", mixture, weights, {.seed = static_cast<std::uint64_t>(k)});
    sum += u.epistemic[0] - truth;
    squares += (u.epistemic[0] - truth) * (u.epistemic[0] - truth);
    claimed += test::extra(u, "standard_error")[0] * test::extra(u, "standard_error")[0];
  }
  EXPECT_LT(std::abs(sum / kRuns), 5 * std::sqrt(claimed / kRuns / kRuns));
  EXPECT_GT(squares / claimed, 0.65);
  EXPECT_LT(squares / claimed, 1.5);
}

// Full covariance: a rotation turns a correlated mixture into a diagonal one with the same information. Two independent
// estimates of it differ by at most 5 of their standard errors (false alarms: below 1e-6).
TEST(MonteCarlo, FullCovarianceAgreesWithItsDiagonalForm) {
  const test::MixtureCase c{.num_components = 3, .num_outputs = 2, .scale_gap = 0.7, .seed = 5};
  const Mixture<double> diagonal = test::diagonal_mixture<double>(c);
  Mixture<double> full = test::as_full(diagonal);
  Eigen::Matrix2d map;
  map << 0.6, -0.8, 0.8, 0.6;
  for (std::size_t m = 0; m < 3; ++m) {
    Eigen::Map<Eigen::Vector2d> mean(full.mean.data() + 2 * m);
    Eigen::Map<Eigen::Matrix2d> covariance(full.covariance.data() + 4 * m);
    mean = map * mean.eval();
    covariance = (map * covariance.eval() * map.transpose()).eval();
  }
  const Uncertainty u = test::run("mc:5000", diagonal, Weights::uniform(3), {.seed = 1});
  const Uncertainty v = test::run("mc:5000", full, Weights::uniform(3), {.seed = 2});
  EXPECT_LT(std::abs(u.epistemic[0] - v.epistemic[0]),
            5 * std::hypot(test::extra(u, "standard_error")[0], test::extra(v, "standard_error")[0]));
}

}  // namespace
}  // namespace dissent
