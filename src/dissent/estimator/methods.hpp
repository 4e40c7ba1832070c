// The functions behind the registry (estimator.hpp), except Monte Carlo; each source says how it works. Mixtures are
// checked and weighted: call them through estimate().
#pragma once

#include <array>
#include <cstddef>
#include <string_view>

#include "dissent/estimator/estimator.hpp"

namespace dissent {

// The pairwise estimate over a divergence (Berry & Meger, equation 5).
template <class T>
Uncertainty pairwise(const Divergence& divergence, const MixtureView<T>& mixture, const EstimateOptions& options);

// The expected pairwise KL. epistemic is an upper bound without a limit and may exceed H(weights); log_deficit is
// -infinity then.
template <class T>
Uncertainty epkl(const MixtureView<T>& mixture, const EstimateOptions& options);

// Numerical integration over one output, to 1e-10 or better.
template <class T>
Uncertainty quadrature(const MixtureView<T>& mixture, const EstimateOptions& options);

// A certified interval. lower_log_deficit and upper_log_deficit are its ends again, as ln(H(weights) - end); alpha is
// that of the lower end.
inline constexpr std::array<std::string_view, 5> kBoundsExtras{"lower", "upper", "alpha", "lower_log_deficit",
                                                               "upper_log_deficit"};
template <class T>
Uncertainty bounds(const MixtureView<T>& mixture, const EstimateOptions& options);

// The `top` most uncertain inputs in order. samples: spent on the input; undecided: 1 if the input may belong to the
// top and its order is still in doubt.
inline constexpr std::array<std::string_view, 4> kRefineExtras{"lower", "upper", "samples", "undecided"};
inline constexpr std::size_t kRefineFirstSamples = 256;
inline constexpr std::size_t kRefineMaxSamples = 65536;  // per input and round
template <class T>
Uncertainty refine(std::size_t top, const MixtureView<T>& mixture, const EstimateOptions& options);

// sum_m w_m H(p_m), from the M sums of ln(stddev) at sum_log_stddev[m * stride].
double mean_entropy(const Weights& weights, std::size_t num_outputs, const double* sum_log_stddev, std::size_t stride);

}  // namespace dissent
