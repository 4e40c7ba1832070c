// Matern 5/2 and its derivatives by whole matrices: one product for the distances, one for all length scales.
#include "dissent/process/kernel.hpp"

#include <algorithm>
#include <cmath>

namespace dissent {
namespace {

using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::VectorXd;

constexpr double kFar = 1e100;
// exp(-q) has underflowed; a larger q would only overflow the polynomial before it.
constexpr double kLargestQ = 800;

MatrixXd q_of(const RowMatrix& a, const RowMatrix& b) {
  MatrixXd q(a.rows(), b.rows());
  q.noalias() = a * b.transpose();
  q *= -2;
  q.colwise() += a.rowwise().squaredNorm();
  q.rowwise() += b.rowwise().squaredNorm().transpose();
  q = (5 * q.array().max(0)).sqrt().min(kLargestQ);
  return q;
}

}  // namespace

RowMatrix over_length_scales(const Hyperparameters& hyperparameters, const RowsRef& rows) {
  return (rows.array().rowwise() / hyperparameters.length_scales.transpose().array()).max(-kFar).min(kFar);
}

VectorXd Hyperparameters::log_vector() const {
  VectorXd out(kLogLength + length_scales.size());
  out[kLogSignal] = std::log(signal_variance);
  out[kLogNoise] = std::log(noise_variance);
  out.tail(length_scales.size()) = length_scales.array().log();
  return out;
}

Hyperparameters Hyperparameters::from_log(const VectorRef& log_vector) {
  Hyperparameters out;
  out.signal_variance = std::exp(log_vector[kLogSignal]);
  out.noise_variance = std::exp(log_vector[kLogNoise]);
  out.length_scales = log_vector.tail(log_vector.size() - kLogLength).array().exp();
  return out;
}

MatrixXd covariance(const Hyperparameters& hyperparameters, const RowsRef& a, const RowsRef& b) {
  MatrixXd out = q_of(over_length_scales(hyperparameters, a), over_length_scales(hyperparameters, b));
  out = hyperparameters.signal_variance * (1 + out.array() * (1 + out.array() / 3)) * (-out.array()).exp();
  return out;
}

KernelMatrix::KernelMatrix(const Hyperparameters& hyperparameters, const RowsRef& inputs)
    : hyperparameters_(hyperparameters), scaled_(over_length_scales(hyperparameters, inputs)) {
  const MatrixXd q = q_of(scaled_, scaled_);
  slope_ = hyperparameters.signal_variance * (-q.array()).exp();
  matrix_ = slope_.array() * (1 + q.array() * (1 + q.array() / 3));
  slope_.array() *= (5.0 / 3) * (1 + q.array());
  matrix_.diagonal().array() += hyperparameters.noise_variance;
}

// By the length scale of column c: sum_ij w_ij slope_ij (z_ic - z_jc)^2 = 2 (sum_i z_ic^2 (sum_j u_ij) - z_c' u z_c),
// with u = w slope and z the scaled inputs.
VectorXd KernelMatrix::contract(const MatrixXd& weight) const {
  VectorXd out(kLogLength + scaled_.cols());
  out[kLogNoise] = hyperparameters_.noise_variance * weight.trace();
  out[kLogSignal] = (weight.array() * matrix_.array()).sum() - out[kLogNoise];
  const MatrixXd u = weight.array() * slope_.array();
  const VectorXd total = u.rowwise().sum();
  const RowMatrix product = u * scaled_;
  out.tail(scaled_.cols()) =
      2 * ((scaled_.array().square().colwise() * total.array()) - product.array() * scaled_.array()).colwise().sum();
  return out;
}

}  // namespace dissent
