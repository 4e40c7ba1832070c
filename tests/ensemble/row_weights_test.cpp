#include "dissent/ensemble/row_weights.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "dissent/base/error.hpp"
#include "dissent/base/random.hpp"
#include "dissent/ensemble/fit.hpp"
#include "dissent/ensemble/fit_device.hpp"

namespace dissent {
namespace {

// Rows of one input and two targets.
struct Data {
  std::vector<double> inputs;
  std::vector<double> targets;
  std::vector<double> weights = {};

  TrainingRows rows() const {
    TrainingRows rows{{"x"}, {"a", "b"}, inputs, targets};
    rows.weights = weights;
    return rows;
  }
  std::size_t size() const { return inputs.size(); }
};

Data drawn(std::size_t num_rows) {
  Data data;
  Stream stream(5, Purpose::kTest);
  for (std::size_t n = 0; n < num_rows; ++n) {
    const double x = 2 * stream.uniform() - 1;
    data.inputs.push_back(x);
    data.targets.push_back(std::sin(3 * x) + 0.1 * stream.normal());
    data.targets.push_back(x * x + 0.2 * stream.normal());
  }
  return data;
}

// Each row as often as `times` says.
Data repeated(const Data& data, const std::vector<std::size_t>& times) {
  Data all;
  for (std::size_t n = 0; n < data.size(); ++n) {
    for (std::size_t k = 0; k < times[n]; ++k) {
      all.inputs.push_back(data.inputs[n]);
      all.targets.insert(all.targets.end(), {data.targets[2 * n], data.targets[2 * n + 1]});
    }
  }
  return all;
}

// All rows in each step, and nothing but the loss looks at them.
FitResult fit_plainly(Model model, const Data& data, std::size_t epochs) {
  EnsembleOptions options{.model = model};
  options.num_components = 2;
  options.bootstrap = false;
  options.scaling = ScalingKind::kNone;
  options.log_targets = LogTargets::kNone;
  TrainOptions train{.epochs = epochs, .batch_size = 0};
  train.weight_decay = 0.01;
  train.flow_weight_decay = 0.01;
  train.trend = false;
  train.limit_certainty = false;
  return fit(options, train, data.rows());
}

double largest_difference(std::span<const float> a, std::span<const float> b) {
  double largest = 0;
  for (std::size_t k = 0; k < a.size(); ++k) {
    largest = std::max(largest, std::abs(static_cast<double>(a[k]) - static_cast<double>(b[k])));
  }
  return largest;
}

TEST(RowWeights, TwiceTheWeightIsTheRowTwice) {
  Data data = drawn(40);
  std::vector<std::size_t> times(40);
  for (std::size_t n = 0; n < times.size(); ++n) {
    times[n] = 1 + n % 3;
    data.weights.push_back(0.35 * static_cast<double>(times[n]));
  }
  for (const Model model : {Model::kPne, Model::kFlow}) {
    const FitResult weighed = fit_plainly(model, data, 20);
    const FitResult by_hand = fit_plainly(model, repeated(data, times), 20);
    EXPECT_NEAR(weighed.report.loss, by_hand.report.loss, 1e-4);
    EXPECT_LT(largest_difference(weighed.model.parameters(), by_hand.model.parameters()), 2e-3);
    const Data plain{data.inputs, data.targets};
    EXPECT_GT(largest_difference(weighed.model.parameters(), fit_plainly(model, plain, 20).model.parameters()), 0.01);
  }
}

TEST(RowWeights, AlikeAreNone) {
  Data data = drawn(30);
  for (const Model model : {Model::kPne, Model::kFlow, Model::kGp}) {
    const auto fitted = [&](std::vector<double> weights) {
      data.weights = std::move(weights);
      const EnsembleOptions options{.model = model, .num_components = 2};
      return fit(options, TrainOptions{.epochs = 5}, data.rows()).model.predict(data.inputs).mean;
    };
    EXPECT_EQ(fitted({}), fitted(std::vector<double>(30, 0.7)));
  }
}

TEST(RowWeights, RowsWithoutAnyAreLeftOut) {
  Data data = drawn(40);
  Data kept = data;
  kept.inputs.resize(30);
  kept.targets.resize(60);
  for (std::size_t n = 0; n < 40; ++n) {
    data.weights.push_back(n < 30 ? 0.5 + static_cast<double>(n % 2) : 0);
  }
  data.targets.back() = 1e6;  // not even scaling sees it
  kept.weights.assign(data.weights.begin(), data.weights.begin() + 30);
  const auto fitted = [&](const Data& rows) {
    return fit({.model = Model::kPne}, TrainOptions{.epochs = 5}, rows.rows()).model.predict(kept.inputs).mean;
  };
  EXPECT_EQ(fitted(data), fitted(kept));
}

TEST(RowWeights, HeldOutRowsAreWeighedToo) {
  Data data = drawn(60);
  for (std::size_t n = 0; n < 60; ++n) {
    data.weights.push_back(n % 2 == 0 ? 1 : 1e-9);
  }
  for (std::size_t n = 1; n < 60; n += 2) {
    data.targets[2 * n] += 100;  // would be seen in any loss that counts the row
  }
  const auto report = [](const Data& rows) {
    EnsembleOptions options{.model = Model::kPne};
    options.scaling = ScalingKind::kNone;
    TrainOptions train{.epochs = 5};
    train.validation = 0.4;
    train.limit_certainty = false;
    return fit(options, train, rows.rows()).report;
  };
  EXPECT_LT(report(data).validation_loss, 10);
  EXPECT_LT(std::abs(report(data).loss), 10);
}

TEST(RowWeights, AutoChoosesAmongNetworks) {
  Data data = drawn(30);
  for (std::size_t n = 0; n < 30; ++n) {
    data.weights.push_back(0.5 + 0.01 * static_cast<double>(n));
  }
  const FitResult result = fit({.model = Model::kAuto}, TrainOptions{.epochs = 3}, data.rows());
  EXPECT_TRUE(result.model.has_networks());
}

std::string message_of(const Data& data, Model model, const FitControl& control = {}) {
  try {
    fit({.model = model}, TrainOptions{.epochs = 1}, data.rows(), control);
  } catch (const InputError& error) {
    return error.what();
  }
  return "accepted";
}

// Never asked to begin.
class AnyDevice final : public FitDevice {
 public:
  std::string refuses(const FitProblem&) const override { return ""; }
  std::unique_ptr<DeviceFit> begin(const FitProblem&) override {
    ADD_FAILURE();
    return nullptr;
  }
};

TEST(RowWeights, WhatCannotBeIsRefused) {
  Data data = drawn(20);
  data.weights.assign(19, 0.5);
  EXPECT_EQ(message_of(data, Model::kPne), "weights = 19 numbers; give one for each of the 20 rows");
  for (const double wrong : {-1.0, std::numeric_limits<double>::quiet_NaN(), std::numeric_limits<double>::infinity()}) {
    data.weights.assign(20, 0.5);
    data.weights[3] = wrong;
    EXPECT_NE(message_of(data, Model::kPne).find("row 4: weights ="), std::string::npos)
        << message_of(data, Model::kPne);
  }
  data.weights.assign(20, 0);
  EXPECT_NE(message_of(data, Model::kPne).find("at least 2 are needed"), std::string::npos);
  data.weights.assign(20, 0.5);
  data.weights[3] = 0.25;
  EXPECT_NE(message_of(data, Model::kGp).find("gp takes every row alike"), std::string::npos);
  AnyDevice device;
  EXPECT_NE(message_of(data, Model::kPne, {.device = &device}).find("weights cannot be trained there"),
            std::string::npos);
  EXPECT_EQ(message_of(data, Model::kPne), "accepted");
}

TEST(RowWeights, AreScaledToAMeanOfOne) {
  const std::vector<double> weights{1e308, 1.5e308, 0.5e308, 1e308};
  const std::vector<std::uint32_t> order{2, 1, 0, 3};
  const std::vector<float> scaled = scaled_weights(weights, order, 3);  // the last is held out
  EXPECT_EQ(scaled, (std::vector<float>{0.5F, 1.5F, 1.0F, 1.0F}));
  EXPECT_TRUE(scaled_weights({}, order, 3).empty());
  const std::vector<double> apart{1e-200, 1e-200, 1e-200, 1e200};
  EXPECT_EQ(scaled_weights(apart, order, 3), (std::vector<float>{1.0F, 1.0F, 1.0F, 1e30F}));
}

TEST(RowWeights, TheLossIsTheGaussians) {
  constexpr std::size_t kBatch = 21;
  PanelBuffer<float> heads(6, kBatch);
  PanelBuffer<float> targets(3, kBatch);
  Stream stream(1, Purpose::kTest);
  for (std::size_t b = 0; b < kBatch; ++b) {
    for (std::size_t r = 0; r < 6; ++r) {
      heads.panel()(r, b) = static_cast<float>(2 * stream.normal());
      targets.panel()(r % 3, b) = static_cast<float>(stream.normal());
    }
  }
  const GaussianOptions options;
  const auto loss = [&](float weight) {
    return weighted_nll(options, heads.panel(), targets.panel(), std::vector<float>(kBatch, weight));
  };
  const double plain = gaussian_nll(options, Panel<const float>(heads.panel()), targets.panel(), kBatch) * kBatch;
  EXPECT_NEAR(loss(1), plain, 1e-4 * std::abs(plain));
  EXPECT_NEAR(loss(2), 2 * plain, 1e-4 * std::abs(plain));
  heads.panel()(4, 7) = std::numeric_limits<float>::quiet_NaN();
  EXPECT_TRUE(std::isnan(loss(1)));
}

}  // namespace
}  // namespace dissent
