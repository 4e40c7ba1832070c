#include "dissent/ensemble/trend.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "dissent/base/error.hpp"
#include "dissent/base/random.hpp"
#include "dissent/ensemble/fit.hpp"
#include "dissent/ensemble/metrics.hpp"
#include "dissent/ensemble/summary.hpp"
#include "ensemble/sample_rows.hpp"
#include "support/temp_dir.hpp"

namespace dissent {
namespace {

using test::SampleRows;

// u is nearly a line of a and b, v is not.
SampleRows lines(std::size_t num_rows, std::uint64_t part, double reach = 1) {
  SampleRows data{{"a", "b"}, {"u", "v"}, {}, {}};
  Stream stream(21, Purpose::kTest, part);
  for (std::size_t n = 0; n < num_rows; ++n) {
    const double a = reach * (2 * stream.uniform() - 1);
    const double b = 100 + reach * stream.normal();
    data.x.insert(data.x.end(), {a, b});
    data.y.insert(data.y.end(), {5 * a - 2 * b + 0.1 * stream.normal(), std::sin(5 * a) + 0.1 * stream.normal()});
  }
  return data;
}

TEST(Trend, IsFoundWhereALineExplainsATarget) {
  const SampleRows data = lines(200, 0);
  const Trend trend = fit_trend(data.x, 2, data.y, 2);
  ASSERT_EQ(trend.slope.size(), 4U);
  EXPECT_NEAR(trend.slope[0], 5, 0.1);
  EXPECT_NEAR(trend.slope[1], -2, 0.1);
  EXPECT_EQ(trend.slope[2], 0);
  EXPECT_EQ(trend.slope[3], 0);
}

TEST(Trend, IsEmptyWhereNoTargetHasOneAndWithFewRows) {
  const SampleRows data = lines(200, 0);
  std::vector<double> bent;
  for (std::size_t n = 0; n < 200; ++n) {
    bent.push_back(data.y[2 * n + 1]);
  }
  EXPECT_TRUE(fit_trend(data.x, 2, bent, 1).empty());
  EXPECT_TRUE(fit_trend(std::span(data.x).first(20), 2, std::span(data.y).first(20), 2).empty());
  // As many columns as rows explain anything; a row that is left out shows that it is nothing.
  Stream stream(22, Purpose::kTest);
  std::vector<double> x(30 * 30), y(30);
  stream.fill_normal(x);
  stream.fill_normal(y);
  EXPECT_TRUE(fit_trend(x, 30, y, 1).empty());
}

TEST(Trend, StopsFarAway) {
  const SampleRows data = lines(200, 0);
  const Trend trend = fit_trend(data.x, 2, data.y, 2);
  std::vector<double> far(2, 0.0), farther(2, 0.0);
  trend.add(std::vector<double>{1e6, 100}, 1, 1, far);
  trend.add(std::vector<double>{1e9, 100}, 1, 1, farther);
  EXPECT_EQ(far, farther);
  EXPECT_THROW((Trend{{0}, {1}, {0}, {1}}.check_values(1, 1)), InputError);
  EXPECT_THROW((Trend{{0}, {0}, {1}, {NAN}}.check_values(1, 1)), InputError);
}

class ModelsWithTrend : public testing::TestWithParam<Model> {};

TEST_P(ModelsWithTrend, DensityMeanAndSamplesAreInTheUsersUnits) {
  const SampleRows data = lines(200, 0);
  const EnsembleOptions options{.model = GetParam(), .num_components = 2};
  const Ensemble model = fit(options, {.epochs = 400}, data.rows()).model;
  ASSERT_FALSE(model.columns().trend.empty());
  const std::vector<double> mean = predictive_mean(model, data.x);
  EXPECT_LT(rmse(mean, data.y), 0.5);
  const std::vector<double> samples = model.sample(std::vector<double>{0.5, 101}, 2000, 1);
  double u = 0;
  for (std::size_t k = 0; k < samples.size(); k += 2) {
    u += samples[k] / 2000;
  }
  EXPECT_NEAR(u, 5 * 0.5 - 2 * 101, 0.3);
  // There and back.
  std::vector<double> base(data.y.size()), back(data.y.size()), log_det(200);
  model.to_base(data.x, data.y, base, log_det);
  model.to_outputs(data.x, base, back, {});
  for (std::size_t k = 0; k < back.size(); ++k) {
    EXPECT_NEAR(back[k], data.y[k], 1e-3);
  }
}

TEST_P(ModelsWithTrend, GoesOnOutsideOfTheData) {
  const SampleRows data = lines(200, 0);
  const SampleRows outside = lines(200, 1, 3);
  const EnsembleOptions options{.model = GetParam(), .num_components = 2};
  const auto error = [&](bool with) {
    const Ensemble model = fit(options, {.epochs = 100, .trend = with}, data.rows()).model;
    return rmse(predictive_mean(model, outside.x), outside.y);
  };
  EXPECT_LT(error(true), 0.7 * error(false));
}

TEST_P(ModelsWithTrend, AreTheSameAfterLoading) {
  const TempDir folder;
  const SampleRows data = lines(200, 0);
  const Ensemble model = fit({.model = GetParam(), .num_components = 2}, {.epochs = 5}, data.rows()).model;
  model.save(folder.file("m"));
  const Ensemble loaded = Ensemble::load(folder.file("m"));
  EXPECT_EQ(loaded.columns().trend.slope, model.columns().trend.slope);
  EXPECT_EQ(loaded.predict(data.x).mean, model.predict(data.x).mean);
  EXPECT_EQ(loaded.log_density(data.x, data.y), model.log_density(data.x, data.y));
}

INSTANTIATE_TEST_SUITE_P(Models, ModelsWithTrend, testing::Values(Model::kPne, Model::kFlow),
                         [](const auto& info) { return std::string(model_name(info.param)); });

}  // namespace
}  // namespace dissent
