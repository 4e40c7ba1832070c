#include "dissent/ensemble/summary.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>
#include <numeric>
#include <utility>

#include "dissent/base/error.hpp"
#include "dissent/ensemble/normal_points.hpp"
#include "dissent/mixture/gaussian.hpp"

namespace dissent {
namespace {

constexpr double kHalfEntropy = 0.5 * (kLogTwoPi + 1);  // of a standard normal
constexpr std::size_t kGridPoints = 129;
constexpr std::size_t kDraws = 256;
constexpr std::size_t kRowsAtATime = 64;  // of the flow's points

double normal_cdf(double z) { return 0.5 * std::erfc(-z / std::numbers::sqrt2); }
double normal_pdf(double z) { return std::exp(-0.5 * (z * z + kLogTwoPi)); }

// The marginal of one output at one input: M Gaussians.
struct GaussianMarginal {
  const Weights& weights;
  std::vector<double> mean;
  std::vector<double> stddev;

  double cdf(double y) const {
    double sum = 0;
    for (std::size_t m = 0; m < mean.size(); ++m) {
      sum += weights.value[m] * normal_cdf((y - mean[m]) / stddev[m]);
    }
    return std::clamp(sum, 0.0, 1.0);
  }

  // By bisection, from where every component has all its mass on one side.
  double quantile(double probability) const {
    double low = std::numeric_limits<double>::infinity();
    double high = -low;
    for (std::size_t m = 0; m < mean.size(); ++m) {
      low = std::min(low, mean[m] - 9 * stddev[m]);
      high = std::max(high, mean[m] + 9 * stddev[m]);
    }
    for (int step = 0; step < 200; ++step) {
      const double middle = low + (high - low) / 2;
      if (middle <= low || middle >= high) {
        break;
      }
      (cdf(middle) < probability ? low : high) = middle;
    }
    return low + (high - low) / 2;
  }

  // Grimit et al. 2006: sum_i w_i A(y - mean_i, stddev_i) - 1/2 sum_ij w_i w_j A(mean_i - mean_j, joint stddev), where
  // A(m, s) = 2 s pdf(m / s) + m (2 cdf(m / s) - 1) is the expected absolute value of a Gaussian.
  double crps(double y) const {
    const auto absolute = [](double m, double s) {
      return 2 * s * normal_pdf(m / s) + m * std::erf(m / (s * std::numbers::sqrt2));
    };
    double sum = 0;
    for (std::size_t i = 0; i < mean.size(); ++i) {
      sum += weights.value[i] * absolute(y - mean[i], stddev[i]);
      for (std::size_t j = 0; j < mean.size(); ++j) {
        sum -=
            0.5 * weights.value[i] * weights.value[j] * absolute(mean[i] - mean[j], std::hypot(stddev[i], stddev[j]));
      }
    }
    return sum;
  }
};

// A marginal as weighted points.
class PointMarginal {
 public:
  void assign(std::vector<double> values, std::span<const double> weights) {
    std::vector<std::size_t> order(values.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::ranges::sort(order, {}, [&](std::size_t k) { return values[k]; });
    value_.clear();
    weight_.clear();
    centre_.clear();
    double below = 0;
    for (const std::size_t k : order) {
      value_.push_back(values[k]);
      weight_.push_back(weights[k]);
      centre_.push_back(below + weights[k] / 2);
      below += weights[k];
    }
  }

  double mean() const { return std::inner_product(value_.begin(), value_.end(), weight_.begin(), 0.0); }
  double stddev() const {
    const double centre = mean();
    double sum = 0;
    for (std::size_t k = 0; k < value_.size(); ++k) {
      sum += weight_[k] * (value_[k] - centre) * (value_[k] - centre);
    }
    return std::sqrt(sum);
  }

  // Linear between the middles of the points' shares of probability; the outermost points beyond them.
  double quantile(double probability) const { return interpolate(centre_, value_, probability); }
  double cdf(double y) const {
    if (y < value_.front() || y > value_.back()) {
      return y < value_.front() ? 0 : 1;
    }
    return interpolate(value_, centre_, y);
  }

  // E|Y - y| - E|Y - Y'| / 2, the second from the order: sum_k w_k v_k (2 centre_k - 1).
  double crps(double y) const {
    double sum = 0;
    for (std::size_t k = 0; k < value_.size(); ++k) {
      sum += weight_[k] * (std::abs(value_[k] - y) - value_[k] * (2 * centre_[k] - 1));
    }
    return sum;
  }

 private:
  static double interpolate(const std::vector<double>& from, const std::vector<double>& to, double at) {
    const auto upper = std::ranges::upper_bound(from, at);
    if (upper == from.begin() || upper == from.end()) {
      return upper == from.begin() ? to.front() : to.back();
    }
    const auto k = static_cast<std::size_t>(upper - from.begin());
    return to[k - 1] + (to[k] - to[k - 1]) * (at - from[k - 1]) / (from[k] - from[k - 1]);
  }

  std::vector<double> value_;
  std::vector<double> weight_;
  std::vector<double> centre_;
};

// Where distributions are asked and results go, alike for both models.
class Writer {
 public:
  Writer(std::size_t num_inputs, std::size_t num_outputs, const SummaryOptions& options, Summary& summary)
      : options_(options), summary_(summary) {
    const std::size_t count = num_inputs * num_outputs;
    summary.mean.resize(count);
    summary.stddev.resize(count);
    summary.quantile.resize(count * options.quantiles.size());
    summary.aleatoric.resize(num_inputs);
    summary.cdf.resize(options.targets.size());
    summary.crps.resize(options.targets.size());
  }

