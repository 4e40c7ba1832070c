#include "dissent/divergence/closed_forms.hpp"

#include <Eigen/Cholesky>
#include <Eigen/Eigenvalues>
#include <Eigen/SVD>
#include <algorithm>
#include <cmath>
#include <limits>

#include "dissent/base/special.hpp"

namespace dissent {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

// chernoff for covariances of very different shape, where the small eigenvalues would be lost.
double chernoff_by_determinants(double alpha, const FullGaussian& p, const FullGaussian& q) {
  const Eigen::VectorXd delta = p.mean - q.mean;
  const Eigen::MatrixXd covariance_p = p.factor * p.factor.transpose();
  const Eigen::MatrixXd covariance_q = q.factor * q.factor.transpose();
  const Eigen::LLT<Eigen::MatrixXd> mixed(alpha * covariance_q + (1 - alpha) * covariance_p);
  const FullGaussian between{delta, mixed.matrixL()};
  if (mixed.info() != Eigen::Success || !(between.factor.diagonal().array() > 0).all()) {
    return -kInfinity;  // only for alpha > 1
  }
  const double mean_part = between.factor.triangularView<Eigen::Lower>().solve(delta).squaredNorm();
  const double log_part = sum_log_stddev(between) - alpha * sum_log_stddev(q) - (1 - alpha) * sum_log_stddev(p);
  const double value = 0.5 * alpha * (1 - alpha) * mean_part + log_part;
  return alpha < 1 ? std::max(0.0, value) : std::min(0.0, value);
}

// The part of chernoff:a that does not depend on the mean, for one output: with t = s_j^2 / s_i^2 - 1 it is
// (ln(1 + a t) - a ln(1 + t)) / 2 = (a f(t) - f(a t)) / 2. Valid for a <= 1/2, where neither form cancels; infinite
// where 1 + a t <= 0, which takes a < 0.
double scale_term(double a, double t, double log1p_t) {
  if (std::abs(t) < 0.4) {
    return a * t <= -1 ? kInfinity : 0.5 * (a * x_minus_log1p(t) - x_minus_log1p(a * t));
  }
  if (a * t <= -1) {
    return kInfinity;
  }
  // Where t overflows, 1 + a t is a (1 + t) to the last bit.
  const double log_mixed = a > 0 && log1p_t > 40 ? log_add_exp(0, std::log(a) + log1p_t) : std::log1p(a * t);
  return 0.5 * (log_mixed - a * log1p_t);
}

double scale_term_of(double a, double stddev_i, double stddev_j) {
  const double e = (stddev_j - stddev_i) / stddev_i;
  const double ratio = stddev_j / stddev_i;
  const double log_ratio = ratio > 1e-300 && ratio < 1e300 ? std::log(ratio) : std::log(stddev_j) - std::log(stddev_i);
  return scale_term(a, e * (2 + e), 2 * log_ratio);
}

}  // namespace

double chernoff(double alpha, const DiagonalGaussian& p, const DiagonalGaussian& q) {
  double sum = 0;
  for (std::size_t d = 0; d < p.mean.size(); ++d) {
    const double si = p.stddev[d];
    const double sj = q.stddev[d];
    // Of the mirror images C_a(i, j) = C_1-a(j, i), the one with the smaller a keeps its digits.
    const double scale = alpha <= 0.5 ? scale_term_of(alpha, si, sj) : scale_term_of(1 - alpha, sj, si);
    if (scale == kInfinity) {
      return -kInfinity;
    }
    const double delta = p.mean[d] - q.mean[d];
    // The mean part alpha (1 - alpha) / 2 * delta^2 / s^2, as a square of a quotient, so that no square over- or
    // underflows.
    if (alpha < 1) {
      const double z = delta / std::hypot(std::sqrt(alpha) * sj, std::sqrt(1 - alpha) * si);
      sum += 0.5 * alpha * (1 - alpha) * z * z + scale;
    } else {
      const double e = (si - sj) / sj;
      const double z = delta / sj;
      sum += 0.5 * alpha * (1 - alpha) * z * z / (1 + (1 - alpha) * e * (2 + e)) + scale;
    }
  }
  return sum;
}

