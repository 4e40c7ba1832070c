#include "dissent/acquisition/sampled.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "acquisition/models.hpp"
#include "acquisition/pair_quadrature.hpp"
#include "dissent/acquisition/acquisition.hpp"
#include "dissent/acquisition/ranking.hpp"
#include "dissent/base/special.hpp"
#include "dissent/estimator/estimator.hpp"
#include "dissent/mixture/gaussian.hpp"

namespace dissent {
namespace {

using test::drawn_model;
using test::drawn_rows;

// The deficit by the definition, one sample at a time: log densities of y, batch of one or two rows.
double plain_deficit(const Mixture<double>& mixture, const Weights& weights, const std::vector<SampleNoise>& noise,
                     const std::vector<std::size_t>& rows) {
  double deficit = 0;
  for (std::size_t j = 0; j < weights.size(); ++j) {
    const std::size_t count = noise[0].num_samples(j);
    double sum = 0;
    for (std::size_t k = 0; k < count; ++k) {
      std::vector<double> total = weights.log;
      for (std::size_t r = 0; r < rows.size(); ++r) {
        InputComponents components;
        components.load(mixture.view(), rows[r], 0);
        const DiagonalGaussian own = components.diagonal_component(j);
        std::vector<double> y;
        for (std::size_t d = 0; d < mixture.num_outputs; ++d) {
          y.push_back(own.mean[d] + own.stddev[d] * noise[r].powers(j)(d, k));
        }
        for (std::size_t i = 0; i < weights.size(); ++i) {
          total[i] += log_density(components.diagonal_component(i), y);
        }
      }
      sum += log_sum_exp(total) - total[j];
    }
    deficit += count == 0 ? 0 : weights.value[j] * sum / static_cast<double>(count);
  }
  return deficit;
}

TEST(Sampled, AgreesWithTheDefinition) {
  for (const std::size_t outputs : {1UL, 3UL, 20UL}) {
    for (const bool weighted : {false, true}) {
      const Ensemble model =
          drawn_model({.num_outputs = outputs,
                       .num_components = 4,
                       .weights = weighted ? std::vector<double>{0.5, 0.3, 0, 0.2} : std::vector<double>{},
                       .gain = 1.5});
      const Mixture<double> mixture = model.predict(drawn_rows(13, 2));
      const Stream stream(1, Purpose::kTest);
      const std::vector<SampleNoise> noise{{model.weights(), 90, outputs, stream, 0},
                                           {model.weights(), 90, outputs, stream, 10}};
      std::vector<double> log_deficit(13);
      ChosenRatios chosen = no_ratios(noise[0]);
      sampled_log_deficit(noise[0], mixture.view(), chosen, log_deficit);
      for (std::size_t n = 0; n < 13; ++n) {
        const double plain = std::min(model.weights().entropy, plain_deficit(mixture, model.weights(), noise, {n}));
        EXPECT_NEAR(std::exp(log_deficit[n]), plain, 1e-9 * plain);
      }
      add_ratios(noise[0], mixture.view(), 4, chosen);
      sampled_log_deficit(noise[1], mixture.view(), chosen, log_deficit);
      for (std::size_t n = 0; n < 13; ++n) {
        const double plain = std::min(model.weights().entropy, plain_deficit(mixture, model.weights(), noise, {4, n}));
        EXPECT_NEAR(std::exp(log_deficit[n]), plain, 1e-9 * plain);
      }
    }
  }
}

// Components 1000 standard deviations apart: the deficit is far below the smallest double, its logarithm is not.
TEST(Sampled, NeitherUnderflowsNorOverflows) {
  Mixture<double> mixture = Mixture<double>::diagonal(2, 2, 1);
  mixture.mean = {0, 1000, 0, 2000};
  mixture.stddev = {1, 1, 1, 1e-3};
  const Weights weights = Weights::uniform(2);
  const SampleNoise noise(weights, 100, 1, Stream(1, Purpose::kTest), 0);
  std::vector<double> log_deficit(2);
  sampled_log_deficit(noise, mixture.view(), no_ratios(noise), log_deficit);
  // Nearest sample: |e| at most about 4, so the exponent is -(1000 - 4)^2 / 2 + 4^2 / 2 or so.
  EXPECT_LT(log_deficit[0], -490'000);
  EXPECT_GT(log_deficit[0], -500'000);
  EXPECT_TRUE(std::isfinite(log_deficit[1]));
  EXPECT_LT(log_deficit[1], log_deficit[0]);
}

TEST(Sampled, EqualComponentsSayNothing) {
  Mixture<double> mixture = Mixture<double>::diagonal(1, 3, 2);
  mixture.mean = {1, 2, 1, 2, 1, 2};
  mixture.stddev = {1, 3, 1, 3, 1, 3};
  const SampleNoise noise(Weights::uniform(3), 30, 2, Stream(1, Purpose::kTest), 0);
  std::vector<double> log_deficit(1);
  sampled_log_deficit(noise, mixture.view(), no_ratios(noise), log_deficit);
  EXPECT_NEAR(std::exp(log_deficit[0]), std::log(3.0), 1e-14);
}

// Against quadrature, over 40 rows: the mean squared error in standard errors (of the estimator, for the same number of
// samples) is 1 on average; above 2 with a probability below 1e-4, allowing for noise shared by the rows.
TEST(Sampled, MonteCarloIsWithinItsErrorOfTheTruth) {
  const Ensemble model = drawn_model({.gain = 1.7});
  const std::vector<double> candidates = drawn_rows(40, 2);
  const Mixture<double> mixture = model.predict(candidates);
  const Uncertainty truth = estimate(parse_estimator("quadrature"), mixture.view());
  const Uncertainty sampled = estimate(parse_estimator("mc:4000"), mixture.view());
  double squares = 0;
  for (std::uint64_t round = 0; round < 10; ++round) {
    const Choice choice = choose(Acquisition::parse("mc:4000"),
                                 {model, {}, 40, Stream(1, Purpose::kAcquire, round), nullptr}, candidates);
    for (std::size_t k = 0; k < 40; ++k) {
      const std::size_t row = choice.rows[k];
      const double error = (choice.epistemic[k] - truth.epistemic[row]) / sampled.extras[0].values[row];
      squares += error * error / 400;
    }
  }
  EXPECT_GT(squares, 0.3);
  EXPECT_LT(squares, 2);
}

// Two rows together, against quadrature in two dimensions. 30 pairs, each with its own noise and 20 rounds: the mean
// over rounds must lie within 5 standard errors, estimated from the rounds, of the truth (false alarm below 1e-3 in
// all, with Student's t of 19 degrees).
TEST(Sampled, BatchBaldIsWithinItsErrorOfTheTruth) {
  for (std::uint64_t seed = 0; seed < 30; ++seed) {
    const Ensemble model =
        drawn_model({.num_components = 2 + seed % 4, .gain = 1 + 0.15 * static_cast<double>(seed % 8), .seed = seed});
    const std::vector<double> pair = drawn_rows(2, 2, seed);
    const double truth = test::pair_information(model.predict(pair), model.weights());
    double sum = 0;
    double squares = 0;
    constexpr int kRounds = 20;
    for (std::uint64_t round = 0; round < kRounds; ++round) {
      const Choice choice = choose(Acquisition::parse("batchbald:1000"),
                                   {model, {}, 2, Stream(seed, Purpose::kAcquire, round), nullptr}, pair);
      const double value = model.weights().entropy * -std::expm1(-choice.scores[0] - choice.scores[1]);
      sum += value;
      squares += value * value;
    }
    const double mean = sum / kRounds;
    const double error = std::sqrt((squares / kRounds - mean * mean) / (kRounds - 1));
    EXPECT_NEAR(mean, truth, 5 * error + 1e-6) << seed;
  }
}

// The joint estimate of a growing batch never falls by much, and does not underflow.
TEST(Sampled, BatchBaldOfALongBatchStaysFinite) {
  const Ensemble model = drawn_model({.num_inputs = 3, .num_outputs = 30, .gain = 4});
  const std::vector<double> candidates = drawn_rows(50, 3);
  const Choice choice =
      choose(Acquisition::parse("batchbald:100"), {model, {}, 20, Stream(1, Purpose::kAcquire), nullptr}, candidates);
  double sum = 0;
  for (const double score : choice.scores) {
    EXPECT_TRUE(std::isfinite(score));
    EXPECT_GT(score, 0);
    sum += score;
  }
  EXPECT_GT(sum, 750);  // exp(-750) is no double
}

}  // namespace
}  // namespace dissent
