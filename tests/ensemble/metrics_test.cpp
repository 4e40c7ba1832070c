#include "dissent/ensemble/metrics.hpp"

#include <gtest/gtest.h>

#include <cmath>
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
      const Summary summary =
          summarise(c.model, x, c.model.predict(x), {.quantiles = {0.1, 0.5, 0.9}, .targets = target, .pool = nullptr});
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
