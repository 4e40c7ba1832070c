// The log marginal likelihood of targets under a Gaussian process, the prior on its hyperparameters, and gradients.
//   log p(y | h) = -1/2 (y' K^-1 y + log |K| + n log 2 pi),
//   d/dh = 1/2 sum_ij (a a' - K^-1)_ij dK_ij / dh,  a = K^-1 y.
// The logarithm of every hyperparameter has a normal prior. Length scales grow with the root of the number of columns
// C, as distances do (Hvarfner, Hellsten and Nardi 2024): without that, forty rows in thirty columns fit the noise.
#pragma once

#include <Eigen/Core>

#include "dissent/process/kernel.hpp"

namespace dissent {

struct LogNormal {
  double log_mean = 0;
  double log_stddev = 1;
};

// A stddev of 0 leaves a hyperparameter where it is.
inline constexpr LogNormal kNoSlope{-22.0, 0.0};
inline constexpr LogNormal kSomeSlope{-2.0, 1.5};

// The defaults were chosen on real tables of 40 to 300 rows. There a linear part is worth nothing; it helps if inputs
// are the state of a system and predictions are needed away from the data.
struct HyperPrior {
  LogNormal signal{0.0, 1.0};
  LogNormal noise{-2.0, 0.8};
  LogNormal slope = kNoSlope;
  LogNormal length{1.7, 0.7};  // of a length scale over sqrt(C)
};

// For functions without noise, and for functions of few of their columns.
inline constexpr HyperPrior kLoosePrior{.noise = {-2.0, 2.0}, .length = {1.7, 2.0}};

struct Evidence {
  double value = 0;          // -infinity if the covariance cannot be factored
  Eigen::VectorXd gradient;  // with respect to Hyperparameters::log_vector()
};

// Of the prior, as a density of the logarithms.
Evidence log_prior(const HyperPrior& prior, const VectorRef& log_vector);
// Of targets [n] at inputs [n x C].
Evidence log_marginal_likelihood(const Hyperparameters& hyperparameters, const RowsRef& inputs,
                                 const VectorRef& targets);
// Its value alone, in a third of the time.
double log_marginal_value(const Hyperparameters& hyperparameters, const RowsRef& inputs, const VectorRef& targets);

}  // namespace dissent
