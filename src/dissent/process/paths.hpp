// Functions drawn from the posterior of one output by pathwise conditioning (Wilson et al. 2020, Matheron's rule):
//   f(x) = g(x) + k(x, X) K^-1 (y - g(X) - e),   g a draw from the prior by Fourier features, e a draw of the noise.
// That is the posterior mean plus a residual path of mean zero; the two are kept apart here. A group of paths shares
// hyperparameters, and so its features and covariances.
#pragma once

#include <cstdint>

#include "dissent/process/features.hpp"
#include "dissent/process/posterior.hpp"

namespace dissent {

// Where a draw's random numbers come from. Draw m is the same whatever others are drawn.
struct DrawSource {
  std::uint64_t seed = 0;
  std::uint64_t output = 0;
  std::uint64_t first = 0;  // the number of the group's first draw
};

struct PathValues {
  Eigen::VectorXd mean;      // N: the exact posterior mean
  Eigen::MatrixXd residual;  // N x M: each draw minus that mean
};

class PathGroup {
 public:
  // Draws source.first, ..., source.first + count - 1.
  PathGroup(const Posterior& posterior, const FourierFeatures& features, const DrawSource& source, Eigen::Index count);

  Eigen::Index size() const { return feature_weights_.rows(); }
  double noise_variance() const { return hyperparameters_.noise_variance; }
  // At rows [N x C]; `inputs` are the training rows.
  PathValues at(const RowsRef& rows, const RowsRef& inputs, const FourierFeatures& features) const;

 private:
  Hyperparameters hyperparameters_;
  RowMatrix data_weights_;     // 1 + M x n: of the mean, and of each draw
  RowMatrix feature_weights_;  // M x features
};

}  // namespace dissent
