// PairEpEst: epistemic uncertainty from the divergences between components, in closed form (Berry & Meger, eq. 5), and
// EPKL, the expected pairwise KL (Malinin et al. 2020): sum_{i != j} w_i w_j KL_ij / (1 - sum_i w_i^2).
#pragma once

#include "dissent/estimator/estimator.hpp"

namespace dissent {

template <class T>
Uncertainty pairwise(const Divergence& divergence, const MixtureView<T>& mixture, const Weights& weights,
                     const EstimateOptions& options);

// epistemic may exceed H(weights), being an upper bound without a limit; log_deficit is -infinity then.
template <class T>
Uncertainty epkl(const MixtureView<T>& mixture, const Weights& weights, const EstimateOptions& options);

// sum_m w_m H(p_m), from the M sums of ln(stddev) at sum_log_stddev[m * stride].
double mean_entropy(const Weights& weights, std::size_t num_outputs, const double* sum_log_stddev, std::size_t stride);

}  // namespace dissent
