#include "dissent/process/paths.hpp"

#include <gtest/gtest.h>

#include "dissent/process/panels.hpp"
#include "process/data.hpp"

namespace dissent {
namespace {

using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::VectorXd;

struct Setting {
  Hyperparameters hyperparameters = some_hyperparameters(2);
  RowMatrix inputs = normal_rows(12, 2, 1);
  VectorXd targets = smooth_targets(inputs, 0.2, 2);
  RowMatrix at = 1.5 * normal_rows(6, 2, 3);

  Posterior posterior() const { return Posterior(hyperparameters, inputs, targets); }
};

MatrixXd exact_covariance(const Setting& s) {
  MatrixXd k = covariance(s.hyperparameters, s.inputs, s.inputs);
  k.diagonal().array() += s.hyperparameters.noise_variance;
  const MatrixXd cross = covariance(s.hyperparameters, s.inputs, s.at);
  return covariance(s.hyperparameters, s.at, s.at) - cross.transpose() * factorise(panel_of(k)).solve(cross);
}

// 8,000 draws. A mean beyond five of its standard errors: 6 inputs, 3e-6 of seeds. Entries of the covariance have
// standard errors of at most 1.3 sqrt(2 / 8000) = 0.02 from the draws and 1.3 / sqrt(2 x 1024) = 0.029 from the shared
// frequencies: beyond 0.175, five of both together, 1e-5 of seeds.
TEST(Paths, HaveThePosteriorsMeanAndCovariance) {
  const Setting s;
  const Index draws = 8000;
  const FourierFeatures features(1024, 2, 1);
  const PathGroup paths(s.posterior(), features, {.seed = 1}, draws);
  const PathValues values = paths.at(s.at, s.inputs, features);
  EXPECT_LT((values.mean - s.posterior().mean(s.at)).cwiseAbs().maxCoeff(), 1e-12);
  const MatrixXd exact = exact_covariance(s);
  const MatrixXd empirical = values.residual * values.residual.transpose() / static_cast<double>(draws);
  for (Index k = 0; k < s.at.rows(); ++k) {
    EXPECT_LT(std::abs(values.residual.row(k).mean()), 5 * std::sqrt(empirical(k, k) / static_cast<double>(draws)));
  }
  EXPECT_LT((empirical - exact).cwiseAbs().maxCoeff(), 0.175);
}

TEST(Paths, WithoutNoiseGoThroughTheTargets) {
  Setting s;
  s.hyperparameters.noise_variance = 0;
  const FourierFeatures features(64, 2, 1);
  const PathGroup paths(s.posterior(), features, {.seed = 1}, 5);
  const PathValues values = paths.at(s.inputs, s.inputs, features);
  EXPECT_LT(values.residual.cwiseAbs().maxCoeff(), 1e-6);
  EXPECT_LT((values.mean - s.targets).cwiseAbs().maxCoeff(), 1e-8);
  EXPECT_GT(paths.at(s.at, s.inputs, features).residual.cwiseAbs().minCoeff(), 1e-4);  // and part elsewhere
}

TEST(Paths, ADrawDoesNotDependOnTheOthers) {
  const Setting s;
  const FourierFeatures features(64, 2, 1);
  const MatrixXd all = PathGroup(s.posterior(), features, {.seed = 1}, 9).at(s.at, s.inputs, features).residual;
  const PathGroup late(s.posterior(), features, {.seed = 1, .first = 7}, 2);
  EXPECT_LT((late.at(s.at, s.inputs, features).residual - all.rightCols(2)).cwiseAbs().maxCoeff(), 1e-12);
  const PathGroup other(s.posterior(), features, {.seed = 1, .output = 1}, 9);
  EXPECT_GT((other.at(s.at, s.inputs, features).residual - all).cwiseAbs().maxCoeff(), 0.1);
}

}  // namespace
}  // namespace dissent
