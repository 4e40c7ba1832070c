#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numbers>
#include <span>
#include <vector>

#include "dissent/base/names.hpp"
#include "dissent/base/random.hpp"
#include "dissent/base/threads.hpp"
#include "dissent/ensemble/fit.hpp"
#include "dissent/ensemble/normal_points.hpp"
#include "dissent/ensemble/summary.hpp"

namespace dissent {
namespace {

struct Rows {
  std::vector<double> inputs;
  std::vector<double> targets;
};

// Skewed noise that depends on x, so that the flow has something to bend.
Rows skewed_rows(std::size_t count, std::size_t num_outputs) {
  Rows rows;
  Stream stream(3, Purpose::kTest);
  for (std::size_t row = 0; row < count; ++row) {
    const double x = 4 * stream.uniform() - 2;
    rows.inputs.push_back(x);
    for (std::size_t d = 0; d < num_outputs; ++d) {
      rows.targets.push_back(10 * std::sin(x + static_cast<double>(d)) - std::log(stream.uniform()) * (1 + x * x));
    }
  }
  return rows;
}

Ensemble fitted(Model kind, std::size_t num_outputs) {
  const Rows rows = skewed_rows(200, num_outputs);
  EnsembleOptions options;
  options.model = kind;
  options.num_components = 3;
  TrainOptions train;
  train.epochs = 150;
  const std::vector<std::string> targets =
      num_outputs == 1 ? std::vector<std::string>{"y"} : std::vector<std::string>{"y", "z"};
  return fit(options, train, {{"x"}, targets, rows.inputs, rows.targets}).model;
}

// Largest distance from the mean of summarise(), in units of the predicted stddev.
double largest_difference(Model kind, std::size_t num_outputs) {
  const Ensemble model = fitted(kind, num_outputs);
  const std::vector<double> inputs = skewed_rows(500, 1).inputs;
  const Summary summary = summarise(model, inputs, model.predict(inputs));
  const std::vector<double> mean = predictive_mean(model, inputs);
  EXPECT_EQ(mean.size(), summary.mean.size());
  double largest = 0;
  for (std::size_t k = 0; k < mean.size(); ++k) {
    largest = std::max(largest, std::abs(mean[k] - summary.mean[k]) / summary.stddev[k]);
  }
  return largest;
}

TEST(PredictiveMean, IsTheMeanOfTheSummary) {
  EXPECT_LT(largest_difference(Model::kPne, 1), 1e-12);
  EXPECT_LT(largest_difference(Model::kPne, 2), 1e-12);
  EXPECT_LT(largest_difference(Model::kFlow, 1), 5e-3);
  EXPECT_LT(largest_difference(Model::kFlow, 2), 0.1);  // against 256 antithetic draws
}

TEST(PredictiveMean, PointsAreAStandardNormal) {
  for (const std::size_t num_outputs : {1UL, 5UL}) {
    const NormalPoints points = mean_points(num_outputs, 64);
    ASSERT_EQ(points.size(), 64U);
    for (std::size_t d = 0; d < num_outputs; ++d) {
      std::vector<double> along;
      double squares = 0;
      for (std::size_t k = 0; k < 64; ++k) {
        along.push_back(points.value[k * num_outputs + d]);
        squares += along.back() * along.back() / 64;
      }
      std::ranges::sort(along);
      for (std::size_t k = 0; k < 64; ++k) {  // one in each cell
        const double below = 0.5 * std::erfc(-along[k] / std::numbers::sqrt2);
        EXPECT_GT(below, static_cast<double>(k) / 64);
        EXPECT_LT(below, static_cast<double>(k + 1) / 64);
        EXPECT_EQ(along[k], -along[63 - k]);
      }
      EXPECT_NEAR(squares, 1, 0.01);
    }
  }
}

// Targets of two modes each, 2 apart, by a coin of their own.
Rows bimodal_rows(std::size_t count, std::size_t num_outputs) {
  Rows rows;
  Stream stream(4, Purpose::kTest);
  for (std::size_t row = 0; row < count; ++row) {
    const double x = 2 * stream.uniform() - 1;
    rows.inputs.push_back(x);
    for (std::size_t d = 0; d < num_outputs; ++d) {
      rows.targets.push_back(x + (stream.uniform() < 0.4 ? -1 : 1) + 0.1 * stream.normal());
    }
  }
  return rows;
}

// The mean over `count` equally likely points of each base Gaussian, carried through the flow.
std::vector<double> mean_over(const Ensemble& model, std::span<const double> inputs, const NormalPoints& points) {
  const Mixture<double> mixture = model.predict(inputs);
  CarriedPoints carried(model, points);
  const std::size_t D = model.num_outputs();
  const std::size_t M = model.num_components();
  std::vector<double> mean(mixture.num_inputs * D);
  for (std::size_t n = 0; n < mixture.num_inputs; ++n) {
    carried.carry(inputs, mixture, n, n + 1, false, nullptr);
    for (std::size_t k = 0; k < carried.outputs().size(); ++k) {
      mean[n * D + k % D] += carried.outputs()[k] / static_cast<double>(M * points.size());
    }
  }
  return mean;
}

// Good to a hundredth of the gap between the modes.
TEST(PredictiveMean, OfTwoModesIsGoodToAHundredthOfTheirGap) {
  constexpr double kGap = 2;
  for (const std::size_t num_outputs : {1UL, 2UL}) {
    const Rows rows = bimodal_rows(600, num_outputs);
    const std::vector<std::string> targets = numbered_names("y", num_outputs);
    const Ensemble model = fit({.num_components = 3, .num_flow_layers = num_outputs}, {.epochs = 150},
                               {{"x"}, targets, rows.inputs, rows.targets})
                               .model;
    const std::vector<double> inputs = bimodal_rows(25, 1).inputs;
    const std::vector<double> mean = predictive_mean(model, inputs);
    const std::vector<double> exact = mean_over(model, inputs, mean_points(num_outputs, 20'000));
    double largest = 0;
    double squares = 0;
    for (std::size_t k = 0; k < mean.size(); ++k) {
      const double error = (mean[k] - exact[k]) / kGap;
      largest = std::max(largest, std::abs(error));
      squares += error * error / static_cast<double>(mean.size());
    }
    EXPECT_LT(largest, num_outputs == 1 ? 0.01 : 0.05) << num_outputs;
    EXPECT_LT(std::sqrt(squares), num_outputs == 1 ? 0.005 : 0.02) << num_outputs;
  }
}

// Rows are shared out between threads in blocks that depend on how many rows and threads there are.
TEST(PredictiveMean, IsTheSameOnThreadsAndForNoRows) {
  for (const std::size_t num_outputs : {1UL, 2UL}) {
    const Ensemble model = fitted(Model::kFlow, num_outputs);
    const std::vector<double> inputs = skewed_rows(500, num_outputs).inputs;
    const std::vector<double> all = predictive_mean(model, inputs);
    const std::size_t C = inputs.size() / 500;
    for (const int threads : {2, 3, 8}) {
      ThreadPool pool(threads);
      for (const std::size_t num_rows : {1UL, 5UL, 50UL, 500UL}) {
        const std::vector<double> some = predictive_mean(model, std::span(inputs).first(num_rows * C), &pool);
        EXPECT_TRUE(std::ranges::equal(some, std::span(all).first(num_rows * num_outputs)))
            << num_outputs << " outputs, " << threads << " threads, " << num_rows << " rows";
      }
    }
    EXPECT_TRUE(predictive_mean(model, {}).empty());
  }
}

}  // namespace
}  // namespace dissent
