#include "dissent/estimator/monte_carlo.hpp"

#include <algorithm>
#include <cmath>
#include <vector>

#include "dissent/base/executor.hpp"
#include "dissent/estimator/methods.hpp"

namespace dissent {
namespace {

// The sample's distance from its component's mean, factor noise. Samples are held so, and not as y, since an offset
// common to all components would eat their digits.
void scale_noise(const DiagonalGaussian& g, std::span<const double> noise, std::span<double> step) {
  for (std::size_t d = 0; d < step.size(); ++d) {
    step[d] = g.stddev[d] * noise[d];
  }
}

void scale_noise(const FullGaussian& g, std::span<const double> noise, std::span<double> step) {
  const auto size = static_cast<Eigen::Index>(step.size());
  Eigen::Map<Eigen::VectorXd>(step.data(), size) =
      g.factor.triangularView<Eigen::Lower>() * Eigen::Map<const Eigen::VectorXd>(noise.data(), size);
}

// -1/2 |z|^2, the part of g's log density that depends on y, at y = (mean of `from`) + step.
double exponent(const DiagonalGaussian& g, const DiagonalGaussian& from, std::span<const double> step) {
  double squares = 0;
  for (std::size_t d = 0; d < step.size(); ++d) {
    const double z = ((from.mean[d] - g.mean[d]) + step[d]) / g.stddev[d];
    squares += z * z;
  }
  return -0.5 * squares;
}

double exponent(const FullGaussian& g, const FullGaussian& from, std::span<const double> step) {
  const Eigen::Map<const Eigen::VectorXd> at(step.data(), static_cast<Eigen::Index>(step.size()));
  return -0.5 * g.factor.triangularView<Eigen::Lower>().solve((from.mean - g.mean) + at).squaredNorm();
}

// Calls f(component i, component j) with the components' own type.
template <class F>
auto visit_pair(const InputComponents& components, std::size_t i, std::size_t j, const F& f) {
  return components.diagonal() ? f(components.diagonal_component(i), components.diagonal_component(j))
                               : f(components.full_component(i), components.full_component(j));
}

// log1p(sum_k exp(x_k)): log-sum-exp with the number 1 among the terms.
double log_one_plus_sum_exp(std::span<const double> x) {
  const double high = std::max(0.0, *std::ranges::max_element(x));
  if (high == 0) {
    double sum = 0;
    for (const double v : x) {
      sum += std::exp(v);
    }
    return std::log1p(sum);
  }
  double sum = std::exp(-high);
  for (const double v : x) {
    sum += std::exp(v - high);
  }
  return high + std::log(sum);
}

// The components of positive weight.
std::vector<std::size_t> present_components(const Weights& weights) {
  std::vector<std::size_t> present;
  for (std::size_t m = 0; m < weights.size(); ++m) {
    if (weights.value[m] > 0) {
      present.push_back(m);
    }
  }
  return present;
}

bool all_equal(const InputComponents& components, const std::vector<std::size_t>& present) {
  return std::ranges::all_of(present, [&](std::size_t m) {
    return visit_pair(components, present[0], m, [](const auto& p, const auto& q) { return equal(p, q); });
  });
}

// Mean and the sums of squared and cubed deviations, by Welford's update.
struct Moments {
  std::size_t count = 0;
  double mean = 0;
  double squares = 0;
  double cubes = 0;

  void add(double term) {
    const double n = static_cast<double>(++count);
    const double delta = term - mean;
    const double step_of_mean = delta / n;
    const double square = delta * step_of_mean * (n - 1);
    cubes += square * step_of_mean * (n - 2) - 3 * step_of_mean * squares;
    squares += square;
    mean += step_of_mean;
  }
};

// Samples of one component after the other.
class Sampler {
 public:
  Sampler(const InputComponents& components, const Weights& weights, const std::vector<std::size_t>& present)
      : components_(components),
        present_(present),
        offset_(components.num_components()),
        draw_(components.num_outputs()),
        step_(components.num_outputs()),
        ratios_(present.size() - 1) {
    for (const std::size_t m : present) {
      offset_[m] = weights.log[m] - components.visit(m, [](const auto& g) { return sum_log_stddev(g); });
    }
  }

