// Rows that are hard on a fit: each ends in a sound model (finite means near the targets, stddevs > 0) or in an error
// that says what to do.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>

#include "dissent/base/random.hpp"
#include "dissent/ensemble/fit.hpp"
#include "dissent/ensemble/metrics.hpp"
#include "dissent/ensemble/summary.hpp"
#include "ensemble/sample_rows.hpp"
#include "support/temp_dir.hpp"

namespace dissent {
namespace {

using test::SampleRows;

constexpr std::size_t kRows = 60;

// y = sin 3a + b + noise, and what `spoil` makes of it.
SampleRows spoilt(const std::function<void(SampleRows&)>& spoil) {
  SampleRows data{{"a", "b"}, {"y"}, {}, {}};
  Stream stream(21, Purpose::kTest);
  for (std::size_t n = 0; n < kRows; ++n) {
    const double a = stream.uniform();
    const double b = stream.uniform();
    data.x.insert(data.x.end(), {a, b});
    data.y.push_back(std::sin(3 * a) + b + 0.1 * stream.normal());
  }
  spoil(data);
  return data;
}

class HardRows : public testing::TestWithParam<Model> {
 protected:
  // Means lie within the targets' range, widened by its width, and stddevs within a few times that.
  void expect_sound(const std::string& what, const SampleRows& data) const {
    SCOPED_TRACE(what);
    const FitResult fitted = fit({.model = GetParam(), .num_components = 3}, {.epochs = 60}, data.rows());
    const Summary summary = summarise(fitted.model, data.x, fitted.model.predict(data.x), {.quantiles = {0.05, 0.95}});
    const auto [low, high] = std::ranges::minmax(data.y);
    const double width = high > low ? high - low : std::max(1.0, std::abs(low));
    for (std::size_t n = 0; n < summary.mean.size(); ++n) {
      ASSERT_GE(summary.mean[n], low - width);
      ASSERT_LE(summary.mean[n], high + width);
      ASSERT_GT(summary.stddev[n], 0);
      ASSERT_LT(summary.stddev[n], 30 * width);  // a row that some components have not seen may widen them
      ASSERT_LT(summary.quantile[2 * n], summary.quantile[2 * n + 1]);
      ASSERT_TRUE(std::isfinite(summary.aleatoric[n]));
    }
    const Metrics metrics = evaluate(fitted.model, data.x, data.y);
    EXPECT_LT(metrics.rmse, 2 * width);
    EXPECT_TRUE(std::isfinite(metrics.log_likelihood));
    EXPECT_TRUE(std::isfinite(metrics.crps));
    EXPECT_GT(metrics.sharpness, 0);
    EXPECT_EQ(metrics.rmse == 0, metrics.mae == 0);
  }
};

TEST_P(HardRows, ConstantColumns) {
  for (const double value : {0.0, 7.5, -1e12}) {
    expect_sound("constant target", spoilt([&](SampleRows& data) { std::ranges::fill(data.y, value); }));
    expect_sound("constant inputs", spoilt([&](SampleRows& data) { std::ranges::fill(data.x, value); }));
  }
}

TEST_P(HardRows, RepeatedAndCollinearRows) {
  expect_sound("six rows ten times", spoilt([](SampleRows& data) {
                 for (std::size_t n = 6; n < kRows; ++n) {
                   data.y[n] = data.y[n % 6];
                   std::copy_n(data.x.begin() + static_cast<std::ptrdiff_t>(2 * (n % 6)), 2,
                               data.x.begin() + static_cast<std::ptrdiff_t>(2 * n));
                 }
               }));
  expect_sound("a row sixty times", spoilt([](SampleRows& data) {
                 std::ranges::fill(data.x, 0.25);
                 std::ranges::fill(data.y, 3.5);
               }));
  expect_sound("collinear inputs", spoilt([](SampleRows& data) {
                 for (std::size_t n = 0; n < kRows; ++n) {
                   data.x[2 * n + 1] = 3 * data.x[2 * n] + 1;
                 }
               }));
}

TEST_P(HardRows, Outliers) {
  expect_sound("an input of 1e12", spoilt([](SampleRows& data) { data.x[10] = 1e12; }));
  expect_sound("a target of 1e12", spoilt([](SampleRows& data) { data.y[5] = 1e12; }));
  expect_sound("targets beyond 1e12", spoilt([](SampleRows& data) {
                 std::ranges::transform(data.y, data.y.begin(), [](double y) { return 1e12 + y; });
               }));
}

// Squares of these are infinite, or 0.
TEST_P(HardRows, NumbersWhoseSquaresAreNone) {
  for (const double factor : {1e170, 1e-170, 1e300, 1e-300}) {
    const auto scaled = [&](std::vector<double>& values) {
      std::ranges::transform(values, values.begin(), [&](double value) { return factor * value; });
    };
    expect_sound(fmt::format("targets of {}", factor), spoilt([&](SampleRows& data) { scaled(data.y); }));
    expect_sound(fmt::format("inputs of {}", factor), spoilt([&](SampleRows& data) { scaled(data.x); }));
  }
}

TEST_P(HardRows, ManyColumns) {
  constexpr std::size_t kColumns = 2000;
  SampleRows data{numbered_names("x", kColumns), {"y"}, {}, {}};
  Stream stream(22, Purpose::kTest);
  data.x.resize(30 * kColumns);
  stream.fill_normal(data.x);
  for (std::size_t n = 0; n < 30; ++n) {
    data.y.push_back(data.x[n * kColumns] + 0.1 * stream.normal());
  }
  expect_sound("2,000 columns", data);
}

TEST_P(HardRows, TooFewRowsSayWhatToDo) {
  const auto message = [&](std::size_t num_rows, double validation) {
    SampleRows data = spoilt([](SampleRows&) {});
    data.x.resize(2 * num_rows);
    data.y.resize(num_rows);
    return message_of<InputError>([&] { fit({.model = GetParam()}, {.validation = validation}, data.rows()); });
  };
  EXPECT_EQ(message(1, 0), "1 row; at least 2 are needed to train on; give more rows");
  EXPECT_EQ(message(2, 0.1),
            "2 rows, 1 of them held out; at least 2 must remain to train on; give more rows, or set validation to 0");
}

INSTANTIATE_TEST_SUITE_P(Models, HardRows, testing::Values(Model::kPne, Model::kFlow),
                         [](const auto& info) { return std::string(model_name(info.param)); });

}  // namespace
}  // namespace dissent
