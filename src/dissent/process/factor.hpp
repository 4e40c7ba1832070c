// The Cholesky factor of a covariance matrix, and its inverse.
#pragma once

#include <Eigen/Core>

#include "dissent/matrix/panel.hpp"
#include "dissent/matrix/product.hpp"

namespace dissent {

struct CholeskyFactor {
  PanelBuffer<double> upper;  // L' [n x n]; only the upper triangle is meaningful
  double jitter = 0;          // what the diagonal was raised by
  bool sound = false;         // false: the matrix is not finite, or has no factor even with the largest jitter

  Strided lower() const { return Strided{upper.panel().data, upper.panel().stride, 1}.transposed(); }
  double log_determinant() const;
  // K^-1 b.
  Eigen::MatrixXd solve(const Eigen::Ref<const Eigen::MatrixXd>& b) const;
};

// Factors `matrix` [n x n] (symmetric; its upper triangle is read). If that fails, raises the diagonal by 1e-10 of its
// mean, then by ten times as much, up to 1e-4: noise that rounding has added to the data.
CholeskyFactor factorise(const PanelBuffer<double>& matrix);

// L^-1 [n x n], its upper triangle zero.
PanelBuffer<double> inverse_of_lower(const CholeskyFactor& factor);
// K^-1 = L^-T L^-1 from L^-1: symmetric, both triangles.
Eigen::MatrixXd inverse_from(const PanelBuffer<double>& inverse_lower);

}  // namespace dissent
