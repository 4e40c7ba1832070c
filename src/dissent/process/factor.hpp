// The Cholesky factor of a covariance matrix, and its inverse.
#pragma once

#include <Eigen/Core>

#include "dissent/matrix/panel.hpp"

namespace dissent {

struct CholeskyFactor {
  Eigen::MatrixXd lower;  // only the lower triangle is meaningful
  double jitter = 0;      // what the diagonal was raised by
  bool sound = false;     // false: the matrix is not finite, or has no factor even with the largest jitter

  double log_determinant() const { return 2 * lower.diagonal().array().log().sum(); }
  // K^-1 b.
  Eigen::MatrixXd solve(const Eigen::Ref<const Eigen::MatrixXd>& b) const;
};

// Factors `matrix` (symmetric; its lower triangle is read). Where that fails, the diagonal is raised by 1e-10 of its
// mean, then by ten times as much, up to 1e-4: noise that rounding has added to the data.
CholeskyFactor factorise(const Eigen::MatrixXd& matrix);

// L^-1 [n x n], its upper triangle zero.
PanelBuffer<double> inverse_of_lower(const Eigen::MatrixXd& lower);
// K^-1 = L^-T L^-1 from L^-1: symmetric, both triangles.
Eigen::MatrixXd inverse_from(const PanelBuffer<double>& inverse_lower);

}  // namespace dissent
