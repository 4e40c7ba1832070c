// How long estimators take, and how many samples the time of a pairwise estimate is worth.
#include <algorithm>
#include <chrono>
#include <cmath>
#include <set>
#include <utility>

#include "dissent/base/random.hpp"
#include "dissent/estimator/estimator.hpp"
#include "dissent/statistics/location.hpp"
#include "dissent/study/measure.hpp"
#include "dissent/study/measure_parts.hpp"

namespace dissent {
namespace {

constexpr std::size_t kUsualComponents = 5;
constexpr std::size_t kMostInputs = 10'000;
constexpr double kMixtureValues = 2e6;  // numbers in a mixture, at most

using Clock = std::chrono::steady_clock;

struct Shape {
  std::size_t outputs = 0;
  std::size_t components = 0;
  auto operator<=>(const Shape&) const = default;

  double size() const { return static_cast<double>(outputs * components); }
};

std::vector<Shape> shapes(const MeasureOptions& options) {
  std::set<Shape> all;
  for (const std::size_t outputs : options.outputs) {
    all.insert({outputs, kUsualComponents});
  }
  for (const std::size_t components : options.components) {
    all.insert({std::ranges::max(options.outputs), components});
  }
  return {all.begin(), all.end()};
}

// Components that differ by about as much as they spread, over all outputs together.
Mixture<double> drawn_mixture(const Shape& shape, std::size_t num_inputs, std::uint64_t seed) {
  Mixture<double> mixture = Mixture<double>::diagonal(num_inputs, shape.components, shape.outputs);
  Stream stream(seed, Purpose::kSample);
  stream.fill_normal(mixture.mean);
  const double apart = 1 / std::sqrt(static_cast<double>(shape.outputs));
  for (double& mean : mixture.mean) {
    mean *= apart;
  }
  for (double& stddev : mixture.stddev) {
    stddev = std::exp(apart * 0.3 * stream.normal());
  }
  return mixture;
}

std::size_t num_inputs(double values, double values_per_input) {
  return std::clamp(static_cast<std::size_t>(values / values_per_input), std::size_t{2}, kMostInputs);
}

// Seconds for one input, the median of several runs.
double seconds_of(const Estimator& estimator, const MixtureView<double>& mixture, std::size_t repeats) {
  std::vector<double> seconds;
  for (std::size_t k = 0; k < repeats; ++k) {
    const Clock::time_point start = Clock::now();
    estimate(estimator, mixture);
    seconds.push_back(std::chrono::duration<double>(Clock::now() - start).count());
  }
  return median(seconds) / static_cast<double>(mixture.num_inputs);
}

}  // namespace

std::vector<Measurement> measure_seconds(const MeasureOptions& options) {
  std::vector<Measurement> all;
  const std::vector<Shape> timed = shapes(options);
  std::size_t done = 0;
  for (const Shape& shape : timed) {
    for (std::uint64_t seed = 0; seed < options.num_seeds; ++seed) {
      const Mixture<double> mixture = drawn_mixture(shape, num_inputs(kMixtureValues, shape.size()), seed);
      const auto add = [&](const Estimator& estimator, std::size_t inputs) {
        all.push_back({.kind = "seconds",
                       .estimator = estimator.name(),
                       .outputs = shape.outputs,
                       .components = shape.components,
                       .samples = estimator.count,
                       .seed = seed,
                       .value = seconds_of(estimator, mixture.view().rows(0, inputs), options.repeats)});
      };
      for (const std::string_view name : kPairwiseEstimators) {
        add(parse_estimator(name), mixture.num_inputs);
      }
      for (const std::size_t samples : options.samples) {
        const double per_input = shape.size() * static_cast<double>(samples);
        add(parse_estimator(fmt::format("mc:{}", samples)),
            std::min(mixture.num_inputs, num_inputs(options.sampled_values, per_input)));
      }
      if (options.progress) {
        options.progress("times", ++done, timed.size() * options.num_seeds);
      }
    }
  }
  return all;
}

namespace {

// Linear between the numbers of samples that were timed; below the least of them, linear from 0 samples in no time.
double samples_in(double seconds, const std::vector<std::pair<double, double>>& timed) {
  std::pair<double, double> below{0, 0};  // samples, seconds
  for (const auto& at : timed) {
    if (seconds <= at.second || at == timed.back()) {
      const double slope = (at.first - below.first) / std::max(at.second - below.second, 1e-12);
      return below.first + slope * (seconds - below.second);
    }
    below = at;
  }
  return 0;
}

bool same_place(const Measurement& a, const Measurement& b) {
  return a.outputs == b.outputs && a.components == b.components && a.seed == b.seed;
}

}  // namespace

std::vector<Measurement> matched_samples(std::span<const Measurement> seconds) {
  std::vector<Measurement> all;
  for (const Measurement& pairwise : seconds) {
    if (pairwise.samples > 0) {
      continue;
    }
    std::vector<std::pair<double, double>> timed;
    for (const Measurement& sampled : seconds) {
      if (sampled.samples > 0 && same_place(sampled, pairwise)) {
        timed.emplace_back(static_cast<double>(sampled.samples), sampled.value);
      }
    }
    Measurement matched = pairwise;
    matched.kind = "matched_samples";
    matched.value = samples_in(pairwise.value, timed);
    all.push_back(matched);
  }
  return all;
}

}  // namespace dissent
