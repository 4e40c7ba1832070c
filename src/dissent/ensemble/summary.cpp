#include "dissent/ensemble/summary.hpp"

#include <algorithm>
#include <cmath>

#include "dissent/base/error.hpp"
#include "dissent/ensemble/marginal.hpp"
#include "dissent/ensemble/normal_points.hpp"
#include "dissent/ensemble/output_map.hpp"
#include "dissent/mixture/gaussian.hpp"

namespace dissent {
namespace {

constexpr double kHalfEntropy = 0.5 * (kLogTwoPi + 1);  // of a standard normal
constexpr std::size_t kGridPoints = 129;
constexpr std::size_t kDraws = 256;
constexpr std::size_t kMeanPoints = 64;  // of predictive_mean()
// What a thread carries at a time: many points, since a call of carry() allocates its workspace, but few numbers.
constexpr std::size_t kCarriedPoints = 4096;
constexpr std::size_t kCarriedValues = std::size_t{1} << 18;
constexpr std::size_t kRowsAtATime = 64;  // of points on their way to outputs

// Queries distributions and writes the results, in the same way for closed forms and points.
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

// For models in which each output is its base value, or exp() of it.
void summarise_gaussians(const Ensemble& model, const Mixture<double>& mixture, const SummaryOptions& options,
                         Summary& summary) {
  const Weights& weights = model.weights();
  const std::size_t M = mixture.num_components;
  const std::size_t D = mixture.num_outputs;
  Writer writer(mixture.num_inputs, D, options, summary);
  GaussianMarginal marginal{weights, std::vector<double>(M), std::vector<double>(M)};
  const auto write = [&](std::size_t at, const auto& own) {
    summary.mean[at] = own.average();
    summary.stddev[at] = own.deviation();
    writer.write(at, own);
  };
  for (std::size_t n = 0; n < mixture.num_inputs; ++n) {
    double entropy = static_cast<double>(D) * kHalfEntropy;
    for (std::size_t d = 0; d < D; ++d) {
      const bool is_log = model.columns().is_log(d);
      for (std::size_t m = 0; m < M; ++m) {
        marginal.mean[m] = mixture.mean[(n * M + m) * D + d];
        marginal.stddev[m] = mixture.stddev[(n * M + m) * D + d];
        entropy += weights.value[m] * (std::log(marginal.stddev[m]) + (is_log ? marginal.mean[m] : 0));
      }
      is_log ? write(n * D + d, LogMarginal{marginal}) : write(n * D + d, marginal);
    }
    summary.aleatoric[n] = entropy;
  }
}

// The weighted entropy of the components in output space; `log_det` are those of an input's M K points.
double carried_entropy(const Weights& weights, const Mixture<double>& mixture, std::size_t n,
                       std::span<const double> point_weights, std::span<const double> log_det) {
  const std::size_t M = mixture.num_components;
  const std::size_t D = mixture.num_outputs;
  double entropy = static_cast<double>(D) * kHalfEntropy;
  for (std::size_t k = 0; k < log_det.size(); ++k) {
    entropy += point_weights[k] * log_det[k];
  }
  for (std::size_t k = 0; k < M * D; ++k) {
    entropy += weights.value[k / D] * std::log(mixture.stddev[n * M * D + k]);
  }
  return entropy;
}

void summarise_points(const Ensemble& model, std::span<const double> inputs, const Mixture<double>& mixture,
                      const SummaryOptions& options, Summary& summary) {
  const std::size_t D = mixture.num_outputs;
  CarriedPoints carried(model, normal_points(D, kGridPoints, kDraws));
  const std::size_t K = carried.points().size();
  Writer writer(mixture.num_inputs, D, options, summary);
  std::vector<double> weights(mixture.num_components * K);  // of an input's points
  for (std::size_t k = 0; k < weights.size(); ++k) {
    weights[k] = model.weights().value[k / K] * carried.points().weight[k % K];
  }
  PointMarginal marginal;
  for (std::size_t begin = 0; begin < mixture.num_inputs; begin += kRowsAtATime) {
    const std::size_t end = std::min(mixture.num_inputs, begin + kRowsAtATime);
    carried.carry(inputs, mixture, begin, end, true, options.executor);
    for (std::size_t n = begin; n < end; ++n) {
      const std::size_t first = (n - begin) * weights.size();
      summary.aleatoric[n] =
          carried_entropy(model.weights(), mixture, n, weights, carried.log_det().subspan(first, weights.size()));
      for (std::size_t d = 0; d < D; ++d) {
        std::vector<double> values(weights.size());
        for (std::size_t k = 0; k < values.size(); ++k) {
          values[k] = carried.outputs()[(first + k) * D + d];
        }
        marginal.assign(values, weights);
        summary.mean[n * D + d] = marginal.mean();
        summary.stddev[n * D + d] = marginal.stddev();
        writer.write(n * D + d, marginal);
      }
    }
  }
}

// With one output the map is an increasing function, so it maps quantiles and ranks exactly.
void carry_ranks(const Ensemble& model, std::span<const double> inputs, const Mixture<double>& mixture,
                 const SummaryOptions& options, Summary& summary) {
  const std::size_t M = mixture.num_components;
  const std::size_t Q = options.quantiles.size();
  const auto marginal_of = [&](std::size_t n) {
    const auto first = static_cast<std::ptrdiff_t>(n * M);
    const auto last = static_cast<std::ptrdiff_t>((n + 1) * M);
    return GaussianMarginal{model.weights(),
                            {mixture.mean.begin() + first, mixture.mean.begin() + last},
                            {mixture.stddev.begin() + first, mixture.stddev.begin() + last}};
  };
  std::vector<double> base;
  for (std::size_t n = 0; n < mixture.num_inputs; ++n) {
    const GaussianMarginal marginal = marginal_of(n);
    for (const double quantile : options.quantiles) {
      base.push_back(marginal.quantile(quantile));
    }
  }
  if (Q > 0) {
    model.carry(inputs, Q, base, summary.quantile, {}, options.executor);
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
  check(mixture.num_inputs * model.num_input_columns() == inputs.size() && mixture.num_outputs == model.num_outputs() &&
            mixture.num_components == model.num_components(),
        "a mixture of {} inputs, {} components and {} outputs does not belong to {} input values", mixture.num_inputs,
        mixture.num_components, mixture.num_outputs, inputs.size());
  check(options.targets.empty() || options.targets.size() == mixture.num_inputs * mixture.num_outputs,
        "{} target values for {} rows of {}", options.targets.size(), mixture.num_inputs, mixture.num_outputs);
  for (const double quantile : options.quantiles) {
    check(quantile > 0 && quantile < 1, "quantile {} is not between 0 and 1", quantile);
  }
  Summary summary;
  if (model.output_map().is_separable()) {
    summarise_gaussians(model, mixture, options, summary);
    return summary;
  }
  summarise_points(model, inputs, mixture, options, summary);
  if (model.num_outputs() == 1) {
    carry_ranks(model, inputs, mixture, options, summary);
  }
  return summary;
}

std::vector<double> predictive_mean(const Ensemble& model, std::span<const double> inputs, Executor* executor) {
  const Mixture<double> mixture = model.predict(inputs, executor);
  const std::size_t M = mixture.num_components;
  const std::size_t D = mixture.num_outputs;
  const std::vector<double>& weights = model.weights().value;
  std::vector<double> mean(mixture.num_inputs * D, 0.0);
  if (model.output_map().is_separable()) {
    for (std::size_t k = 0; k < mixture.mean.size(); ++k) {
      const double own =
          model.columns().is_log(k % D) ? log_normal_mean(mixture.mean[k], mixture.stddev[k]) : mixture.mean[k];
      mean[k / (M * D) * D + k % D] += weights[k / D % M] * own;
    }
    return mean;
  }
  const NormalPoints points = mean_points(D, kMeanPoints);
  const std::size_t K = points.size();
  // carry() computes each point by itself, so a row's bits do not depend on its block: blocks may depend on threads.
  const std::size_t most = std::max<std::size_t>(1, std::min(kCarriedPoints / (M * K), kCarriedValues / (M * K * D)));
  const std::size_t threads = num_threads(executor);
  const std::size_t share = threads > 1 ? mixture.num_inputs / (4 * threads) : most;
  const std::size_t rows_at_a_time = std::clamp<std::size_t>(share, 1, most);
  for_blocks(
      executor, mixture.num_inputs, rows_at_a_time, [&] { return CarriedPoints(model, points); },
      [&](std::size_t begin, std::size_t end, CarriedPoints& carried) {
        carried.carry(inputs, mixture, begin, end, false, nullptr);
        const double* output = carried.outputs().data();
        for (std::size_t n = begin; n < end; ++n) {
          for (std::size_t m = 0; m < M; ++m) {
            for (std::size_t k = 0; k < K; ++k) {
              const double weight = weights[m] * points.weight[k];
              for (std::size_t d = 0; d < D; ++d) {
                mean[n * D + d] += weight * *output++;
              }
            }
          }
        }
      });
  return mean;
}

}  // namespace dissent
