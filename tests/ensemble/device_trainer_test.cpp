// Fits whose epochs a device runs. The device here is this processor, by a trainer of its own, so that fits must come
// to the same bits as without it: what is tested is what is handed over, and what is made of what comes back.
#include "dissent/ensemble/device_trainer.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "dissent/base/error.hpp"
#include "dissent/ensemble/fit.hpp"
#include "ensemble/sample_rows.hpp"
#include "support/temp_dir.hpp"

namespace dissent {
namespace {

bool same(double a, double b) { return a == b || (std::isnan(a) && std::isnan(b)); }

// A trainer of the same rows and networks as another, whose model it does not see.
class CpuFit final : public DeviceFit {
 public:
  CpuFit(const FitProblem& problem, const EnsembleOptions& options, std::size_t num_steps)
      : model_(options, columns_of(problem)),
        trainer_(model_, problem.options, rows_of(problem), num_rows(problem) - problem.num_rows) {
    trainer_.plan_epochs(num_steps / trainer_.steps_per_epoch());
    for (std::size_t c = 0; c < model_.num_components(); ++c) {
      EXPECT_TRUE(std::ranges::equal(problem.samples[c], trainer_.problem().samples[c]));
      EXPECT_TRUE(std::ranges::equal(problem.held_out[c], trainer_.problem().held_out[c]));
    }
  }

  void run(std::span<const UnitEpochs> units, const FitBlocks& blocks, std::span<double> losses) override {
    const FitBlocks own{model_.parameters(), trainer_.average(), trainer_.first_moment(), trainer_.second_moment()};
    for (std::size_t k = 0; k < units.size(); ++k) {
      const UnitEpochs& unit = units[k];
      copy_unit(unit.unit, blocks, own);
      trainer_.set_restart(unit.unit, unit.restarts);
      check_factors(unit);
      losses[k] = trainer_.run_epochs(unit.unit, unit.begin, unit.end, nullptr);
      copy_unit(unit.unit, own, blocks);
    }
  }

 private:
  static std::size_t num_rows(const FitProblem& problem) {
    return problem.targets.size() / problem.networks.num_outputs();
  }
  static ScaledRows rows_of(const FitProblem& problem) {
    return {{problem.inputs.begin(), problem.inputs.end()}, {problem.targets.begin(), problem.targets.end()}};
  }
  static EnsembleColumns columns_of(const FitProblem& problem) {
    const auto named = [](const char* name, std::size_t count) { return std::vector<std::string>(count, name); };
    const auto unscaled = [](std::size_t count) {
      return Scaling{std::vector<double>(count, 0.0), std::vector<double>(count, 1.0)};
    };
    const std::size_t C = problem.inputs.size() / num_rows(problem);
    const std::size_t D = problem.networks.num_outputs();
    return {named("x", C), named("y", D), unscaled(C), unscaled(D)};
  }

  void copy_unit(std::size_t unit, const FitBlocks& from, const FitBlocks& to) {
    const std::span<float> part = trainer_.parameters(unit);
    const auto offset = static_cast<std::size_t>(part.data() - model_.parameters().data());
    for (const auto block :
         {&FitBlocks::parameters, &FitBlocks::average, &FitBlocks::first_moment, &FitBlocks::second_moment}) {
      std::ranges::copy((from.*block).subspan(offset, part.size()), (to.*block).subspan(offset).begin());
    }
  }

  void check_factors(const UnitEpochs& unit) {
    const std::size_t steps = trainer_.steps_per_epoch();
    ASSERT_EQ(unit.steps.size(), (unit.end - unit.begin) * steps);
    for (std::size_t k = 0; k < unit.steps.size(); ++k) {
      const StepFactors expected = trainer_.step_factors(unit.unit, unit.begin * steps + k + 1);
      ASSERT_EQ(unit.steps[k].step_size, expected.step_size) << k;
      ASSERT_EQ(unit.steps[k].average_newest, expected.average_newest) << k;
    }
  }

  Ensemble model_;
  Trainer trainer_;
};

class CpuDevice final : public FitDevice {
 public:
  CpuDevice(EnsembleOptions options, std::size_t num_steps) : options_(std::move(options)), num_steps_(num_steps) {}

