#include "dissent/acquisition/residual.hpp"

#include <algorithm>
#include <cmath>

namespace dissent {
namespace {

constexpr std::size_t kBlock = 256;
constexpr std::size_t kFactors = 8;  // per logarithm
constexpr double kFarthest = 1e9;    // apart, in stddevs of the noise, so that squares stay finite in single precision

// 1 / (M - 1), with M the effective number of components, 1 / sum_m w_m^2.
double chance_correlation(const Weights& weights) {
  double squares = 0;
  for (const double weight : weights.value) {
    squares += weight * weight;
  }
  return std::min(0.9, squares / std::max(1 - squares, 1e-9));
}

}  // namespace

ResidualDisagreement::ResidualDisagreement(const Ensemble& model, std::span<const double> candidates,
                                           std::span<const std::size_t> outputs, Executor* executor)
    : num_rows_(candidates.size() / model.num_input_columns()),
      num_outputs_(outputs.size()),
      num_components_(model.num_components()),
      by_chance_(chance_correlation(model.weights())),
      executor_(executor),
      apart_(num_rows_ * num_outputs_ * num_components_),
      variance_(num_rows_ * num_outputs_) {
  const std::vector<double>& weight = model.weights().value;
  const std::size_t C = model.num_input_columns();
  const std::size_t M = num_components_;
  for_blocks(executor_, num_rows_, kBlock, [&](std::size_t begin, std::size_t end, std::size_t) {
    Mixture<float> mixture;
    model.predict_base(candidates.subspan(begin * C, (end - begin) * C), mixture);
    for (std::size_t n = begin; n < end; ++n) {
      for (std::size_t k = 0; k < num_outputs_; ++k) {
        const std::size_t first = (n - begin) * M * model.num_outputs() + outputs[k];
        double centre = 0;
        double noise = 0;
        for (std::size_t m = 0; m < M; ++m) {
          const auto stddev = static_cast<double>(mixture.stddev[first + m * model.num_outputs()]);
          centre += weight[m] * static_cast<double>(mixture.mean[first + m * model.num_outputs()]);
          noise += weight[m] * stddev * stddev;
        }
        double variance = 0;
        for (std::size_t m = 0; m < M; ++m) {
          const auto mean = static_cast<double>(mixture.mean[first + m * model.num_outputs()]);
          const double apart = std::clamp(std::sqrt(weight[m] / noise) * (mean - centre), -kFarthest, kFarthest);
          apart_[at(n, k) * M + m] = static_cast<float>(apart);
          variance += std::pow(static_cast<double>(apart_[at(n, k) * M + m]), 2);
        }
        variance_[at(n, k)] = variance;
      }
    }
  });
  before_ = variance_;
}

void ResidualDisagreement::covariances(std::size_t row, std::size_t candidate, std::span<double> out) const {
  const std::size_t M = num_components_;
  double squared = 0;  // correlation, averaged over outputs that have some variance
  double num_varied = 0;
  for (std::size_t k = 0; k < num_outputs_; ++k) {
    const float* const own = &apart_[at(row, k) * M];
    const float* const other = &apart_[at(candidate, k) * M];
    out[k] = 0;
    for (std::size_t m = 0; m < M; ++m) {
      out[k] += static_cast<double>(own[m]) * static_cast<double>(other[m]);
    }
    const double scale = before_[at(row, k)] * before_[at(candidate, k)];
    if (scale > 0) {
      squared += out[k] * out[k] / scale;
      num_varied += 1;
    }
  }
  squared /= std::max(num_varied, 1.0);
  const double kept = std::clamp((squared - by_chance_) / (1 - by_chance_), 0.0, 1.0);
  for (double& covariance : out) {
    covariance *= std::sqrt(kept);
  }
}

void ResidualDisagreement::take(std::size_t candidate) {
  std::vector<double> scale(num_outputs_);
  for (std::size_t k = 0; k < num_outputs_; ++k) {
    scale[k] = 1 / std::sqrt(variance_[at(candidate, k)] + 1);
  }
  std::vector<double> pick(num_rows_ * num_outputs_);
  for_blocks(executor_, num_rows_, kBlock, [&](std::size_t begin, std::size_t end, std::size_t) {
    std::vector<double> with(num_outputs_);
    for (std::size_t n = begin; n < end; ++n) {
      covariances(n, candidate, with);
      for (std::size_t k = 0; k < num_outputs_; ++k) {
        for (const std::vector<double>& before : picks_) {
          with[k] -= before[at(n, k)] * before[at(candidate, k)];
        }
        pick[at(n, k)] = with[k] * scale[k];
      }
    }
  });
  for (std::size_t k = 0; k < pick.size(); ++k) {
    variance_[k] = std::max(0.0, variance_[k] - pick[k] * pick[k]);
  }
  picks_.push_back(std::move(pick));
}

void ResidualDisagreement::left(std::span<double> nats) const {
  for_blocks(executor_, num_rows_, kBlock, [&](std::size_t begin, std::size_t end, std::size_t) {
    for (std::size_t n = begin; n < end; ++n) {
      nats[n] = 0;
      for (std::size_t begin_k = 0; begin_k < num_outputs_; begin_k += kFactors) {
        double product = 1;
        for (std::size_t k = begin_k; k < std::min(num_outputs_, begin_k + kFactors); ++k) {
          product *= 1 + variance_[at(n, k)];
        }
        nats[n] += 0.5 * std::log(product);
      }
    }
  });
}

}  // namespace dissent
