#include "dissent/ensemble/log_targets.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <numbers>

#include "dissent/ensemble/fit.hpp"
#include "dissent/ensemble/metrics.hpp"
#include "dissent/ensemble/output_map.hpp"
#include "dissent/ensemble/summary.hpp"
#include "ensemble/sample_rows.hpp"
#include "support/temp_dir.hpp"

namespace dissent {
namespace {

using test::mean_of;
using test::SampleRows;

// Two targets: exp(2 x + 0.3 z), and 10 + x + 0.3 z.
SampleRows prices(std::size_t num_rows, std::uint64_t part = 0) {
  SampleRows data{{"x"}, {"price", "size"}, {}, {}};
  Stream stream(13, Purpose::kTest, part);
  for (std::size_t n = 0; n < num_rows; ++n) {
    const double x = 2 * stream.uniform() - 1;
    data.x.push_back(x);
    data.y.insert(data.y.end(), {std::exp(2 * x + 0.3 * stream.normal()), 10 + x + 0.3 * stream.normal()});
  }
  return data;
}

SampleRows first_target(const SampleRows& both) {
  SampleRows data{both.inputs, {"price"}, both.x, {}};
  for (std::size_t k = 0; k < both.y.size(); k += 2) {
    data.y.push_back(both.y[k]);
  }
  return data;
}

TEST(LogTargets, AreThoseThatPredictBetter) {
  const SampleRows data = prices(100);
  const EnsembleOptions usual{.model = Model::kGp};
  EXPECT_EQ(choose_logarithms(usual, data.rows()), (std::vector<std::uint8_t>{1, 0}));
  EXPECT_TRUE(choose_logarithms({.model = Model::kFlow}, data.rows()).empty());  // bends its outputs itself
  EXPECT_TRUE(choose_logarithms({.log_targets = LogTargets::kNone}, data.rows()).empty());
  EXPECT_EQ(choose_logarithms({.log_targets = LogTargets::kAll}, data.rows()), (std::vector<std::uint8_t>{1, 1}));
  SampleRows tiny = data;
  tiny.y[0] = 1e-9;  // its logarithm would rule the fit
  EXPECT_TRUE(choose_logarithms(usual, tiny.rows()).empty());
  SampleRows negative = data;
  negative.y[4] = -1;
  EXPECT_TRUE(choose_logarithms(usual, negative.rows()).empty());
  EXPECT_EQ(message_of<InputError>([&] { choose_logarithms({.log_targets = LogTargets::kAll}, negative.rows()); }),
            "column 'price' row 3: '-1' has no logarithm; let log_targets be auto or none");
}

class LogModels : public testing::TestWithParam<Model> {
 protected:
  EnsembleOptions options(LogTargets which) const {
    return {.model = GetParam(), .num_components = 4, .log_targets = which, .seed = 2};
  }
  // A flow takes logarithms only when it is told to.
  LogTargets by_itself() const { return GetParam() == Model::kFlow ? LogTargets::kAll : LogTargets::kAuto; }
  static constexpr TrainOptions kTrain{.epochs = 150, .batch_size = 32, .validation = 0};
};

TEST_P(LogModels, DensityIsThatOfTheTargetsThemselves) {
  const SampleRows data = first_target(prices(200));
  const Ensemble model = fit(options(LogTargets::kAll), kTrain, data.rows()).model;
  EXPECT_FALSE(model.output_map().is_identity());
  constexpr std::size_t kPoints = 50'000;
  const std::vector<double> x(kPoints, 0.3);
  std::vector<double> y(kPoints);
  double mean = 0;
  double integral = 0;
  for (std::size_t k = 0; k < kPoints; ++k) {
    y[k] = 40.0 * (static_cast<double>(k) + 0.5) / kPoints;
  }
  const std::vector<double> density = model.log_density(x, y);
  for (std::size_t k = 0; k < kPoints; ++k) {
    const double mass = std::exp(density[k]) * 40.0 / kPoints;
    integral += mass;
    mean += mass * y[k];
  }
  EXPECT_NEAR(integral, 1, 1e-2);  // the wide component reaches farther
  const std::vector<double> at{0.3};
  const Summary summary = summarise(model, at, model.predict(at), {.quantiles = {0.5}});
  EXPECT_NEAR(summary.mean.front(), mean, 0.01 * mean);
  EXPECT_NEAR(predictive_mean(model, at).front(), mean, 0.02 * mean);
  EXPECT_LT(summary.quantile.front(), summary.mean.front());  // skewed to the right
  for (const double sample : model.sample(at, 100, 1)) {
    EXPECT_GT(sample, 0);
  }
}

TEST_P(LogModels, BringsWhatItPromises) {
  const SampleRows data = first_target(prices(120));
  const SampleRows test = first_target(prices(2000, 1));
  const Metrics with = evaluate(fit(options(by_itself()), kTrain, data.rows()).model, test.x, test.y);
  const Metrics without = evaluate(fit(options(LogTargets::kNone), kTrain, data.rows()).model, test.x, test.y);
  // ln N(ln y; 2 x, 0.3) - ln y, expected: E ln y = E 2 x = 0.
  const double truth = -0.5 * (kLogTwoPi + 1) - std::log(0.3);
  EXPECT_GT(with.log_likelihood, truth - 0.25);
  EXPECT_GT(with.log_likelihood, without.log_likelihood);
}

TEST_P(LogModels, LossIsThatOfTheTargetsThemselves) {
  const SampleRows data = first_target(prices(200));
  TrainOptions train = kTrain;
  train.validation = 0.2;
  const FitResult result = fit(options(LogTargets::kAll), train, data.rows());
  EXPECT_NEAR(result.report.loss, -mean_of(result.model.log_density(data.x, data.y)), 0.2);
}

TEST_P(LogModels, SeveralTargetsMixAndSurviveAFile) {
  const TempDir folder;
  const SampleRows data = prices(120);
  const Ensemble model = fit(options(by_itself()), kTrain, data.rows()).model;
  EXPECT_TRUE(model.columns().is_log(0));
  EXPECT_EQ(model.columns().is_log(1), GetParam() == Model::kFlow);
  model.save(folder.file("m"));
  const Ensemble loaded = Ensemble::load(folder.file("m"));
  EXPECT_EQ(loaded.columns().logarithm, model.columns().logarithm);
  EXPECT_EQ(loaded.log_density(data.x, data.y), model.log_density(data.x, data.y));
  std::vector<double> base(data.y.size());
  std::vector<double> back(data.y.size());
  std::vector<double> in(data.x.size());
  std::vector<double> out(data.x.size());
  model.to_base(data.x, data.y, base, in);
  model.to_outputs(data.x, base, back, out);
  for (std::size_t k = 0; k < back.size(); ++k) {
    EXPECT_NEAR(back[k], data.y[k], 1e-3 * std::abs(data.y[k]));
  }
  for (std::size_t n = 0; n < in.size(); ++n) {
    EXPECT_NEAR(in[n], -out[n], 2e-3);
  }
}

// A value that has no logarithm is next to impossible, and finite.
TEST_P(LogModels, ValuesWithoutALogarithmHaveAFiniteDensity) {
  const SampleRows data = first_target(prices(100));
  const Ensemble model = fit(options(LogTargets::kAll), kTrain, data.rows()).model;
  Ensemble bare = model;
  bare.set_wide_component({});
  const std::vector<double> x{0.1};
  const std::vector<double> y{-3};
  const double density = bare.log_density(x, y).front();
  EXPECT_TRUE(std::isfinite(density));
  EXPECT_LT(density, -100);
  EXPECT_GT(model.log_density(x, y).front(), -20);
}

INSTANTIATE_TEST_SUITE_P(Models, LogModels, testing::Values(Model::kPne, Model::kFlow, Model::kGp),
                         [](const auto& info) { return std::string(model_name(info.param)); });

}  // namespace
}  // namespace dissent