  std::string refuses(const FitProblem& problem) const override {
    return problem.networks.stack().shared ? "`share_weights` cannot be trained there" : "";
  }
  std::unique_ptr<DeviceFit> begin(const FitProblem& problem) override {
    ++num_fits;
    return std::make_unique<CpuFit>(problem, options_, num_steps_);
  }

  int num_fits = 0;

 private:
  EnsembleOptions options_;
  std::size_t num_steps_;
};

struct Case {
  const char* name;
  EnsembleOptions options;
  TrainOptions train;  // batches of 32 of 120 rows, or all
};

class OnDevice : public testing::TestWithParam<Case> {
 protected:
  std::size_t num_steps() const {
    const TrainOptions& train = GetParam().train;
    const std::size_t num_rows = train.validation > 0 ? 84 : 120;
    const std::size_t batch = *train.batch_size == 0 ? num_rows : *train.batch_size;
    return train.epochs * ((num_rows + batch - 1) / batch);
  }

  test::SampleRows data_ = test::pairs(120);
  CpuDevice device_{GetParam().options, num_steps()};
};

TEST_P(OnDevice, AFitIsThatOfTheTrainerToTheBit) {
  const FitResult expected = fit(GetParam().options, GetParam().train, data_.rows());
  const FitResult found = fit(GetParam().options, GetParam().train, data_.rows(), {.device = &device_});
  EXPECT_EQ(device_.num_fits, 1);
  EXPECT_TRUE(std::ranges::equal(expected.model.parameters(), found.model.parameters()));
  EXPECT_TRUE(same(expected.report.loss, found.report.loss));
  EXPECT_TRUE(same(expected.report.validation_loss, found.report.validation_loss));
  EXPECT_EQ(expected.report.epochs_run, found.report.epochs_run);
  EXPECT_EQ(expected.report.kept_epochs, found.report.kept_epochs);
  EXPECT_EQ(expected.report.stopped_early, found.report.stopped_early);
  EXPECT_EQ(expected.report.restarted, found.report.restarted);
  EXPECT_EQ(expected.report.diverged, found.report.diverged);
}

TEST_P(OnDevice, AFitInPiecesIsTheWholeFitToTheBit) {
  const TempDir folder;
  const FitResult whole = fit(GetParam().options, GetParam().train, data_.rows(), {.device = &device_});
  const FitControl control{
      .progress = [](const FitProgress&) { return false; }, .checkpoint = folder.file("state"), .device = &device_};
  FitResult pieces = fit(GetParam().options, GetParam().train, data_.rows(), control);
  int num_pieces = 1;
  for (; pieces.report.interrupted; ++num_pieces) {
    pieces = fit(GetParam().options, GetParam().train, data_.rows(), control);
  }
  EXPECT_GE(num_pieces, 2);
  EXPECT_TRUE(std::ranges::equal(whole.model.parameters(), pieces.model.parameters()));
  EXPECT_EQ(whole.report.kept_epochs, pieces.report.kept_epochs);
  EXPECT_EQ(whole.report.restarted, pieces.report.restarted);
}

INSTANTIATE_TEST_SUITE_P(
    Fits, OnDevice,
    testing::Values(Case{"pne", {.model = Model::kPne, .num_components = 3}, {.epochs = 200, .batch_size = 32}},
                    Case{"flow", {.num_components = 2}, {.epochs = 200, .batch_size = 32}},
                    Case{"all_rows_at_once", {.num_components = 2}, {.epochs = 700, .batch_size = 0}},
                    // Components stop at different epochs ...
                    Case{"stops_early",
                         {.model = Model::kPne, .num_components = 3},
                         {.epochs = 400, .batch_size = 32, .validation = 0.3, .choose_epoch = true, .patience = 0.05}},
                    Case{"validated_flow",
                         {.num_components = 2},
                         {.epochs = 80, .batch_size = 32, .validation = 0.3, .choose_epoch = true}},
                    // ... and begin anew at different epochs.
                    Case{"diverges",
                         {.model = Model::kPne, .num_components = 3},
                         {.epochs = 80,
                          .batch_size = 32,
                          .learning_rate = 0.3,
                          .cosine_decay = false,
                          .clip_norm = 0,
                          .validation = 0.3,
                          .choose_epoch = true}}),
    [](const auto& info) { return std::string(info.param.name); });

TEST(DeviceTrainer, WhatADeviceCannotTrainIsRefused) {
  const test::SampleRows data = test::pairs(40);
  CpuDevice device({}, 1);
  const auto refusal = [&](const EnsembleOptions& options, const TrainOptions& train) {
    return message_of<InputError>([&] { fit(options, train, data.rows(), {.device = &device}); });
  };
  EXPECT_EQ(refusal({.share_weights = true}, {}),
            "device: share_weights cannot be trained there; train this model on the CPU");
  EXPECT_EQ(refusal({}, {.one_component_per_step = true}),
            "device: one_component_per_step cannot be trained there; train this model on the CPU");
  EXPECT_EQ(refusal({.model = Model::kAuto}, {.epochs = 1, .one_component_per_step = true}),
            "device: one_component_per_step cannot be trained there; train this model on the CPU");
  EXPECT_EQ(device.num_fits, 0);
}

TEST(DeviceTrainer, AProcessIsFittedWithoutTheDevice) {
  const test::SampleRows data = test::pairs(40);
  CpuDevice device({}, 1);
  const EnsembleOptions options{.model = Model::kGp};
  const FitResult found = fit(options, {}, data.rows(), {.device = &device});
  const FitResult expected = fit(options, {}, data.rows());
  EXPECT_TRUE(std::ranges::equal(found.model.parameters(), expected.model.parameters()));
  EXPECT_EQ(device.num_fits, 0);
}

TEST(DeviceTrainer, ModelsAreComparedOnTheDevice) {
  const test::SampleRows data = test::hetero(60, 0);
  const EnsembleOptions options{.model = Model::kPne, .num_components = 2, .log_targets = LogTargets::kNone};
  CpuDevice device(options, 20);
  EnsembleOptions chosen = options;
  chosen.model = Model::kAuto;
  // The race's flow has other networks than the device was made for: that it is asked at all is what counts.
  fit(chosen, {.epochs = 20, .batch_size = 64}, data.rows(),
      {.progress = [&](const FitProgress&) { return device.num_fits == 0; }, .device = &device});
  EXPECT_GT(device.num_fits, 0);
}

// Moments after a step, and the factors, give the parameters and their mean after it.
TEST(DeviceTrainer, FactorsAreThoseOfTheTrainersSteps) {
  const test::SampleRows data = test::wide(40, 3);
  for (const Model kind : {Model::kPne, Model::kFlow}) {
    Ensemble model({.model = kind, .num_components = 2}, data.columns());
    const EnsembleColumns columns = data.columns();
    Trainer trainer(
        model, {.batch_size = 0, .weight_decay = 0.1, .flow_weight_decay = 0.3, .clip_norm = 0, .choose_epoch = true},
        {apply_scaling(columns.input_scaling, data.x), apply_scaling(columns.target_scaling, data.y)}, 0);
    trainer.plan_epochs(6);
    trainer.restart(0, 1);
    const std::span<const float> part = trainer.parameters(0);
    const auto begin = static_cast<std::size_t>(part.data() - model.parameters().data());
    for (std::size_t epoch = 0; epoch < 5; ++epoch) {
      const std::vector<float> before(model.parameters().begin(), model.parameters().end());
      const std::vector<float> mean(trainer.average().begin(), trainer.average().end());
      ASSERT_TRUE(std::isfinite(trainer.run_epochs(0, epoch, epoch + 1, nullptr)));
      const StepFactors f = trainer.step_factors(0, epoch + 1);
      for (std::size_t k = begin; k < begin + part.size(); ++k) {
        const float root = std::sqrt(trainer.second_moment()[k]) * f.inverse_root + 1e-8F;
        const float stepped = f.shrink * before[k] - f.step_size * trainer.first_moment()[k] / root;
        const float expected = k < model.flow_begin() ? stepped : stepped * f.flow_shrink;
        ASSERT_NEAR(model.parameters()[k], expected, 2e-6F * (1 + std::abs(expected))) << k;
        ASSERT_NEAR(trainer.average()[k], mean[k] + f.average_newest * (expected - mean[k]), 2e-6F) << k;
      }
    }
  }
}

}  // namespace
}  // namespace dissent
