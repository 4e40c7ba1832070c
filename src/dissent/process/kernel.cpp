// Matern 5/2 with a linear part and its derivatives by whole matrices: distances and exponentials in vectors, one
// product for all length scales.
#include "dissent/process/kernel.hpp"

#include <algorithm>
#include <cmath>

#include "dissent/process/panels.hpp"
#include "dissent/process/waves.hpp"

namespace dissent {
namespace {

using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::VectorXd;

constexpr double kFar = 1e100;
constexpr double kTrendEnd = 1e3;

// [K x N]: the Matern part between `others` [K x C] and `rows` [N x C], and in `slope`, if it has room, s (1 + q)
// exp(-q) 5 / 3.
PanelBuffer<double> matern_panel(const Hyperparameters& hyperparameters, const RowsRef& others, const RowsRef& rows,
                                 Panel<double> slope) {
  const RowMatrix scaled = over_length_scales(hyperparameters, others);
  const PanelBuffer<double> batch = batch_of(over_length_scales(hyperparameters, rows));
  PanelBuffer<double> out = make_panel(others.rows(), rows.rows());
  matern({batch.panel(), scaled.data(), hyperparameters.signal_variance, out.panel(), slope, batch.capacity()});
  return out;
}

void add_linear(const Hyperparameters& hyperparameters, const RowsRef& others, const RowsRef& rows, Panel<double> to) {
  const RowMatrix left = trend_rows(others);
  const PanelBuffer<double> right = batch_of(trend_rows(rows));
  multiply({strided(left), slope_per_column(hyperparameters), right.panel(), to, right.capacity(), true});
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

PanelBuffer<double> covariance_panel(const Hyperparameters& hyperparameters, const RowsRef& others,
                                     const RowsRef& rows) {
  PanelBuffer<double> out = matern_panel(hyperparameters, others, rows, {});
  if (hyperparameters.slope_variance >= kLeastSlope) {
    add_linear(hyperparameters, others, rows, out.panel());
  }
  return out;
}

MatrixXd covariance(const Hyperparameters& hyperparameters, const RowsRef& a, const RowsRef& b) {
  PanelBuffer<double> out = covariance_panel(hyperparameters, b, a);
  return mapped(out.panel(), a.rows()).transpose();
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
    : hyperparameters_(hyperparameters),
      scaled_(over_length_scales(hyperparameters, inputs)),
      slope_(make_panel(inputs.rows(), inputs.rows())) {
  const Index n = inputs.rows();
  matrix_ = matern_panel(hyperparameters, inputs, inputs, slope_.panel());
  if (hyperparameters.slope_variance >= kLeastSlope) {
    PanelBuffer<double> linear = make_panel(n, n);
    add_linear(hyperparameters, inputs, inputs, linear.panel());
    linear_ = mapped(linear.panel(), n);
    mapped(matrix_.panel(), n) += linear_;
  }
  mapped(matrix_.panel(), n).diagonal().array() += hyperparameters.noise_variance;
}

// For the length scale of column c: sum_ij w_ij slope_ij (z_ic - z_jc)^2 = 2 (sum_i z_ic^2 (sum_j u_ij) - z_c' u z_c),
// with u = w slope and z the scaled inputs.
VectorXd KernelMatrix::contract(const MatrixXd& weight) const {
  VectorXd out(kLogLength + scaled_.cols());
  out[kLogNoise] = hyperparameters_.noise_variance * weight.trace();
  out[kLogSlope] = linear_.size() == 0 ? 0 : (weight.array() * linear_.array()).sum();
  const Index n = scaled_.rows();
  out[kLogSignal] =
      (weight.transpose().array() * mapped(matrix_.panel(), n).array()).sum() - out[kLogNoise] - out[kLogSlope];
  const RowMatrix u = weight.transpose().array() * mapped(slope_.panel(), n).array();
  const VectorXd total = u.rowwise().sum();
  const PanelBuffer<double> right = panel_of(scaled_);
  PanelBuffer<double> product = make_panel(n, scaled_.cols());
  multiply({strided(u), 1, right.panel(), product.panel(), right.capacity()});
  out.tail(scaled_.cols()) = 2 * ((scaled_.array().square().colwise() * total.array()) -
                                  mapped(product.panel(), scaled_.cols()).array() * scaled_.array())
                                     .colwise()
                                     .sum();
  return out;
}

}  // namespace dissent
