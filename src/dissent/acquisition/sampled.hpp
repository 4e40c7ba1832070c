// Mutual information by Monte Carlo for many rows at once, alone or together with rows already chosen.
//
//   deficit = H(w) - I = sum_j w_j E_{theta = j} log1p( sum_{i != j} exp(r_ij) ),
//   r_ij = ln(w_i / w_j) + sum over the batch of ln p_i(y) - ln p_j(y),   y ~ p_j
// All rows use the same standard normal noise e, so they are compared under equal luck. In terms of e,
//   ln p_i(y) - ln p_j(y) = sum_d ( ln b - a^2/2 - a b e + (1 - b^2)/2 e^2 ),   a = (mean_j - mean_i) / stddev_i,
//   b = stddev_j / stddev_i,
// is linear in (e, e^2): a matrix product for all samples and rows. Each row of a batch needs noise of its own. Ratios
// stay in log space, and so does a deficit too small for a double; nothing underflows, however long the batch.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "dissent/base/random.hpp"
#include "dissent/estimator/score_device.hpp"
#include "dissent/matrix/panel.hpp"
#include "dissent/mixture/mixture.hpp"

namespace dissent {

// Noise for one row of a batch: num_samples in all, a share for each component by its weight (share_samples), the same
// for every row with the same stream.
class SampleNoise {
 public:
  // Component j draws from stream.substream(first_substream + j).
  SampleNoise(const Weights& weights, std::size_t num_samples, std::size_t num_outputs, const Stream& stream,
              std::uint64_t first_substream);

  const Weights& weights() const { return weights_; }
  double log_share(std::size_t component) const { return log_share_[component]; }  // of each of its samples
  std::size_t num_samples(std::size_t component) const { return powers_[component].capacity(); }
  Panel<const double> powers(std::size_t component) const { return powers_[component].panel(); }

 private:
  Weights weights_;
  std::vector<double> log_share_;
  std::vector<PanelBuffer<double>> powers_;  // [component]: [2 D][samples], e and then e^2; empty without samples
};

// r_ij of the rows chosen so far, for each component j: [M - 1 others][samples].
using ChosenRatios = std::vector<PanelBuffer<double>>;

// ChosenRatios of no rows at all: ln(w_i / w_j).
ChosenRatios no_ratios(const SampleNoise& noise);

// Views of both, for a device that weighs rows; both must outlive the views.
std::vector<ComponentNoise> component_noise(const SampleNoise& noise, const ChosenRatios& chosen);

// Adds the ratios of input `row`.
void add_ratios(const SampleNoise& noise, const MixtureView<double>& mixture, std::size_t row, ChosenRatios& chosen);

// The log deficit of the chosen rows together with each of the mixture's inputs, at most ln H(w).
void sampled_log_deficit(const SampleNoise& noise, const MixtureView<double>& mixture, const ChosenRatios& chosen,
                         std::span<double> log_deficit);

}  // namespace dissent
