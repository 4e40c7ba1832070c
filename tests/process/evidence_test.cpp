#include "dissent/process/evidence.hpp"

#include <gtest/gtest.h>

#include <Eigen/Dense>
#include <numbers>

#include "process/data.hpp"

namespace dissent {
namespace {

using Eigen::Index;
using Eigen::VectorXd;

TEST(Evidence, MarginalLikelihoodIsTheNormalDensity) {
  const RowMatrix inputs = normal_rows(9, 2, 1);
  const VectorXd targets = smooth_targets(inputs, 0.1, 2);
  const Hyperparameters h = some_hyperparameters(2);
  Eigen::MatrixXd k = covariance(h, inputs, inputs);
  k.diagonal().array() += h.noise_variance;
  const double expected =
      -0.5 * (targets.dot(k.inverse() * targets) + std::log(k.determinant()) + 9 * std::log(2 * std::numbers::pi));
  EXPECT_NEAR(log_marginal_likelihood(h, inputs, targets).value, expected, 1e-10);
}

TEST(Evidence, GradientsAreThoseOfDifferences) {
  const RowMatrix inputs = normal_rows(20, 3, 1);
  const VectorXd targets = smooth_targets(inputs, 0.1, 2);
  const VectorXd at = some_hyperparameters(3).log_vector();
  const HyperPrior prior{.slope = kSomeSlope};
  const VectorXd data = log_marginal_likelihood(Hyperparameters::from_log(at), inputs, targets).gradient;
  const VectorXd before = log_prior(prior, at).gradient;
  for (Index k = 0; k < at.size(); ++k) {
    VectorXd above = at;
    VectorXd below = at;
    above[k] += 1e-5;
    below[k] -= 1e-5;
    const double difference = log_marginal_likelihood(Hyperparameters::from_log(above), inputs, targets).value -
                              log_marginal_likelihood(Hyperparameters::from_log(below), inputs, targets).value;
    EXPECT_NEAR(data[k], difference / 2e-5, 1e-6) << "entry " << k;
    EXPECT_NEAR(before[k], (log_prior(prior, above).value - log_prior(prior, below).value) / 2e-5, 1e-6);
  }
}

TEST(Evidence, PriorOfLengthScalesGrowsWithTheRootOfTheColumns) {
  const HyperPrior prior;
  VectorXd at(kLogLength + 9);
  at << prior.signal.log_mean, prior.noise.log_mean, prior.slope.log_mean,
      VectorXd::Constant(9, prior.length.log_mean + std::log(3.0));
  EXPECT_LT(log_prior(prior, at).gradient.cwiseAbs().maxCoeff(), 1e-12);
}

TEST(Evidence, CovarianceWithoutFactorIsImpossible) {
  Hyperparameters h = some_hyperparameters(1);
  h.signal_variance = std::numeric_limits<double>::infinity();
  EXPECT_EQ(log_marginal_likelihood(h, normal_rows(3, 1, 1), VectorXd::Zero(3)).value,
            -std::numeric_limits<double>::infinity());
}

}  // namespace
}  // namespace dissent
