#include "dissent/estimator/monte_carlo.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <vector>

#include "dissent/base/executor.hpp"
#include "dissent/estimator/methods.hpp"

namespace dissent {
namespace {

constexpr std::size_t kFewestPerComponent = 2;  // to see how its samples spread

// The sample's distance from its component's mean: factor times noise. Samples are kept in this form, not as y, since
// an offset common to all components would cost them digits.
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

// Draws samples from one component after the other.
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

  // Adds the terms log1p(...) of `count` samples from component j.
  void sample(std::size_t j, std::size_t count, const NoiseSource& noise, Moments& moments) {
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

SampleShares share_samples(const Weights& weights, std::size_t num_samples, double offset) {
  constexpr double kHair = 1e-12;  // 5000 samples over 5 weights of 1/5 are 1000 each although 1/5 is rounded
  const auto K = static_cast<double>(num_samples);
  SampleShares shares{std::vector<std::size_t>(weights.size()), weights.value};
  const bool two_each = std::ranges::all_of(
      weights.value, [&](double w) { return w == 0 || w * K * (1 + kHair) >= kFewestPerComponent; });
  double end = 0;
  std::size_t given = 0;
  for (const std::size_t m : present_components(weights)) {
    if (two_each) {
      shares.count[m] = static_cast<std::size_t>(std::ceil(weights.value[m] * K * (1 - kHair)));
      continue;
    }
    end += weights.value[m];  // points k with (k + offset) / K < end belong to this component or an earlier one
    const auto below = static_cast<std::size_t>(std::max(0.0, std::ceil(end * K - offset)));
    shares.count[m] = std::min(below, num_samples) - given;
    given += shares.count[m];
  }
  if (!two_each) {
    shares.count[present_components(weights).back()] += num_samples - given;  // if weights round to less than 1
    std::ranges::transform(shares.count, shares.weight.begin(),
                           [&](std::size_t n) { return static_cast<double>(n) / K; });
  }
  return shares;
}

namespace {

// Sums each component's samples separately, as strata.
void sum_strata(Sampler& sampler, const SampleShares& shares, const NoiseSource& noise, MonteCarloResult& result) {
  double variance = 0;
  double third_moment = 0;
  for (std::size_t j = 0; j < shares.count.size(); ++j) {
    if (shares.count[j] == 0) {
      continue;
    }
    Moments moments;
    sampler.sample(j, shares.count[j], noise, moments);
    const double n = static_cast<double>(shares.count[j]);
    const double share = shares.weight[j];
    result.deficit += share * moments.mean;
    variance += share * share * moments.squares / ((n - 1) * n);
    third_moment += share * share * share * moments.cubes / (n * n * n);
  }
  result.standard_error = std::sqrt(variance);
  result.skewness = variance > 0 ? third_moment / (variance * result.standard_error) : 0;
}

// Sums all samples alike: a component with one sample or none shows no spread of its own.
void sum_samples(Sampler& sampler, const SampleShares& shares, const NoiseSource& noise, MonteCarloResult& result) {
  Moments moments;
  for (std::size_t j = 0; j < shares.count.size(); ++j) {
    sampler.sample(j, shares.count[j], noise, moments);
  }
  const double n = static_cast<double>(moments.count);
  result.deficit = moments.mean;
  result.standard_error =
      moments.count < 2 ? std::numeric_limits<double>::infinity() : std::sqrt(moments.squares / ((n - 1) * n));
  result.skewness = moments.squares > 0 ? moments.cubes / std::pow(moments.squares, 1.5) : 0;
}

}  // namespace

MonteCarloResult monte_carlo_input(const InputComponents& components, const Weights& weights,
                                   const SampleShares& shares, const NoiseSource& noise) {
  MonteCarloResult result;
  const std::vector<std::size_t> present = present_components(weights);
  if (present.size() < 2) {
    return result;
  }
  // Equal components tell nothing: the deficit is H(w) to the last bit, without a sample.
  if (all_equal(components, present)) {
    result.deficit = weights.entropy;
    return result;
  }
  Sampler sampler(components, weights, present);
  const bool strata =
      std::ranges::all_of(present, [&](std::size_t m) { return shares.count[m] >= kFewestPerComponent; });
  strata ? sum_strata(sampler, shares, noise, result) : sum_samples(sampler, shares, noise, result);
  result.num_samples = std::accumulate(shares.count.begin(), shares.count.end(), std::size_t{0});
  return result;
}

MonteCarloResult monte_carlo_input(const InputComponents& components, const Weights& weights, std::size_t num_samples,
                                   std::uint64_t seed, std::size_t input) {
  const Stream input_stream(seed, Purpose::kMonteCarlo, input);
  Stream stream = input_stream;
  const double offset = input_stream.substream(weights.size()).uniform();
  return monte_carlo_input(components, weights, share_samples(weights, num_samples, offset),
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
