// Gaussian heads of a network: a panel of 2 D rows, D means and then D log-stddevs, over a batch.
//
// The log-stddev s is clamped to [min, max]; outside, its gradient is zero. With variance v = max(exp(2 s), floor),
//     loss = mean over batch and outputs of  (log v + (y - mean)^2 / v) / 2        (no constant),
// whose gradient with respect to s treats the floor as PyTorch's GaussianNLLLoss does: v takes the floor's value but
// keeps the derivative of exp(2 s), so a head that fell below the floor can still climb out. A NaN anywhere in the
// batch gives a NaN loss.
#pragma once

#include <cstddef>

#include "dissent/matrix/panel.hpp"

namespace dissent {

struct GaussianOptions {
  double log_stddev_min = -20;
  double log_stddev_max = 2;
  double variance_floor = 0;  // in the loss only; densities and stddevs ignore it
};

// The loss. `heads` has twice the rows of `targets`; an empty batch gives 0.
double gaussian_nll(const GaussianOptions& options, Panel<const float> heads, Panel<const float> targets,
                    std::size_t batch);
double gaussian_nll(const GaussianOptions& options, Panel<const double> heads, Panel<const double> targets,
                    std::size_t batch);

// The loss; replaces `heads` by the loss's gradient with respect to them, and their padding columns by zeros.
double gaussian_nll_gradient(const GaussianOptions& options, Panel<float> heads, Panel<const float> targets,
                             std::size_t batch);
double gaussian_nll_gradient(const GaussianOptions& options, Panel<double> heads, Panel<const double> targets,
                             std::size_t batch);

// out = scale exp(-2 s): with the loss's own scale, 1 / (batch * outputs), its second derivative with respect to a mean
// or a target (without a floor). Shapes agree.
void gaussian_curvature(const GaussianOptions& options, Panel<const float> log_stddev, std::size_t batch, double scale,
                        Panel<float> out);
void gaussian_curvature(const GaussianOptions& options, Panel<const double> log_stddev, std::size_t batch, double scale,
                        Panel<double> out);

// Replaces log-stddevs (the lower half of the heads) by stddevs.
void exponentiate_log_stddev(const GaussianOptions& options, Panel<float> log_stddev, std::size_t batch);
void exponentiate_log_stddev(const GaussianOptions& options, Panel<double> log_stddev, std::size_t batch);

}  // namespace dissent
