// mc:K, Monte Carlo mutual information with K samples per input, stratified by component.
//
//   I = H(w) - sum_j w_j E_{y ~ p_j} log1p( sum_{i != j} w_i p_i(y) / (w_j p_j(y)) )
// The expectation is the deficit: it is >= 0, so the estimate stays below H(w), and its logarithm is the log_deficit.
// Ratios of densities are exponentials of differences of log densities, so nothing over- or underflows in any
// dimension. Component j gets a share of the samples in proportion to its weight, two at least. Each input draws from
// its own stream, so its result depends on the seed and its number alone. Where components lie many standard deviations
// apart the deficit is made by samples too rare to be drawn: mc then reports too small a deficit with too small a
// standard error. The bounds estimator has no such blind spot.
#pragma once

#include <array>
#include <functional>
#include <span>
#include <string_view>

#include "dissent/estimator/estimator.hpp"
#include "dissent/mixture/gaussian.hpp"

namespace dissent {

inline constexpr std::array<std::string_view, 1> kMonteCarloExtras{"standard_error"};  // of epistemic
template <class T>
Uncertainty monte_carlo(std::size_t num_samples, const MixtureView<T>& mixture, const EstimateOptions& options);

struct MonteCarloResult {
  double deficit = 0;
  double standard_error = 0;
  double skewness = 0;  // of the deficit as an estimate: large where few samples made most of it
  std::size_t num_samples = 0;
};

// Fills noise[D] with the standard normal variates of sample `sample` from component `component`.
using NoiseSource = std::function<void(std::size_t component, std::size_t sample, std::span<double> noise)>;

// The plain version, for one input, with the caller's noise.
MonteCarloResult monte_carlo_input(const InputComponents& components, const Weights& weights, std::size_t num_samples,
                                   const NoiseSource& noise);

// The same with the noise of input number `input`'s own stream.
MonteCarloResult monte_carlo_input(const InputComponents& components, const Weights& weights, std::size_t num_samples,
                                   std::uint64_t seed, std::size_t input);

// The number of samples that component m gets out of num_samples.
std::size_t samples_of_component(const Weights& weights, std::size_t m, std::size_t num_samples);

}  // namespace dissent
