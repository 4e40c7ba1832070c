// Closed forms between two Gaussians in double precision, diagonal or full: what the registry's divergences are made
// of.
//
// With F = L_q^-1 (L_p - L_q) and z = L_q^-1 (mu_p - mu_q), L the covariance's lower Cholesky factor (for a diagonal
// covariance: the standard deviations), and f(x) = x - log(1 + x):
//   kl           (|z|^2 + |F|^2) / 2 + sum_k f(F_kk)         every term >= 0, so nothing cancels
//   chernoff     -ln integral p^a q^(1-a); for a > 1 it is negative, and -infinity stands for a divergent integral
//   wasserstein  squared 2-Wasserstein distance, in squared units of the output
// Equal components give exactly 0.
#pragma once

#include "dissent/mixture/gaussian.hpp"

namespace dissent {

double kl(const DiagonalGaussian& p, const DiagonalGaussian& q);
double kl(const FullGaussian& p, const FullGaussian& q);

double chernoff(double alpha, const DiagonalGaussian& p, const DiagonalGaussian& q);
double chernoff(double alpha, const FullGaussian& p, const FullGaussian& q);

double wasserstein(const DiagonalGaussian& p, const DiagonalGaussian& q);
double wasserstein(const FullGaussian& p, const FullGaussian& q);

}  // namespace dissent
