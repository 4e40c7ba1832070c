// Training that diverges on a card: it begins anew at a lower rate, and in the end what is kept is finite.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <thread>
#include <utility>
#include <vector>

#include "device/card.hpp"
#include "dissent/ensemble/fit.hpp"
#include "ensemble/sample_rows.hpp"

namespace dissent {
namespace {

class DivergingOnCard : public test::OnCard, public testing::WithParamInterface<Model> {
 protected:
  FitResult run(const TrainOptions& train, FitDevice* device) const {
    return fit({.model = GetParam(), .num_components = 3, .seed = 5}, train, data_.rows(), {.device = device});
  }
  FitDevice& card() const { return device_->fits(); }

  test::SampleRows data_ = test::hetero(200, 0);
};

TEST_P(DivergingOnCard, AComponentIsTrainedAgainAtALowerRate) {
  // Held-out rows are looked at every 25 steps, so that both devices look at the same steps.
  const TrainOptions train{.epochs = 100,
                           .learning_rate = 3,
                           .cosine_decay = false,
                           .clip_norm = 0,
                           .validation = 0.2,
                           .choose_epoch = true};
  const FitResult on_cpu = run(train, nullptr);
  ASSERT_FALSE(on_cpu.report.restarted.empty());
  const FitResult found = run(train, &card());
  EXPECT_FALSE(found.report.restarted.empty());
  EXPECT_TRUE(found.report.diverged.empty());
  EXPECT_GT(test::mean_of(found.model.log_density(data_.x, data_.y)), -6);
  const FitResult again = run(train, &card());
  EXPECT_EQ(found.report.restarted, again.report.restarted);
  EXPECT_TRUE(std::ranges::equal(std::as_const(found.model).parameters(), std::as_const(again.model).parameters()));
}

TEST_P(DivergingOnCard, WhatIsKeptIsFinite) {
  for (const double validation : {0.0, 0.2}) {
    TrainOptions train{.epochs = 200, .learning_rate = 1e6, .cosine_decay = false, .clip_norm = 0};
    train.validation = validation;
    const FitResult found = run(train, &card());
    EXPECT_FALSE(found.report.diverged.empty());
    EXPECT_TRUE(std::ranges::all_of(std::as_const(found.model).parameters(), [](float p) { return std::isfinite(p); }));
    EXPECT_TRUE(
        std::ranges::all_of(found.model.log_density(data_.x, data_.y), [](double l) { return std::isfinite(l); }));
  }
}

// Nor does it leave anything behind, or reach those that are trained at the same time.
TEST_P(DivergingOnCard, OtherFitsKeepTheirBits) {
  const TrainOptions calm{.epochs = 50};
  const TrainOptions wild{.epochs = 50, .learning_rate = 1e6, .cosine_decay = false, .clip_norm = 0};
  const FitResult alone = run(calm, &card());
  std::vector<float> beside;
  {
    const std::jthread other([&] { run(wild, &card()); });
    const FitResult result = run(calm, &card());
    beside.assign(std::as_const(result.model).parameters().begin(), std::as_const(result.model).parameters().end());
  }
  const FitResult after = run(calm, &card());
  EXPECT_TRUE(std::ranges::equal(std::as_const(alone.model).parameters(), beside));
  EXPECT_TRUE(std::ranges::equal(std::as_const(alone.model).parameters(), std::as_const(after.model).parameters()));
}

INSTANTIATE_TEST_SUITE_P(Networks, DivergingOnCard, testing::Values(Model::kPne, Model::kFlow),
                         [](const auto& info) { return info.param == Model::kPne ? "pne" : "flow"; });

}  // namespace
}  // namespace dissent
