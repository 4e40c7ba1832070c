// What users see of a prediction, per input and output, in their units: mean, stddev, quantiles; and, if the true value
// is known, its place in the predicted distribution and the CRPS.
//
// pne, gp: closed forms of a Gaussian mixture, or of exp() of one for targets fitted by their logarithms; quantiles by
//       bisection of the distribution function.
// flow: each base Gaussian is carried through the flow on fixed weighted points.
//       One output: 129 evenly spaced points over +-6.5 stddevs, weighted by the density (a trapezoidal rule, whose
//       error is far below that of training); quantiles and ranks are exact, because an increasing map keeps them.
//       More outputs: 256 antithetic normal draws, the same for every input, so that inputs can be compared.
// Aleatoric uncertainty is the components' mean entropy in output space, in nats: for flow the entropy of the base plus
// the expected log-determinant, over the same points.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "dissent/ensemble/ensemble.hpp"

namespace dissent {

struct SummaryOptions {
  std::vector<double> quantiles = {};    // in (0, 1)
  std::span<const double> targets = {};  // [N][D]; empty: no cdf and no crps
  Executor* executor = nullptr;
};

struct Summary {
  std::vector<double> mean;       // [N][D]
  std::vector<double> stddev;     // [N][D]
  std::vector<double> quantile;   // [N][D][number of quantiles]
  std::vector<double> aleatoric;  // [N], nats
  std::vector<double> cdf;        // [N][D], of the targets
  std::vector<double> crps;       // [N][D]
};

// `mixture` is model.predict(inputs).
Summary summarise(const Ensemble& model, std::span<const double> inputs, const Mixture<double>& mixture,
                  const SummaryOptions& options = {});

// Only the mean of p(y | x), [N][D] in the user's units, at a third of the cost of summarise(); with a flow, from 64
// points (mean_points). If a flow has two modes, it is accurate to 1% of their gap.
std::vector<double> predictive_mean(const Ensemble& model, std::span<const double> inputs,
                                    Executor* executor = nullptr);

}  // namespace dissent
