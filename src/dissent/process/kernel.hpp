// The covariance of a Gaussian process: Matern 5/2 with a length scale per column, and a linear part,
//   k(a, b) = s (1 + q + q^2 / 3) exp(-q) + v a.b / C,   q^2 = 5 sum_c ((a_c - b_c) / l_c)^2,
// with signal variance s, slope variance v and length scales l_c of C columns; an observation adds noise variance. The
// linear part, if there is one, is what remains away from the data: a trend, less certain the farther it goes. Rows are
// inputs, in scaled units (columns near mean 0 and stddev 1, targets likewise).
#pragma once

#include <Eigen/Core>

#include "dissent/process/panels.hpp"

namespace dissent {

struct Hyperparameters {
  double signal_variance = 1;
  double noise_variance = 0.01;
  double slope_variance = 0;      // below kLeastSlope: no linear part
  Eigen::VectorXd length_scales;  // C

  // The logarithms in this order: signal, noise, slope, length scales.
  Eigen::VectorXd log_vector() const;
  static Hyperparameters from_log(const VectorRef& log_vector);
};

inline constexpr double kLeastSlope = 1e-9;

// Positions in `log_vector`.
enum : Eigen::Index { kLogSignal = 0, kLogNoise = 1, kLogSlope = 2, kLogLength = 3 };

// Rows divided by length scales, kept within +-1e100 so that squares are finite; the kernel has vanished long before.
RowMatrix over_length_scales(const Hyperparameters& hyperparameters, const RowsRef& rows);

// Rows as the linear part sees them: clipped to 1000 scaled units, where rounding would leave no variance.
RowMatrix trend_rows(const RowsRef& rows);

// v / C.
double slope_per_column(const Hyperparameters& hyperparameters);
// k(x, x) of each row x, without noise.
Eigen::VectorXd prior_variance(const Hyperparameters& hyperparameters, const RowsRef& rows);

// k between the rows of a [N x C] and of b [K x C], without noise: N x K.
Eigen::MatrixXd covariance(const Hyperparameters& hyperparameters, const RowsRef& a, const RowsRef& b);

// The same for `others` [K x C] and `rows` [N x C] as a panel: K x N.
PanelBuffer<double> covariance_panel(const Hyperparameters& hyperparameters, const RowsRef& others,
                                     const RowsRef& rows);

// The covariance of input rows with one another, and its derivatives contracted with a symmetric weight matrix.
class KernelMatrix {
 public:
  KernelMatrix(const Hyperparameters& hyperparameters, const RowsRef& inputs);

  // k with noise on the diagonal: N x N.
  const PanelBuffer<double>& with_noise() const { return matrix_; }
  // sum_ij weight_ij dK_ij / d log h, for each entry h of log_vector(). `weight` is N x N and symmetric.
  Eigen::VectorXd contract(const Eigen::MatrixXd& weight) const;

 private:
  Hyperparameters hyperparameters_;
  RowMatrix scaled_;  // inputs over length scales
  // s (1 + q) exp(-q) 5 / 3: minus twice the derivative of k by the squared distance over l.
  PanelBuffer<double> slope_;
  Eigen::MatrixXd linear_;  // empty without a linear part
  PanelBuffer<double> matrix_;
};

}  // namespace dissent
