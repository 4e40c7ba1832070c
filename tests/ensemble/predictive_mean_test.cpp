#include <gtest/gtest.h>

#include <cmath>

#include "dissent/base/random.hpp"
#include "dissent/base/threads.hpp"
#include "dissent/ensemble/fit.hpp"
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
  EXPECT_LT(largest_difference(Model::kFlow, 1), 2e-3);
  EXPECT_LT(largest_difference(Model::kFlow, 2), 0.1);  // 64 antithetic draws against 256
}

TEST(PredictiveMean, IsTheSameOnThreadsAndForNoRows) {
  const Ensemble model = fitted(Model::kFlow, 1);
  const std::vector<double> inputs = skewed_rows(500, 1).inputs;
  ThreadPool pool(3);
  EXPECT_EQ(predictive_mean(model, inputs), predictive_mean(model, inputs, &pool));
  EXPECT_TRUE(predictive_mean(model, {}).empty());
}

}  // namespace
}  // namespace dissent
