// The exact posterior of one output: mean and variance of the latent function anywhere, and the prediction of each
// training row from the others. With K the covariance of the training rows including noise (extra noise in single rows
// if given), and a = K^-1 y:
//   mean(x) = k(x, X) a,   variance(x) = k(x, x) - |L^-1 k(X, x)|^2,
//   without row i: mean y_i - a_i / (K^-1)_ii, variance of the observation 1 / (K^-1)_ii
//   (Sundararajan and Keerthi 2001).
#pragma once

#include <Eigen/Core>

#include "dissent/process/factor.hpp"
#include "dissent/process/kernel.hpp"

namespace dissent {

struct LeaveOneOut {
  Eigen::VectorXd residual;     // target minus its prediction from the other rows
  Eigen::VectorXd variance;     // of the observation, noise included
  Eigen::VectorXd log_density;  // of the target
};

class Posterior {
 public:
  // inputs [n x C], targets [n]; extra_noise [n], variances added to the noise, or empty. Throws InputError if the
  // covariance has no factor.
  Posterior(Hyperparameters hyperparameters, RowMatrix inputs, Eigen::VectorXd targets,
            Eigen::VectorXd extra_noise = {});

  const Hyperparameters& hyperparameters() const { return hyperparameters_; }
  const RowMatrix& inputs() const { return inputs_; }
  const Eigen::VectorXd& targets() const { return targets_; }
  const Eigen::VectorXd& extra_noise() const { return extra_noise_; }
  const CholeskyFactor& factor() const { return factor_; }
  // K^-1 y.
  const Eigen::VectorXd& weights() const { return weights_; }

  Eigen::VectorXd mean(const RowsRef& at) const;
  // Of the latent function: without noise.
  Eigen::VectorXd variance(const RowsRef& at) const;
  // L^-1 k(X, at), [n x N]: what the rows `at` [N x C] share with the training rows. The covariance of the latent
  // function between two rows is k(a, b) minus the inner product of their columns.
  PanelBuffer<double> half_panel(const RowsRef& at) const;
  LeaveOneOut leave_one_out() const;

 private:
  Hyperparameters hyperparameters_;
  RowMatrix inputs_;
  Eigen::VectorXd targets_;
  Eigen::VectorXd extra_noise_;
  CholeskyFactor factor_;
  Eigen::VectorXd weights_;
};

}  // namespace dissent
