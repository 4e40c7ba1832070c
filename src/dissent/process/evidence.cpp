// Marginal likelihood and prior: one factorisation and one inverse for the value and all derivatives.
#include "dissent/process/evidence.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>

#include "dissent/process/factor.hpp"

namespace dissent {

using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::VectorXd;

Evidence log_prior(const HyperPrior& prior, const VectorRef& log_vector) {
  Evidence out{0, VectorXd::Zero(log_vector.size())};
  const double half_log_columns =
      0.5 * std::log(std::max<double>(1, static_cast<double>(log_vector.size() - kLogLength)));
  for (Index k = 0; k < log_vector.size(); ++k) {
    LogNormal p = k == kLogSignal  ? prior.signal
                  : k == kLogNoise ? prior.noise
                  : k == kLogSlope ? prior.slope
                                   : prior.length;
    if (p.log_stddev == 0) {
      continue;
    }
    p.log_mean += k >= kLogLength ? half_log_columns : 0;
    const double z = (log_vector[k] - p.log_mean) / p.log_stddev;
    out.value -= 0.5 * z * z + std::log(p.log_stddev) + 0.5 * std::log(2 * std::numbers::pi);
    out.gradient[k] = -z / p.log_stddev;
  }
  return out;
}

namespace {

// alpha: K^-1 y.
double marginal_value(const CholeskyFactor& factor, const VectorRef& targets, const VectorXd& alpha) {
  return -0.5 * (targets.dot(alpha) + factor.log_determinant() +
                 static_cast<double>(targets.size()) * std::log(2 * std::numbers::pi));
}

}  // namespace

double log_marginal_value(const Hyperparameters& hyperparameters, const RowsRef& inputs, const VectorRef& targets) {
  const CholeskyFactor factor = factorise(KernelMatrix(hyperparameters, inputs).with_noise());
  return factor.sound ? marginal_value(factor, targets, factor.solve(targets))
                      : -std::numeric_limits<double>::infinity();
}

Evidence log_marginal_likelihood(const Hyperparameters& hyperparameters, const RowsRef& inputs,
                                 const VectorRef& targets) {
  const KernelMatrix kernel(hyperparameters, inputs);
  const CholeskyFactor factor = factorise(kernel.with_noise());
  if (!factor.sound) {
    return {-std::numeric_limits<double>::infinity(), VectorXd::Zero(kLogLength + inputs.cols())};
  }
  const VectorXd alpha = factor.solve(targets);
  Evidence out;
  out.value = marginal_value(factor, targets, alpha);
  MatrixXd weight = inverse_from(inverse_of_lower(factor));
  weight = 0.5 * (alpha * alpha.transpose() - weight);
  out.gradient = kernel.contract(weight);
  return out;
}

}  // namespace dissent
