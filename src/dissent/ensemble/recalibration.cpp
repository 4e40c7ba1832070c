#include "dissent/ensemble/recalibration.hpp"

#include <algorithm>
#include <cmath>

#include "dissent/base/error.hpp"
#include "dissent/base/special.hpp"
#include "dissent/ensemble/output_map.hpp"

namespace dissent {
namespace {

constexpr int kMaxSteps = 1000;
constexpr double kTolerance = 1e-9;  // of ln f: far below its standard error

void check_rows(const Mixture<double>& mixture, std::span<const double> values) {
  check(mixture.covariance.empty(), "full covariances have no stddev to scale");
  check(values.size() == mixture.num_inputs * mixture.num_outputs, "{} values for {} rows of {}", values.size(),
        mixture.num_inputs, mixture.num_outputs);
  check(mixture.num_inputs >= kMinRecalibrationRows, "{} rows; at least {} are required", mixture.num_inputs,
        kMinRecalibrationRows);
  for (std::size_t k = 0; k < values.size(); ++k) {
    check(std::isfinite(values[k]), "value [{}, {}] is {}; it must be finite", k / mixture.num_outputs,
          k % mixture.num_outputs, values[k]);
  }
  validate(mixture.view());
}

}  // namespace

std::vector<double> spread_factors(const Mixture<double>& mixture, const Weights& weights,
                                   std::span<const double> values) {
  check_rows(mixture, values);
  const std::size_t N = mixture.num_inputs;
  const std::size_t M = mixture.num_components;
  const std::size_t D = mixture.num_outputs;
  check(weights.size() == M, "{} weights for {} components", weights.size(), M);
  std::vector<double> square(mixture.mean.size());  // ((y - mean) / stddev)^2
  std::vector<double> constant(N * M, 0);           // of the log density, without the factors' part
  for (std::size_t k = 0; k < square.size(); ++k) {
    const double z = (values[k / (M * D) * D + k % D] - mixture.mean[k]) / mixture.stddev[k];
    square[k] = z * z;
    constant[k / D] -= std::log(mixture.stddev[k]);
  }
  std::vector<double> variance(D, 1);  // f^2
  std::vector<double> next(D);
  std::vector<double> share(M);
  for (int step = 0; step < kMaxSteps; ++step) {
    std::ranges::fill(next, 0.0);
    for (std::size_t n = 0; n < N; ++n) {
      for (std::size_t m = 0; m < M; ++m) {
        const double* z2 = &square[(n * M + m) * D];
        double sum = weights.log[m] + constant[n * M + m];
        for (std::size_t d = 0; d < D; ++d) {
          sum -= 0.5 * z2[d] / variance[d];
        }
        share[m] = sum;
      }
      const double total = log_sum_exp(share);
      for (std::size_t m = 0; m < M; ++m) {
        const double r = std::exp(share[m] - total);
        for (std::size_t d = 0; d < D; ++d) {
          next[d] += r * square[(n * M + m) * D + d];
        }
      }
    }
    double change = 0;
    for (std::size_t d = 0; d < D; ++d) {
      next[d] = std::clamp(next[d] / static_cast<double>(N), kLeastSpreadFactor * kLeastSpreadFactor,
                           kMostSpreadFactor * kMostSpreadFactor);
      change = std::max(change, std::abs(std::log(next[d] / variance[d])));
    }
    variance = next;
    if (change < 2 * kTolerance) {
      break;
    }
  }
  std::ranges::transform(variance, variance.begin(), [](double v) { return std::sqrt(v); });
  return variance;
}

void scale_spread(Mixture<double>& mixture, std::span<const double> factors) {
  check(mixture.covariance.empty() && factors.size() == mixture.num_outputs, "{} factors for stddevs of {} outputs",
        factors.size(), mixture.num_outputs);
  for (std::size_t k = 0; k < mixture.stddev.size(); ++k) {
    mixture.stddev[k] *= factors[k % factors.size()];
  }
}

std::vector<double> recalibrate(Ensemble& model, std::span<const double> inputs, std::span<const double> targets,
                                Executor* executor) {
  const Mixture<double> mixture = model.predict(inputs, executor);
  std::vector<double> base(targets.size());
  std::vector<double> log_det(mixture.num_inputs);
  model.to_base(inputs, targets, base, log_det, executor);
  const std::vector<double> of_base = spread_factors(mixture, model.weights(), base);
  const std::vector<std::size_t> target = model.output_map().targets_of_base();
  std::vector<double> factors(of_base.size());
  for (std::size_t k = 0; k < factors.size(); ++k) {
    factors[target[k]] = of_base[k];
  }
  model.scale_spread(factors);
  return factors;
}

}  // namespace dissent
