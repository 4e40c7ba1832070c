#include "dissent/ensemble/metrics.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <vector>

#include "dissent/base/error.hpp"
#include "dissent/base/random.hpp"
#include "dissent/ensemble/fit.hpp"
#include "dissent/ensemble/summary.hpp"

namespace dissent {
namespace {

TEST(Metrics, ByHand) {
  const std::vector<double> predicted{1, 2, 3, 4};
  const std::vector<double> actual{1, 0, 0, 0};
  EXPECT_DOUBLE_EQ(rmse(predicted, actual), std::sqrt((4 + 9 + 16) / 4.0));
  EXPECT_DOUBLE_EQ(rmse_paper(predicted, actual, 2), (std::sqrt(2) + std::sqrt(12.5)) / 2);
  EXPECT_DOUBLE_EQ(mean_absolute_error(predicted, actual), 9 / 4.0);
  EXPECT_DOUBLE_EQ(spearman(predicted, actual), -std::sqrt(0.6));  // ranks 0 1 2 3 and 3 1 1 1
  EXPECT_DOUBLE_EQ(spearman(predicted, predicted), 1);
  EXPECT_TRUE(std::isnan(spearman(predicted, std::vector<double>(4, 1.0))));
  EXPECT_THROW(rmse(predicted, {}), InputError);
  EXPECT_THROW(rmse_paper(predicted, actual, 3), InputError);
}

TEST(Metrics, CalibrationErrorOfUniformRanksIsZero) {
  std::vector<double> cdf;
  for (int k = 0; k < 2000; ++k) {
    cdf.push_back((k + 0.5) / 2000);
  }
  EXPECT_NEAR(calibration_error(cdf), 0, 1e-12);
  EXPECT_NEAR(calibration_error(std::vector<double>(10, 0.5)), 0.2631578947368421, 1e-12);  // mean of |[p >= 1/2] - p|
}

// scipy.stats.spearmanr of the same numbers.
TEST(Metrics, SpearmanWithTies) {
  EXPECT_NEAR(spearman(std::vector<double>{1, 2, 2, 3, 5, 5, 5}, std::vector<double>{2, 1, 4, 4, 3, 6, 7}),
              0.6702887344438079, 1e-12);
}

// Gaussian mixtures at N inputs, and what belongs to them; the inputs do not matter.
struct Mixed {
  Mixture<double> mixture;
  Ensemble model;
  std::vector<double> x;
};

Mixed make_mixed(std::size_t N, std::size_t M) {
  Mixed mixed{Mixture<double>::diagonal(N, M, 1),
              Ensemble({.model = Model::kPne, .num_components = M}, {{"x"}, {"y"}, {{0}, {1}}, {{0}, {1}}}),
              std::vector<double>(N, 0.0)};
  Stream stream(9, Purpose::kTest);
  for (std::size_t k = 0; k < N * M; ++k) {
    mixed.mixture.mean[k] = 3 * stream.normal();
    mixed.mixture.stddev[k] = std::exp(stream.normal());
  }
  return mixed;
}

double mixture_cdf(const Mixture<double>& mixture, std::size_t n, double y) {
  const std::size_t M = mixture.num_components;
  double sum = 0;
  for (std::size_t k = n * M; k < (n + 1) * M; ++k) {
    sum += 0.5 * std::erfc((mixture.mean[k] - y) / (mixture.stddev[k] * std::sqrt(2.0))) / static_cast<double>(M);
  }
  return sum;
}

// CRPS by its definition: the integral of (F(t) - [t >= y])^2.
double crps_by_definition(const std::function<double(double)>& cdf, double y, double low, double high) {
  constexpr int kSteps = 20'000;
  double sum = 0;
  for (const auto& [begin, end] : {std::pair(low, y), std::pair(y, high)}) {
    for (int k = 0; k < kSteps; ++k) {
      const double step = (end - begin) / kSteps;
      const double p = cdf(begin + (k + 0.5) * step) - (begin == y ? 1 : 0);
      sum += step * p * p;
    }
  }
  return sum;
}

TEST(Summary, OfGaussianMixturesFollowsTheDefinitions) {
  constexpr std::size_t N = 20;
  const Mixed mixed = make_mixed(N, 4);
  std::vector<double> y(N);
  Stream stream(10, Purpose::kTest);
  std::ranges::generate(y, [&] { return 5 * stream.normal(); });
  const Summary summary = summarise(mixed.model, mixed.x, mixed.mixture,
                                    {.quantiles = {0.001, 0.3, 0.95}, .targets = y, .executor = nullptr});
  for (std::size_t n = 0; n < N; ++n) {
    const auto cdf = [&](double t) { return mixture_cdf(mixed.mixture, n, t); };
    EXPECT_NEAR(summary.cdf[n], cdf(y[n]), 1e-14);
    EXPECT_NEAR(summary.crps[n], crps_by_definition(cdf, y[n], -150, 150), 1e-4);
    for (std::size_t q = 0; q < 3; ++q) {
      EXPECT_NEAR(cdf(summary.quantile[3 * n + q]), (std::vector{0.001, 0.3, 0.95})[q], 1e-12);
    }
  }
}

// Values drawn from the mixtures themselves: every share is nominal. Standard errors: 0.0047 of coverage.
TEST(Summary, OfTheTruthIsCalibrated) {
  constexpr std::size_t N = 4000;
  const Mixed mixed = make_mixed(N, 3);
  Stream stream(13, Purpose::kTest);
  std::vector<double> y(N);
  for (std::size_t n = 0; n < N; ++n) {
    const std::size_t k = 3 * n + stream.below(3);
    y[n] = mixed.mixture.mean[k] + mixed.mixture.stddev[k] * stream.normal();
  }
  const Summary summary = summarise(mixed.model, mixed.x, mixed.mixture, {.targets = y});
  const auto covered = std::ranges::count_if(summary.cdf, [](double p) { return p >= 0.05 && p <= 0.95; });
  EXPECT_NEAR(static_cast<double>(covered) / N, 0.9, 5 * 0.0047);
  EXPECT_LT(calibration_error(summary.cdf), 0.025);  // the mean of 19 shares, each with standard error <= 0.008
}

// exp of these log densities is zero in double precision; the sum of squares is not.
TEST(Metrics, LogLikelihoodOf257OutputsDoesNotUnderflow) {
  constexpr std::size_t kOutputs = 257;
  constexpr std::size_t kComponents = 3;
  EnsembleColumns columns{{"x"}, {}, {{0}, {1}}, {std::vector<double>(kOutputs, 0), std::vector<double>(kOutputs, 1)}};
  for (std::size_t d = 0; d < kOutputs; ++d) {
    columns.targets.push_back(fmt::format("y{}", d));
  }
  const Ensemble model({.model = Model::kPne, .num_components = kComponents}, columns);
  const std::vector<double> x{0.5};
  const std::vector<double> y(kOutputs, 30.0);
  const Mixture<double> mixture = model.predict(x);
  std::vector<long double> terms;
  for (std::size_t m = 0; m < kComponents; ++m) {
    long double sum = 0;
    for (std::size_t k = m * kOutputs; k < (m + 1) * kOutputs; ++k) {
      const long double z = (30.0L - mixture.mean[k]) / mixture.stddev[k];
      sum -=
          0.5L * z * z + std::log(static_cast<long double>(mixture.stddev[k])) + 0.5L * std::log(2 * std::acos(-1.0L));
    }
    terms.push_back(sum);
    EXPECT_EQ(std::exp(static_cast<double>(sum)), 0);
  }
  const long double top = *std::ranges::max_element(terms);
  long double rest = 0;
  for (const long double term : terms) {
    rest += std::exp(term - top);
  }
  const auto expected = static_cast<double>(top + std::log(rest) - std::log(static_cast<long double>(kComponents)));
  const Metrics metrics = evaluate(model, x, y);
  EXPECT_NEAR(metrics.log_likelihood, expected, 1e-9 * std::abs(expected));
  EXPECT_LT(metrics.log_likelihood, -10'000);
}

struct Case {
  std::vector<double> x, y;
  Ensemble model;
};

Case make_case(Model model, std::size_t num_outputs) {
  std::vector<double> x, y;
  std::vector<std::string> names;
  Stream stream(3, Purpose::kTest);
  for (std::size_t d = 0; d < num_outputs; ++d) {
    names.push_back(fmt::format("y{}", d));
  }
  for (int n = 0; n < 400; ++n) {
    x.push_back(stream.uniform());
    for (std::size_t d = 0; d < num_outputs; ++d) {
      y.push_back(5 * x.back() + stream.normal());
    }
  }
  EnsembleOptions options;
  options.model = model;
  options.num_components = 3;
  Ensemble fitted = fit(options, {.epochs = 100}, {{"x"}, names, x, y}).model;
  return {x, y, std::move(fitted)};
}

// Against many draws from the model itself.
TEST(Summary, AgreesWithSamples) {
  for (const Model model : {Model::kPne, Model::kFlow}) {
    for (const std::size_t D : {1, 2}) {
      const Case c = make_case(model, D);
      const std::vector<double> x{0.3};
      const std::vector<double> target(D, 2.0);
      const Summary summary = summarise(c.model, x, c.model.predict(x),
                                        {.quantiles = {0.1, 0.5, 0.9}, .targets = target, .executor = nullptr});
      constexpr std::size_t kSamples = 40'000;
      const std::vector<double> samples = c.model.sample(x, kSamples, 1);
      // Monte Carlo errors stay below 0.01 stddevs (five of them: 0.03); the fixed draws for D = 2 add 1 / sqrt(768).
      const double tolerance = D == 1 || model == Model::kPne ? 0.04 : 0.2;
      for (std::size_t d = 0; d < D; ++d) {
        double mean = 0;
        double square = 0;
        double absolute = 0;
        double spread = 0;
        double below = 0;
        for (std::size_t s = 0; s < kSamples; ++s) {
          const double y = samples[s * D + d];
          const double other = samples[(s + 1) % kSamples * D + d];
          mean += y / kSamples;
          square += y * y / kSamples;
          absolute += std::abs(y - target[d]) / kSamples;
          spread += std::abs(y - other) / kSamples;
          below += y <= target[d] ? 1.0 / kSamples : 0;
        }
        const double stddev = std::sqrt(square - mean * mean);
        EXPECT_NEAR(summary.mean[d], mean, tolerance * stddev);
        EXPECT_NEAR(summary.stddev[d], stddev, tolerance * stddev);
        EXPECT_NEAR(summary.cdf[d], below, tolerance);
        EXPECT_NEAR(summary.crps[d], absolute - 0.5 * spread, tolerance * stddev);
        for (std::size_t q = 0; q < 3; ++q) {
          const double quantile = summary.quantile[d * 3 + q];
          double share = 0;
          for (std::size_t s = 0; s < kSamples; ++s) {
            share += samples[s * D + d] <= quantile ? 1.0 / kSamples : 0;
          }
          EXPECT_NEAR(share, 0.1 + 0.4 * static_cast<double>(q), tolerance);
        }
      }
    }
  }
}

// One output of flow, against its own density on a fine grid: nothing is shared but the model.
TEST(Summary, OfAFlowFollowsItsDensity) {
  Case c = make_case(Model::kFlow, 1);
  c.model.set_wide_component({});  // which summaries do not have
  const std::vector<double> x{0.3};
  const std::vector<double> target{2.2};
  const Summary summary = summarise(c.model, x, c.model.predict(x),
                                    {.quantiles = {0.05, 0.5, 0.95}, .targets = target, .executor = nullptr});
  constexpr std::size_t kPoints = 60'000;
  constexpr double kLow = -30;
  constexpr double kStep = 60.0 / kPoints;
  std::vector<double> y(kPoints);
  for (std::size_t k = 0; k < kPoints; ++k) {
    y[k] = kLow + (static_cast<double>(k) + 0.5) * kStep;
  }
  const std::vector<double> log_p = c.model.log_density(std::vector<double>(kPoints, 0.3), y);
  std::vector<double> below(kPoints + 1, 0);  // the distribution function at kLow + k kStep
  double mean = 0;
  double square = 0;
  for (std::size_t k = 0; k < kPoints; ++k) {
    const double mass = std::exp(log_p[k]) * kStep;
    below[k + 1] = below[k] + mass;
    mean += mass * y[k];
    square += mass * y[k] * y[k];
  }
  const auto cdf = [&](double t) {
    return below[static_cast<std::size_t>(std::clamp((t - kLow) / kStep, 0.0, static_cast<double>(kPoints)))];
  };
  EXPECT_NEAR(below.back(), 1, 2e-3);
  EXPECT_NEAR(summary.mean[0], mean, 5e-3);
  EXPECT_NEAR(summary.stddev[0], std::sqrt(square - mean * mean), 1e-2);
  EXPECT_NEAR(summary.cdf[0], cdf(2.2), 5e-3);
  EXPECT_NEAR(summary.crps[0], crps_by_definition(cdf, 2.2, -29, 29), 5e-3);
  for (std::size_t q = 0; q < 3; ++q) {
    EXPECT_NEAR(cdf(summary.quantile[q]), (std::vector{0.05, 0.5, 0.95})[q], 5e-3);
  }
}

// One component: the aleatoric uncertainty is the entropy, minus the mean log density of its own samples.
TEST(Summary, AleatoricIsTheEntropyInOutputSpace) {
  for (const Model model : {Model::kPne, Model::kFlow}) {
    Case c = make_case(model, 1);
    EnsembleOptions options = c.model.options();
    options.num_components = 1;
    const Ensemble single = fit(options, {.epochs = 50}, {{"x"}, {"y0"}, c.x, c.y}).model;
    const std::vector<double> x{0.6};
    constexpr std::size_t kSamples = 20'000;
    const std::vector<double> samples = single.sample(x, kSamples, 2);
    double entropy = 0;
    for (const double log_p : single.log_density(std::vector<double>(kSamples, 0.6), samples)) {
      entropy -= log_p / kSamples;
    }
    EXPECT_NEAR(summarise(single, x, single.predict(x)).aleatoric[0], entropy, 0.03);  // five standard errors: 0.025
  }
}

TEST(Metrics, OfAFittedModel) {
  for (const Model model : {Model::kPne, Model::kFlow}) {
    const Case c = make_case(model, 1);
    const Metrics metrics = evaluate(c.model, c.x, c.y);
    EXPECT_EQ(metrics.num_rows, 400U);
    EXPECT_NEAR(metrics.rmse, 1, 0.15);
    EXPECT_NEAR(metrics.sharpness, 1, 0.2);
    EXPECT_NEAR(metrics.crps, 0.56, 0.1);  // of a standard normal: 1 / sqrt(pi)
    EXPECT_NEAR(metrics.log_likelihood, -1.42, 0.12);
    EXPECT_NEAR(metrics.coverage_90, 0.9, 0.06);
    EXPECT_LT(metrics.calibration_error, 0.06);
    EXPECT_THROW(evaluate(c.model, {}, {}), InputError);
  }
}

}  // namespace
}  // namespace dissent
