// Random Fourier features of the Matern 5/2 kernel (Rahimi and Recht 2007): functions whose combination with standard
// normal weights is nearly a draw from the prior. The spectral density is a multivariate Student t with 5 degrees of
// freedom, so frequencies are normal vectors over sqrt(chi^2_5 / 5), over the length scales. Each frequency gives a
// cosine and a sine: the variance of a draw is then exact everywhere, and only correlations are approximate, with an
// error of 1 / sqrt(number of pairs). The linear part adds the columns themselves.
#pragma once

#include <cstdint>

#include "dissent/process/kernel.hpp"

namespace dissent {

class FourierFeatures {
 public:
  // A frequency depends on the seed, the number of columns and its own number. `pairs`: a multiple of 8.
  FourierFeatures(Eigen::Index pairs, Eigen::Index columns, std::uint64_t seed);

  Eigen::Index size() const { return 2 * frequencies_.cols() + frequencies_.rows(); }
  // Features of rows `at` [N x C]: size() x N.
  PanelBuffer<double> panel_at(const Hyperparameters& hyperparameters, const RowsRef& at) const;
  // N x size().
  RowMatrix at(const Hyperparameters& hyperparameters, const RowsRef& at) const;

 private:
  RowMatrix frequencies_;  // C x pairs, for length scales of 1
};

}  // namespace dissent
