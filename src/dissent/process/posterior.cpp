// The exact posterior from one Cholesky factor.
#include "dissent/process/posterior.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <utility>

#include "dissent/base/error.hpp"
#include "dissent/matrix/product.hpp"

namespace dissent {

using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::VectorXd;

Posterior::Posterior(Hyperparameters hyperparameters, RowMatrix inputs, VectorXd targets)
    : hyperparameters_(std::move(hyperparameters)), inputs_(std::move(inputs)), targets_(std::move(targets)) {
  MatrixXd matrix = covariance(hyperparameters_, inputs_, inputs_);
  matrix.diagonal().array() += hyperparameters_.noise_variance;
  factor_ = factorise(matrix);
  check(factor_.sound,
        "Gaussian process: the covariance of {} rows has no Cholesky factor; inputs must be scaled and finite",
        inputs_.rows());
  weights_ = factor_.solve(targets_);
}

VectorXd Posterior::mean(const RowsRef& at) const { return covariance(hyperparameters_, at, inputs_) * weights_; }

VectorXd Posterior::variance(const RowsRef& at) const {
  // Rounding may leave less than nothing at a training row.
  return (prior_variance(hyperparameters_, at).array() - half(at).colwise().squaredNorm().transpose().array()).max(0);
}

MatrixXd Posterior::half(const RowsRef& at) const {
  const MatrixXd cross = covariance(hyperparameters_, at, inputs_);
  const auto columns = static_cast<std::size_t>(at.rows());
  PanelBuffer<double> values(static_cast<std::size_t>(inputs_.rows()), columns);
  for (Index k = 0; k < inputs_.rows(); ++k) {
    std::ranges::copy(cross.col(k), values.panel().row(static_cast<std::size_t>(k)));
  }
  solve_lower({factor_.lower.data(), 1, static_cast<std::size_t>(factor_.lower.rows())}, values.panel(), columns);
  const auto stride = static_cast<Index>(values.panel().stride);
  return Eigen::Map<const RowMatrix, 0, Eigen::OuterStride<>>(values.panel().data, inputs_.rows(), at.rows(),
                                                              Eigen::OuterStride<>(stride));
}

LeaveOneOut Posterior::leave_one_out() const {
  LeaveOneOut out;
  out.variance = inverse_of_lower(factor_.lower).colwise().squaredNorm().transpose().cwiseInverse();
  out.residual = weights_.array() * out.variance.array();
  out.log_density = -0.5 * (out.residual.array().square() / out.variance.array() +
                            (2 * std::numbers::pi * out.variance.array()).log());
  return out;
}

}  // namespace dissent
