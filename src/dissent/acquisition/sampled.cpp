#include "dissent/acquisition/sampled.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>

#include "dissent/acquisition/ranking.hpp"
#include "dissent/acquisition/sampled_kernel.hpp"
#include "dissent/base/special.hpp"
#include "dissent/estimator/monte_carlo.hpp"
#include "dissent/matrix/linear.hpp"

namespace dissent {
namespace {

constexpr std::size_t kRows = 5;      // evaluated together: a whole number of the matrix product's tiles
constexpr double kSmallSum = 1e-200;  // below this, sums are taken in log space

// Weights and bias of the matrix product that gives r_ij without ln(w_i / w_j): a row for each i != j.
struct RatioMap {
  std::vector<double> weight;  // [rows][2 D]
  std::vector<double> bias;    // [rows]

  void append(const MixtureView<double>& mixture, std::size_t input, std::size_t j) {
    const std::size_t D = mixture.num_outputs;
    const double* mean = mixture.mean + input * mixture.num_components * D;
    const double* stddev = mixture.stddev + input * mixture.num_components * D;
    for (std::size_t i = 0; i < mixture.num_components; ++i) {
      if (i == j) {
        continue;
      }
      const std::size_t first = weight.size();
      weight.resize(first + 2 * D);
      double constant = 0;
      for (std::size_t d = 0; d < D; ++d) {
        const double inverse = 1 / stddev[i * D + d];
        const double a = (mean[j * D + d] - mean[i * D + d]) * inverse;
        const double b = stddev[j * D + d] * inverse;
        weight[first + d] = -a * b;
        weight[first + D + d] = 0.5 * (1 - b) * (1 + b);
        constant += std::log(b) - 0.5 * a * a;
      }
      bias.push_back(constant);
    }
  }

  void run(Panel<const double> powers, std::size_t count, Panel<double> ratios) const {
    affine(Affine<double>{.weight = weight.data(),
                          .weight_row_stride = powers.rows,
                          .bias = bias.data(),
                          .in = powers,
                          .out = ratios,
                          .batch = count,
                          .factor = {}});
  }
};

// ln of sum over samples of log1p(sum_i exp(r_i)), when all of it is tiny: log1p(x) is x.
double log_sum_of_tiny(Panel<const double> ratios, std::size_t count) {
  double sum = -std::numeric_limits<double>::infinity();
  for (std::size_t i = 0; i < ratios.rows; ++i) {
    sum = log_add_exp(sum, log_sum_exp({ratios.row(i), count}));
  }
  return sum;
}

}  // namespace

SampleNoise::SampleNoise(const Weights& weights, std::size_t num_samples, std::size_t num_outputs, const Stream& stream,
                         std::uint64_t first_substream)
    : weights_(weights), powers_(weights.size()) {
  const SampleShares shares = share_samples(weights, num_samples, stream.substream(kShareDraw).uniform());
  for (std::size_t j = 0; j < weights.size(); ++j) {
    const std::size_t count = shares.count[j];
    log_share_.push_back(count == 0 ? -std::numeric_limits<double>::infinity()
                                    : std::log(shares.weight[j]) - std::log(static_cast<double>(count)));
    powers_[j] = PanelBuffer<double>(2 * num_outputs, count);
    Stream draw = stream.substream(first_substream + j);
    const Panel<double> powers = powers_[j].panel();
    for (std::size_t d = 0; d < num_outputs; ++d) {
      for (std::size_t k = 0; k < count; ++k) {
        powers(d, k) = draw.normal();
        powers(num_outputs + d, k) = powers(d, k) * powers(d, k);
      }
    }
  }
}

ChosenRatios no_ratios(const SampleNoise& noise) {
  const Weights& weights = noise.weights();
  ChosenRatios ratios;
  for (std::size_t j = 0; j < weights.size(); ++j) {
    PanelBuffer<double>& own = ratios.emplace_back(weights.size() - 1, noise.num_samples(j));
    std::size_t row = 0;
    for (std::size_t i = 0; i < weights.size() && noise.num_samples(j) > 0; ++i) {
      if (i != j) {
        // A component without weight never counts; a finite number keeps infinities out of sums.
        const double value = weights.value[i] > 0 ? weights.log[i] - weights.log[j] : -1e300;
        std::fill_n(own.panel().row(row++), noise.num_samples(j), value);
      }
    }
  }
  return ratios;
}

std::vector<ComponentNoise> component_noise(const SampleNoise& noise, const ChosenRatios& chosen) {
  std::vector<ComponentNoise> result;
  for (std::size_t j = 0; j < chosen.size(); ++j) {
    const Panel<const double> ratios = chosen[j].panel();
    result.push_back({noise.powers(j).data, ratios.data, ratios.stride, noise.num_samples(j), noise.log_share(j)});
  }
  return result;
}

void add_ratios(const SampleNoise& noise, const MixtureView<double>& mixture, std::size_t row, ChosenRatios& chosen) {
  for (std::size_t j = 0; j < mixture.num_components; ++j) {
    const std::size_t count = noise.num_samples(j);
    RatioMap map;
    map.append(mixture, row, j);
    PanelBuffer<double> ratios(map.bias.size(), count);
    map.run(noise.powers(j), count, ratios.panel());
    for (std::size_t i = 0; i < map.bias.size(); ++i) {
      std::transform(ratios.panel().row(i), ratios.panel().row(i) + count, chosen[j].panel().row(i),
                     chosen[j].panel().row(i), std::plus<>());
    }
  }
}

void sampled_log_deficit(const SampleNoise& noise, const MixtureView<double>& mixture, const ChosenRatios& chosen,
                         std::span<double> log_deficit) {
  const Weights& weights = noise.weights();
  const std::size_t others = weights.size() - 1;
  std::size_t most_samples = 0;
  for (std::size_t j = 0; j < weights.size(); ++j) {
    most_samples = std::max(most_samples, noise.num_samples(j));
  }
  PanelBuffer<double> memory(kRows * others, most_samples);
  RatioMap map;
  for (std::size_t begin = 0; begin < log_deficit.size(); begin += kRows) {
    const std::size_t rows = std::min(kRows, log_deficit.size() - begin);
    const std::span<double> out = log_deficit.subspan(begin, rows);
    std::ranges::fill(out, -std::numeric_limits<double>::infinity());
    for (std::size_t j = 0; j < weights.size(); ++j) {
      const std::size_t count = noise.num_samples(j);
      if (count == 0) {
        continue;
      }
      map.weight.clear();
      map.bias.clear();
      for (std::size_t k = 0; k < rows; ++k) {
        map.append(mixture, begin + k, j);
      }
      const Panel<double> ratios = memory.panel(rows * others);
      map.run(noise.powers(j), count, ratios);
      const double log_share = noise.log_share(j);
      for (std::size_t k = 0; k < rows; ++k) {
        const Panel<double> own = ratios.slice(k * others, others);
        const double sum = sum_log1p_exp(own, chosen[j].panel(), count);
        out[k] = log_add_exp(out[k], log_share + (sum > kSmallSum ? std::log(sum) : log_sum_of_tiny(own, count)));
      }
    }
    for (double& value : out) {
      value = std::min(value, std::log(weights.entropy));
    }
  }
}

}  // namespace dissent