// In units of q's factor, p has the covariance I + G with G = F + F^T + F F^T. G's eigenvectors reduce this to the
// diagonal case, and small eigenvalues (components nearly equal) keep their digits.
double chernoff(double alpha, const FullGaussian& p, const FullGaussian& q) {
  if (equal(p, q)) {
    return 0;
  }
  const auto lower = q.factor.triangularView<Eigen::Lower>();
  const Eigen::MatrixXd scaled = lower.solve(p.factor - q.factor);
  const Eigen::SelfAdjointEigenSolver<Eigen::MatrixXd> eigen(scaled + scaled.transpose() + scaled * scaled.transpose());
  const Eigen::VectorXd z = eigen.eigenvectors().transpose() * lower.solve(p.mean - q.mean);
  if (eigen.eigenvalues().minCoeff() < -0.9999 || eigen.eigenvalues().maxCoeff() > 1e4) {
    return chernoff_by_determinants(alpha, p, q);
  }
  const double beta = 1 - alpha;
  double sum = 0;
  for (Eigen::Index k = 0; k < z.size(); ++k) {
    const double t = eigen.eigenvalues()(k);
    const double scale =
        alpha <= 0.5 ? scale_term(alpha, -t / (1 + t), -std::log1p(t)) : scale_term(beta, t, std::log1p(t));
    if (scale == kInfinity) {
      return -kInfinity;
    }
    sum += 0.5 * alpha * beta * z(k) * z(k) / (1 + beta * t) + scale;
  }
  return sum;
}

double kl(const DiagonalGaussian& p, const DiagonalGaussian& q) {
  double sum = 0;
  for (std::size_t d = 0; d < p.mean.size(); ++d) {
    const double e = (p.stddev[d] - q.stddev[d]) / q.stddev[d];
    const double z = (p.mean[d] - q.mean[d]) / q.stddev[d];
    const double f = std::abs(e) < 0.25 ? x_minus_log1p(e) : e - (std::log(p.stddev[d]) - std::log(q.stddev[d]));
    sum += 0.5 * (z * z + e * e) + f;
  }
  return sum;
}

double kl(const FullGaussian& p, const FullGaussian& q) {
  const auto lower = q.factor.triangularView<Eigen::Lower>();
  const Eigen::VectorXd z = lower.solve(p.mean - q.mean);
  const Eigen::MatrixXd scaled = lower.solve(p.factor - q.factor);
  double sum = 0.5 * (z.squaredNorm() + scaled.squaredNorm());
  for (Eigen::Index k = 0; k < scaled.rows(); ++k) {
    const double e = scaled(k, k);
    sum += std::abs(e) < 0.25 ? x_minus_log1p(e) : e - (std::log(p.factor(k, k)) - std::log(q.factor(k, k)));
  }
  return sum;
}

double wasserstein(const DiagonalGaussian& p, const DiagonalGaussian& q) {
  double sum = 0;
  for (std::size_t d = 0; d < p.mean.size(); ++d) {
    const double mean_gap = p.mean[d] - q.mean[d];
    const double stddev_gap = p.stddev[d] - q.stddev[d];
    sum += mean_gap * mean_gap + stddev_gap * stddev_gap;
  }
  return sum;
}

// |mu_i - mu_j|^2 + |L_i - L_j U|^2 with the rotation U that makes it smallest: L_j^T L_i = A S B^T gives U = A B^T.
double wasserstein(const FullGaussian& p, const FullGaussian& q) {
  if (equal(p, q)) {
    return 0;
  }
  const Eigen::JacobiSVD<Eigen::MatrixXd> svd(q.factor.transpose() * p.factor,
                                              Eigen::ComputeFullU | Eigen::ComputeFullV);
  const Eigen::MatrixXd rotated = q.factor * (svd.matrixU() * svd.matrixV().transpose());
  return (p.mean - q.mean).squaredNorm() + (p.factor - rotated).squaredNorm();
}

}  // namespace dissent
