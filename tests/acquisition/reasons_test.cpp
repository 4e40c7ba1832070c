#include "dissent/acquisition/reasons.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "acquisition/models.hpp"
#include "dissent/ensemble/summary.hpp"

namespace dissent {
namespace {

using test::drawn_model;
using Pair = std::pair<std::string, std::string>;

// What a row's components say of target d, by the formulas: "LOW to HIGH", and the noise.
Pair said(const Ensemble& model, std::span<const double> row, std::size_t d = 0) {
  const Mixture<double> at = model.predict(row);
  std::vector<double> means;
  double variance = 0;
  for (std::size_t m = 0; m < at.num_components; ++m) {
    means.push_back(at.mean[m * at.num_outputs + d]);
    const double stddev = at.stddev[m * at.num_outputs + d];
    variance += stddev * stddev / static_cast<double>(at.num_components);
  }
  const auto [low, high] = short_numbers(std::ranges::min(means), std::ranges::max(means), 3);
  return {low + " to " + high, short_number(std::sqrt(variance), 3)};
}

TEST(Reasons, NumbersAreShort) {
  EXPECT_EQ(short_number(71), "71");
  EXPECT_EQ(short_number(1.0 / 3), "0.3333");
  EXPECT_EQ(short_number(53940), "53940");
  EXPECT_EQ(short_number(1234567.8), "1234568");
  EXPECT_EQ(short_number(-0.3), "-0.3");
  EXPECT_EQ(short_number(2.0 / 3 * 1e-7), "6.667e-08");
  EXPECT_EQ(short_number(2.3456, 3), "2.35");
  EXPECT_EQ(short_number(0.3, 3), "0.3");
  EXPECT_EQ(short_number(100.04, 3), "100");
  EXPECT_EQ(short_number(0), "0");
  EXPECT_EQ(short_numbers(2019.123456, 2019.123499), Pair("2019.12346", "2019.1235"));
  EXPECT_EQ(short_numbers(100.04, 100.31, 3), Pair("100.04", "100.31"));
  EXPECT_EQ(short_numbers(1, 1), Pair("1", "1"));
}

TEST(Reasons, RowsOutsideOfTheLabelledRange) {
  const Ensemble model = drawn_model({});
  const std::vector<double> labelled{0, 10, 66, 20};
  const std::vector<double> rows{71, 12, -3, 12, 67, 40};
  const std::vector<std::string> texts = reasons(model, rows, {.labelled = labelled});
  ASSERT_EQ(texts.size(), 3U);
  const auto [range, noise] = said(model, std::span(rows).first(2));
  EXPECT_EQ(texts[0], "x_0 71, labelled rows end at 66; components say " + range + "; noise " + noise);
  EXPECT_EQ(texts[1].substr(0, 35), "x_0 -3, labelled rows begin at 0; c");
  EXPECT_EQ(texts[2].substr(0, 61), "x_1 40, labelled rows end at 20 (1 more input column outside)");
}

TEST(Reasons, RowsInsideNameTheNearestLabelledRow) {
  const Ensemble model = drawn_model({});
  const std::vector<double> labelled{0, 10, 10, 20, 2, 13};
  const std::vector<double> rows{3.1, 13, 10, 20};
  const std::vector<std::string> texts = reasons(model, rows, {.labelled = labelled});
  EXPECT_EQ(texts[0].substr(0, 54), "nearest labelled row differs most in x_0: 3.1 against ");
  EXPECT_EQ(texts[0].substr(54, 3), "2; ");
  EXPECT_EQ(texts[1].substr(0, 30), "the inputs of a labelled row; ");
  EXPECT_EQ(reasons(model, rows).at(0).substr(0, 15), "components say ");
}

TEST(Reasons, CostsAndErrors) {
  const Ensemble model = drawn_model({});
  const std::vector<double> labelled{0, 10, 5, 20};
  const std::vector<double> rows{58.9, 12};
  const std::vector<UsualRange> usual{{-20, 30, 1, 10.5}, {0, 30, 1, 20}};
  const std::vector<double> cost{12.5};
  const std::string text = reasons(model, rows, {.labelled = labelled, .cost = cost, .usual = usual}).at(0);
  EXPECT_EQ(text.substr(0, 66), "x_0 58.9 looks like an error: other rows end at 10.5; components s");
  EXPECT_TRUE(text.ends_with("; costs 12.5")) << text;
}

TEST(Reasons, WhatTheMethodMadeOfARow) {
  const Ensemble model = drawn_model({});
  const std::vector<double> rows{1, 2, 3, 4};
  const std::vector<double> cost{3, 0.5};
  const std::vector<double> scores{0.12, std::numeric_limits<double>::quiet_NaN()};
  const auto ends = [&](ReasonOptions options, const char* method) {
    options.method = &Acquisition::parse(method).info();
    options.scores = scores;
    std::vector<std::string> texts = reasons(model, rows, options);
    for (std::string& text : texts) {  // after the noise
      text.erase(0, std::min(text.size(), text.find("; ", text.find("noise ") + 6)));
    }
    return Pair(texts[0], texts[1]);
  };
  EXPECT_EQ(ends({.aim = true}, "aim"), Pair("; adds 0.12 nats about the aim", ""));
  EXPECT_EQ(ends({}, "aim"), Pair("", ""));
  EXPECT_EQ(ends({.cost = cost}, "kl"), Pair("; costs 3, 0.12 nats per unit of cost", "; costs 0.5"));
  EXPECT_EQ(ends({.cost = cost, .aim = true}, "kl-aim"),
            Pair("; adds 0.36 nats about the aim; costs 3, 0.12 nats per unit of cost", "; costs 0.5"));
  EXPECT_EQ(ends({.cost = cost, .aim = true}, "lcmd"), Pair("; costs 3", "; costs 0.5"));
}

// The two that differ most for their noise, most first, by name.
TEST(Reasons, TwoOfManyTargets) {
  const Ensemble model = drawn_model({.num_outputs = 5});
  const std::vector<double> row{0.3, -0.4};
  const Mixture<double> at = model.predict(row);
  std::vector<std::pair<double, std::size_t>> disagreement;
  for (std::size_t d = 0; d < 5; ++d) {
    double low = 1e300;
    double high = -1e300;
    double variance = 0;
    for (std::size_t m = 0; m < 5; ++m) {
      low = std::min(low, at.mean[m * 5 + d]);
      high = std::max(high, at.mean[m * 5 + d]);
      variance += at.stddev[m * 5 + d] * at.stddev[m * 5 + d] / 5;
    }
    disagreement.emplace_back((high - low) / std::sqrt(variance), d);
  }
  std::ranges::sort(disagreement, std::greater());
  const std::size_t a = disagreement[0].second;
  const std::size_t b = disagreement[1].second;
  const Pair first = said(model, row, a);
  const Pair second = said(model, row, b);
  EXPECT_EQ(reasons(model, row).at(0), fmt::format("components say y_{} {}, y_{} {}; noise y_{} {}, y_{} {}", a,
                                                   first.first, b, second.first, a, first.second, b, second.second));
}

// Of a flow in the user's units: with one component its predictive mean and standard deviation.
TEST(Reasons, FlowsSpeakOfOutputs) {
  const Ensemble model = drawn_model({.model = Model::kFlow, .num_components = 2, .weights = {1, 0}, .gain = 1});
  const std::vector<double> row{0.3, -0.4};
  const double mean = predictive_mean(model, row).front();
  const double stddev = summarise(model, row, model.predict(row)).stddev.front();
  const std::string text = reasons(model, row).at(0);
  EXPECT_TRUE(text.starts_with("components say " + short_number(mean, 3) + "; noise ")) << text << " " << mean;
  EXPECT_NEAR(std::stod(text.substr(text.rfind(' '))), stddev, 0.05 * stddev);
}

}  // namespace
}  // namespace dissent