  template <class Marginal>
  void write(std::size_t at, const Marginal& marginal) {
    for (std::size_t q = 0; q < options_.quantiles.size(); ++q) {
      summary_.quantile[at * options_.quantiles.size() + q] = marginal.quantile(options_.quantiles[q]);
    }
    if (!options_.targets.empty()) {
      summary_.cdf[at] = marginal.cdf(options_.targets[at]);
      summary_.crps[at] = marginal.crps(options_.targets[at]);
    }
  }

 private:
  const SummaryOptions& options_;
  Summary& summary_;
};

void summarise_gaussians(const Weights& weights, const Mixture<double>& mixture, const SummaryOptions& options,
                         Summary& summary) {
  const std::size_t M = mixture.num_components;
  const std::size_t D = mixture.num_outputs;
  Writer writer(mixture.num_inputs, D, options, summary);
  GaussianMarginal marginal{weights, std::vector<double>(M), std::vector<double>(M)};
  for (std::size_t n = 0; n < mixture.num_inputs; ++n) {
    double entropy = static_cast<double>(D) * kHalfEntropy;
    for (std::size_t d = 0; d < D; ++d) {
      double mean = 0;
      for (std::size_t m = 0; m < M; ++m) {
        marginal.mean[m] = mixture.mean[(n * M + m) * D + d];
        marginal.stddev[m] = mixture.stddev[(n * M + m) * D + d];
        mean += weights.value[m] * marginal.mean[m];
        entropy += weights.value[m] * std::log(marginal.stddev[m]);
      }
      double variance = 0;
      for (std::size_t m = 0; m < M; ++m) {
        const double shift = marginal.mean[m] - mean;
        variance += weights.value[m] * (marginal.stddev[m] * marginal.stddev[m] + shift * shift);
      }
      summary.mean[n * D + d] = mean;
      summary.stddev[n * D + d] = std::sqrt(variance);
      writer.write(n * D + d, marginal);
    }
    summary.aleatoric[n] = entropy;
  }
}

void summarise_flow(const Ensemble& model, std::span<const double> inputs, const Mixture<double>& mixture,
                    const SummaryOptions& options, Summary& summary) {
  const std::size_t C = model.num_inputs();
  const std::size_t M = mixture.num_components;
  const std::size_t D = mixture.num_outputs;
  const NormalPoints points = normal_points(D, kGridPoints, kDraws);
  const std::size_t K = points.size();
  Writer writer(mixture.num_inputs, D, options, summary);
  std::vector<double> weights(M * K);
  for (std::size_t k = 0; k < weights.size(); ++k) {
    weights[k] = model.weights().value[k / K] * points.weight[k % K];
  }
  PointMarginal marginal;
  for (std::size_t begin = 0; begin < mixture.num_inputs; begin += kRowsAtATime) {
    const std::size_t end = std::min(mixture.num_inputs, begin + kRowsAtATime);
    const std::size_t rows = (end - begin) * M * K;
    std::vector<double> repeated(rows * C);
    std::vector<double> base(rows * D);
    std::vector<double> outputs(rows * D);
    std::vector<double> log_det(rows);
    for (std::size_t row = 0; row < rows; ++row) {
      const std::size_t n = begin + row / (M * K);
      const std::size_t m = row / K % M;
      std::ranges::copy(inputs.subspan(n * C, C), repeated.begin() + static_cast<std::ptrdiff_t>(row * C));
      for (std::size_t d = 0; d < D; ++d) {
        const std::size_t at = (n * M + m) * D + d;
        base[row * D + d] = mixture.mean[at] + mixture.stddev[at] * points.value[row % K * D + d];
      }
    }
    model.to_outputs(repeated, base, outputs, log_det, options.executor);
    for (std::size_t n = begin; n < end; ++n) {
      const std::size_t first = (n - begin) * M * K;
      double entropy = static_cast<double>(D) * kHalfEntropy;
      for (std::size_t k = 0; k < M * K; ++k) {
        entropy += weights[k] * log_det[first + k];
      }
      for (std::size_t k = 0; k < M * D; ++k) {
        entropy += model.weights().value[k / D] * std::log(mixture.stddev[n * M * D + k]);
      }
      summary.aleatoric[n] = entropy;
      for (std::size_t d = 0; d < D; ++d) {
        std::vector<double> values(M * K);
        for (std::size_t k = 0; k < values.size(); ++k) {
          values[k] = outputs[(first + k) * D + d];
        }
        marginal.assign(std::move(values), weights);
        summary.mean[n * D + d] = marginal.mean();
        summary.stddev[n * D + d] = marginal.stddev();
        writer.write(n * D + d, marginal);
      }
    }
  }
}

// With one output the flow is an increasing function: what it does to a quantile, and to a value whose place is asked,
// is exact.
void carry_ranks(const Ensemble& model, std::span<const double> inputs, const Mixture<double>& mixture,
                 const SummaryOptions& options, Summary& summary) {
  const std::size_t C = model.num_inputs();
  const std::size_t M = mixture.num_components;
  const std::size_t Q = options.quantiles.size();
  const auto marginal_of = [&](std::size_t n) {
    const auto first = static_cast<std::ptrdiff_t>(n * M);
    const auto last = static_cast<std::ptrdiff_t>((n + 1) * M);
    return GaussianMarginal{model.weights(),
                            {mixture.mean.begin() + first, mixture.mean.begin() + last},
                            {mixture.stddev.begin() + first, mixture.stddev.begin() + last}};
  };
  std::vector<double> repeated;
  std::vector<double> base;
  for (std::size_t n = 0; n < mixture.num_inputs; ++n) {
    const GaussianMarginal marginal = marginal_of(n);
    for (const double quantile : options.quantiles) {
      repeated.insert(repeated.end(), &inputs[n * C], &inputs[n * C] + C);
      base.push_back(marginal.quantile(quantile));
    }
  }
  if (Q > 0) {
    model.to_outputs(repeated, base, summary.quantile, {}, options.executor);
  }
  if (!options.targets.empty()) {
    std::vector<double> values(mixture.num_inputs);
    std::vector<double> log_det(mixture.num_inputs);
    model.to_base(inputs, options.targets, values, log_det, options.executor);
    for (std::size_t n = 0; n < mixture.num_inputs; ++n) {
      summary.cdf[n] = marginal_of(n).cdf(values[n]);
    }
  }
}

}  // namespace

Summary summarise(const Ensemble& model, std::span<const double> inputs, const Mixture<double>& mixture,
                  const SummaryOptions& options) {
  check(mixture.num_inputs * model.num_inputs() == inputs.size() && mixture.num_outputs == model.num_outputs() &&
            mixture.num_components == model.num_components(),
        "summarise: a mixture of {} inputs, {} components and {} outputs does not belong to {} input values",
        mixture.num_inputs, mixture.num_components, mixture.num_outputs, inputs.size());
  check(options.targets.empty() || options.targets.size() == mixture.num_inputs * mixture.num_outputs,
        "summarise: {} target values for {} rows of {}", options.targets.size(), mixture.num_inputs,
        mixture.num_outputs);
  for (const double quantile : options.quantiles) {
    check(quantile > 0 && quantile < 1, "summarise: quantile {} is not between 0 and 1", quantile);
  }
  Summary summary;
  if (model.flow() != nullptr) {
    summarise_flow(model, inputs, mixture, options, summary);
    if (model.num_outputs() == 1) {
      carry_ranks(model, inputs, mixture, options, summary);
    }
  } else {
    summarise_gaussians(model.weights(), mixture, options, summary);
  }
  return summary;
}

}  // namespace dissent