  // The terms log1p(...) of `count` samples from component j.
  Moments sample(std::size_t j, std::size_t count, const NoiseSource& noise) {
    Moments moments;
    for (std::size_t k = 0; k < count; ++k) {
      noise(j, k, draw_);
      components_.visit(j, [&](const auto& g) { scale_noise(g, draw_, step_); });
      double own = 0;
      for (const double z : draw_) {
        own -= 0.5 * z * z;
      }
      std::size_t at = 0;
      for (const std::size_t i : present_) {
        if (i != j) {
          const double other =
              visit_pair(components_, i, j, [&](const auto& g, const auto& from) { return exponent(g, from, step_); });
          ratios_[at++] = (other - own) + (offset_[i] - offset_[j]);
        }
      }
      moments.add(log_one_plus_sum_exp(ratios_));
    }
    return moments;
  }

 private:
  const InputComponents& components_;
  const std::vector<std::size_t>& present_;
  std::vector<double> offset_;  // ln w_m - ln of the normaliser
  std::vector<double> draw_;
  std::vector<double> step_;
  std::vector<double> ratios_;
};

}  // namespace

std::size_t samples_of_component(const Weights& weights, std::size_t m, std::size_t num_samples) {
  if (weights.value[m] == 0) {
    return 0;
  }
  // Less a hair, so that 5000 samples over 5 weights of 1/5 are 1000 each although 1/5 is rounded.
  const double share = std::ceil(weights.value[m] * static_cast<double>(num_samples) * (1 - 1e-12));
  return std::max<std::size_t>(2, static_cast<std::size_t>(share));
}

MonteCarloResult monte_carlo_input(const InputComponents& components, const Weights& weights, std::size_t num_samples,
                                   const NoiseSource& noise) {
  MonteCarloResult result;
  const std::vector<std::size_t> present = present_components(weights);
  if (present.size() < 2) {
    return result;
  }
  // Equal components say nothing about each other, to the last bit and without a sample.
  if (all_equal(components, present)) {
    result.deficit = weights.entropy;
    return result;
  }
  Sampler sampler(components, weights, present);
  double variance = 0;
  double third_moment = 0;
  for (const std::size_t j : present) {
    const std::size_t count = samples_of_component(weights, j, num_samples);
    const Moments moments = sampler.sample(j, count, noise);
    const double n = static_cast<double>(count);
    const double share = weights.value[j];
    result.deficit += share * moments.mean;
    variance += share * share * moments.squares / ((n - 1) * n);
    third_moment += share * share * share * moments.cubes / (n * n * n);
    result.num_samples += count;
  }
  result.standard_error = std::sqrt(variance);
  result.skewness = variance > 0 ? third_moment / (variance * result.standard_error) : 0;
  return result;
}

MonteCarloResult monte_carlo_input(const InputComponents& components, const Weights& weights, std::size_t num_samples,
                                   std::uint64_t seed, std::size_t input) {
  const Stream input_stream(seed, Purpose::kMonteCarlo, input);
  Stream stream = input_stream;
  return monte_carlo_input(components, weights, num_samples,
                           [&](std::size_t component, std::size_t sample, std::span<double> draw) {
                             if (sample == 0) {
                               stream = input_stream.substream(component);
                             }
                             stream.fill_normal(draw);
                           });
}

template <class T>
Uncertainty monte_carlo(std::size_t num_samples, const MixtureView<T>& mixture, const EstimateOptions& options) {
  const Weights& weights = *mixture.weights;
  Uncertainty result = Uncertainty::of(mixture.num_inputs, kMonteCarloExtras);
  std::vector<double>& standard_error = result.extra("standard_error");
  for_blocks(
      options.executor, mixture.num_inputs, 1, [] { return InputComponents(); },
      [&](std::size_t n, std::size_t, InputComponents& components) {
        components.load(mixture, n, options.first_input + n);
        const MonteCarloResult mc =
            monte_carlo_input(components, weights, num_samples, options.seed, options.first_input + n);
        std::vector<double> sums(components.num_components());
        for (std::size_t m = 0; m < sums.size(); ++m) {
          sums[m] = components.visit(m, [](const auto& g) { return sum_log_stddev(g); });
        }
        result.epistemic[n] = std::max(0.0, weights.entropy - mc.deficit);
        result.log_deficit[n] = std::log(std::min(mc.deficit, weights.entropy));
        result.aleatoric[n] = mean_entropy(weights, mixture.num_outputs, sums.data(), 1);
        result.total[n] = result.aleatoric[n] + result.epistemic[n];
        standard_error[n] = mc.standard_error;
      });
  return result;
}

template Uncertainty monte_carlo(std::size_t, const MixtureView<float>&, const EstimateOptions&);
template Uncertainty monte_carlo(std::size_t, const MixtureView<double>&, const EstimateOptions&);

}  // namespace dissent
