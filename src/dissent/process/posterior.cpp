// The exact posterior from one Cholesky factor.
#include "dissent/process/posterior.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <utility>

#include "dissent/base/error.hpp"
#include "dissent/process/panels.hpp"

namespace dissent {

using Eigen::MatrixXd;
using Eigen::VectorXd;

Posterior::Posterior(Hyperparameters hyperparameters, RowMatrix inputs, VectorXd targets, VectorXd extra_noise)
    : hyperparameters_(std::move(hyperparameters)),
      inputs_(std::move(inputs)),
      targets_(std::move(targets)),
      extra_noise_(std::move(extra_noise)) {
  PanelBuffer<double> matrix = covariance_panel(hyperparameters_, inputs_, inputs_);
  mapped(matrix.panel(), inputs_.rows()).diagonal().array() += hyperparameters_.noise_variance;
  if (extra_noise_.size() > 0) {
    mapped(matrix.panel(), inputs_.rows()).diagonal() += extra_noise_;
  }
  factor_ = factorise(matrix);
  check(factor_.sound,
        "Gaussian process: the covariance of {} rows has no Cholesky factor; inputs must be scaled and finite",
        inputs_.rows());
  weights_ = factor_.solve(targets_);
}

VectorXd Posterior::mean(const RowsRef& at) const {
  const PanelBuffer<double> cross = covariance_panel(hyperparameters_, inputs_, at);
  PanelBuffer<double> out = make_panel(1, at.rows());
  multiply({{weights_.data(), 0, 1}, 1, cross.panel(), out.panel(), out.capacity()});
  return mapped(out.panel(), at.rows()).row(0);
}

PanelBuffer<double> Posterior::half_panel(const RowsRef& at) const {
  PanelBuffer<double> values = covariance_panel(hyperparameters_, inputs_, at);
  solve_lower(factor_.lower(), values.panel(), values.capacity());
  return values;
}

VectorXd Posterior::variance(const RowsRef& at) const {
  const PanelBuffer<double> values = half_panel(at);
  // Rounding may make it negative at a training row.
  return (prior_variance(hyperparameters_, at).array() -
          mapped(values.panel(), at.rows()).colwise().squaredNorm().transpose().array())
      .max(0);
}

LeaveOneOut Posterior::leave_one_out() const {
  LeaveOneOut out;
  const PanelBuffer<double> inverse = inverse_of_lower(factor_);
  out.variance = mapped(inverse.panel(), inputs_.rows()).colwise().squaredNorm().transpose().cwiseInverse();
  out.residual = weights_.array() * out.variance.array();
  out.log_density = -0.5 * (out.residual.array().square() / out.variance.array() +
                            (2 * std::numbers::pi * out.variance.array()).log());
  return out;
}

}  // namespace dissent
