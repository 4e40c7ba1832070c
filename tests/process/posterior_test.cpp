#include "dissent/process/posterior.hpp"

#include <gtest/gtest.h>

#include <Eigen/Dense>
#include <numbers>

#include "dissent/base/error.hpp"
#include "dissent/process/panels.hpp"
#include "process/data.hpp"

namespace dissent {
namespace {

using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::VectorXd;

TEST(Posterior, IsThePlainDenseOne) {
  const RowMatrix inputs = normal_rows(25, 3, 1);
  const VectorXd targets = smooth_targets(inputs, 0.2, 2);
  const RowMatrix at = normal_rows(11, 3, 3);
  const Hyperparameters h = some_hyperparameters(3);
  const MatrixXd k = covariance(h, inputs, inputs) + h.noise_variance * MatrixXd::Identity(25, 25);
  const MatrixXd cross = covariance(h, at, inputs);
  const VectorXd mean = cross * k.inverse() * targets;
  const VectorXd variance = (covariance(h, at, at) - cross * k.inverse() * cross.transpose()).diagonal();
  const Posterior posterior(h, inputs, targets);
  EXPECT_LT((posterior.mean(at) - mean).cwiseAbs().maxCoeff(), 1e-11);
  EXPECT_LT((posterior.variance(at) - variance).cwiseAbs().maxCoeff(), 1e-11);
}

TEST(Posterior, HalfIsTheTriangularSolve) {
  for (const Index rows : {1, 29, 64, 200}) {
    const RowMatrix inputs = normal_rows(rows, 3, 1);
    const RowMatrix at = normal_rows(37, 3, 3);
    const Posterior posterior(some_hyperparameters(3), inputs, smooth_targets(inputs, 0.2, 2));
    MatrixXd expected = covariance(posterior.hyperparameters(), inputs, at);
    const MatrixXd upper = mapped(posterior.factor().upper.panel(), rows);
    upper.transpose().triangularView<Eigen::Lower>().solveInPlace(expected);
    const PanelBuffer<double> half = posterior.half_panel(at);
    EXPECT_LT((mapped(half.panel(), at.rows()) - expected).cwiseAbs().maxCoeff(), 1e-11) << rows;
    EXPECT_EQ(posterior.half_panel(at.topRows(0)).capacity(), 0U);
  }
}

TEST(Posterior, FarFromDataIsThePrior) {
  const RowMatrix inputs = normal_rows(10, 2, 1);
  Hyperparameters h = some_hyperparameters(2);
  h.slope_variance = 0;
  const Posterior posterior(h, inputs, smooth_targets(inputs, 0.2, 2));
  const RowMatrix far = RowMatrix::Constant(1, 2, 1e200);
  EXPECT_LT(std::abs(posterior.mean(far)[0]), 1e-290);
  EXPECT_EQ(posterior.variance(far)[0], posterior.hyperparameters().signal_variance);
}

TEST(Posterior, WithALinearPartATrendGoesOnAndIsLessCertainFartherOut) {
  const RowMatrix inputs = normal_rows(30, 1, 1);
  Hyperparameters h = some_hyperparameters(1);
  h.slope_variance = 1;
  const Posterior posterior(h, inputs, 2 * inputs.col(0));
  RowMatrix at(2, 1);
  at << 10, 20;
  const VectorXd mean = posterior.mean(at);
  EXPECT_NEAR(mean[0], 20, 4);
  EXPECT_NEAR(mean[1] / mean[0], 2, 0.2);
  const VectorXd variance = posterior.variance(at);
  EXPECT_GT(variance[1], 2 * variance[0]);
  EXPECT_GT(posterior.variance(RowMatrix::Constant(1, 1, 1e200))[0], variance[1]);
}

TEST(Posterior, WithoutNoiseGoesThroughTheTargets) {
  const RowMatrix inputs = normal_rows(15, 2, 1);
  const VectorXd targets = smooth_targets(inputs, 0, 2);
  Hyperparameters h = some_hyperparameters(2);
  h.noise_variance = 0;
  const Posterior posterior(h, inputs, targets);
  EXPECT_LT((posterior.mean(inputs) - targets).cwiseAbs().maxCoeff(), 1e-8);
  EXPECT_LT(posterior.variance(inputs).maxCoeff(), 1e-8);
}

TEST(Posterior, LeaveOneOutIsAFitWithoutTheRow) {
  const RowMatrix inputs = normal_rows(14, 2, 1);
  const VectorXd targets = smooth_targets(inputs, 0.2, 2);
  const Hyperparameters h = some_hyperparameters(2);
  const LeaveOneOut loo = Posterior(h, inputs, targets).leave_one_out();
  for (Index k = 0; k < inputs.rows(); ++k) {
    std::vector<Index> others;
    for (Index j = 0; j < inputs.rows(); ++j) {
      if (j != k) {
        others.push_back(j);
      }
    }
    const Posterior rest(h, inputs(others, Eigen::all), targets(others));
    const double residual = targets[k] - rest.mean(inputs.row(k))[0];
    const double variance = rest.variance(inputs.row(k))[0] + h.noise_variance;
    EXPECT_NEAR(loo.residual[k], residual, 1e-11);
    EXPECT_NEAR(loo.variance[k], variance, 1e-11);
    EXPECT_NEAR(loo.log_density[k], -0.5 * (residual * residual / variance + std::log(2 * std::numbers::pi * variance)),
                1e-10);
  }
}

TEST(Posterior, RefusesACovarianceWithoutFactor) {
  Hyperparameters h = some_hyperparameters(1);
  h.noise_variance = -5;
  EXPECT_THROW(Posterior(h, normal_rows(3, 1, 1), VectorXd::Zero(3)), InputError);
}

}  // namespace
}  // namespace dissent
