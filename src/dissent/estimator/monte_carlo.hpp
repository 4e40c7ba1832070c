// mc:K, Monte Carlo mutual information with K samples per input, stratified by component.
//
//   I = H(w) - sum_j w_j E_{y ~ p_j} log1p( sum_{i != j} w_i p_i(y) / (w_j p_j(y)) )
// The expectation is the deficit: it is >= 0, so the estimate stays below H(w), and its logarithm is the log_deficit.
// Ratios of densities are exponentials of differences of log densities, so nothing over- or underflows in any
// dimension. Component j gets a share of the samples in proportion to its weight (share_samples). Each input draws from
// its own stream, so its result depends only on the seed and its number. Where components lie many standard deviations
// apart, the deficit comes from samples too rare to be drawn: mc then reports too small a deficit with too small a
// standard error. The bounds estimator has no such blind spot.
#pragma once

#include <array>
#include <functional>
#include <span>
#include <string_view>
#include <vector>

#include "dissent/estimator/estimator.hpp"
#include "dissent/mixture/gaussian.hpp"

namespace dissent {

inline constexpr std::array<std::string_view, 1> kMonteCarloExtras{"standard_error"};  // of epistemic
template <class T>
Uncertainty monte_carlo(std::size_t num_samples, const MixtureView<T>& mixture, const EstimateOptions& options);

// How samples are spread over components.
struct SampleShares {
  std::vector<std::size_t> count;  // [M]
  std::vector<double> weight;      // [M], of the mean over a component's samples; sum 1
};

// K samples, shared by weight. If each component of positive weight gets at least two, its share is w_j K rounded up,
// and its mean counts w_j. With fewer there are exactly K: component j gets as many of the points (k + offset) / K as
// fall into its part of [0, 1). So with an offset drawn from (0, 1) it gets w_j K on average, and all samples count the
// same.
SampleShares share_samples(const Weights& weights, std::size_t num_samples, double offset);

struct MonteCarloResult {
  double deficit = 0;
  double standard_error = 0;  // infinite after a single sample
  double skewness = 0;        // of the deficit as an estimate: large where few samples made most of it
  std::size_t num_samples = 0;
};

// Fills noise[D] with the standard normal variates of sample `sample` from component `component`.
using NoiseSource = std::function<void(std::size_t component, std::size_t sample, std::span<double> noise)>;

// The plain version, for one input, with the caller's noise.
MonteCarloResult monte_carlo_input(const InputComponents& components, const Weights& weights,
                                   const SampleShares& shares, const NoiseSource& noise);

// The same with K samples from input number `input`'s own stream.
MonteCarloResult monte_carlo_input(const InputComponents& components, const Weights& weights, std::size_t num_samples,
                                   std::uint64_t seed, std::size_t input);

}  // namespace dissent
