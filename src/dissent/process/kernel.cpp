// Matern 5/2 with a linear part and its derivatives by whole matrices: one product for the distances, one for all
// length scales.
#include "dissent/process/kernel.hpp"

#include <algorithm>
#include <cmath>

namespace dissent {
namespace {

using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::VectorXd;

constexpr double kFar = 1e100;
constexpr double kTrendEnd = 1e3;
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

RowMatrix trend_rows(const RowsRef& rows) { return rows.array().max(-kTrendEnd).min(kTrendEnd); }

RowMatrix over_length_scales(const Hyperparameters& hyperparameters, const RowsRef& rows) {
  return (rows.array().rowwise() / hyperparameters.length_scales.transpose().array()).max(-kFar).min(kFar);
}

VectorXd Hyperparameters::log_vector() const {
  VectorXd out(kLogLength + length_scales.size());
  out[kLogSignal] = std::log(signal_variance);
  out[kLogNoise] = std::log(noise_variance);
  out[kLogSlope] = std::log(std::max(slope_variance, kLeastSlope / 4));
  out.tail(length_scales.size()) = length_scales.array().log();
  return out;
}

Hyperparameters Hyperparameters::from_log(const VectorRef& log_vector) {
  Hyperparameters out;
  out.signal_variance = std::exp(log_vector[kLogSignal]);
  out.noise_variance = std::exp(log_vector[kLogNoise]);
  out.slope_variance = std::exp(log_vector[kLogSlope]);
  out.length_scales = log_vector.tail(log_vector.size() - kLogLength).array().exp();
  return out;
}

MatrixXd covariance(const Hyperparameters& hyperparameters, const RowsRef& a, const RowsRef& b) {
  MatrixXd out = q_of(over_length_scales(hyperparameters, a), over_length_scales(hyperparameters, b));
  out = hyperparameters.signal_variance * (1 + out.array() * (1 + out.array() / 3)) * (-out.array()).exp();
  if (hyperparameters.slope_variance >= kLeastSlope) {
    out.noalias() += slope_per_column(hyperparameters) * trend_rows(a) * trend_rows(b).transpose();
  }
  return out;
}

double slope_per_column(const Hyperparameters& hyperparameters) {
  return hyperparameters.slope_variance /
         std::max<double>(1, static_cast<double>(hyperparameters.length_scales.size()));
}

VectorXd prior_variance(const Hyperparameters& hyperparameters, const RowsRef& rows) {
  return hyperparameters.signal_variance +
         slope_per_column(hyperparameters) * trend_rows(rows).rowwise().squaredNorm().array();
}

KernelMatrix::KernelMatrix(const Hyperparameters& hyperparameters, const RowsRef& inputs)
    : hyperparameters_(hyperparameters), scaled_(over_length_scales(hyperparameters, inputs)) {
  const MatrixXd q = q_of(scaled_, scaled_);
  slope_ = hyperparameters.signal_variance * (-q.array()).exp();
  matrix_ = slope_.array() * (1 + q.array() * (1 + q.array() / 3));
  slope_.array() *= (5.0 / 3) * (1 + q.array());
  if (hyperparameters.slope_variance >= kLeastSlope) {
    linear_.noalias() = slope_per_column(hyperparameters) * trend_rows(inputs) * trend_rows(inputs).transpose();
    matrix_ += linear_;
  }
  matrix_.diagonal().array() += hyperparameters.noise_variance;
}

// By the length scale of column c: sum_ij w_ij slope_ij (z_ic - z_jc)^2 = 2 (sum_i z_ic^2 (sum_j u_ij) - z_c' u z_c),
// with u = w slope and z the scaled inputs.
VectorXd KernelMatrix::contract(const MatrixXd& weight) const {
  VectorXd out(kLogLength + scaled_.cols());
  out[kLogNoise] = hyperparameters_.noise_variance * weight.trace();
  out[kLogSlope] = linear_.size() == 0 ? 0 : (weight.array() * linear_.array()).sum();
  out[kLogSignal] = (weight.array() * matrix_.array()).sum() - out[kLogNoise] - out[kLogSlope];
  const MatrixXd u = weight.array() * slope_.array();
  const VectorXd total = u.rowwise().sum();
  const RowMatrix product = u * scaled_;
  out.tail(scaled_.cols()) =
      2 * ((scaled_.array().square().colwise() * total.array()) - product.array() * scaled_.array()).colwise().sum();
  return out;
}

}  // namespace dissent
