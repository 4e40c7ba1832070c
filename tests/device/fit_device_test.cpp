// Training on a card against the trainer of the CPU, from the same weights, rows and draws.
//
// Both compute in single precision and add in different orders. After one step that is all there is: gradients agree to
// 1e-5 of their size. Then training carries differences on, and Adam divides small gradients by their own size; so the
// limit for more steps is what the CPU makes of a difference as small as rounding: twice it trains from weights that
// were moved by 1e-6 of their size, and the card may end up ten times as far from it as the farther of these.
#include "dissent/ensemble/fit_device.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <thread>
#include <vector>

#include "device/card.hpp"
#include "dissent/device/device_name.hpp"
#include "dissent/ensemble/device_trainer.hpp"
#include "dissent/ensemble/fit.hpp"
#include "ensemble/sample_rows.hpp"
#include "support/temp_dir.hpp"

namespace dissent {
namespace {

using test::OnCard;

// One end of a stretch of training.
struct Trained {
  std::vector<float> parameters;
  std::vector<float> first_moment;
  std::vector<float> second_moment;
  std::vector<float> average;
  double loss = 0;  // mean over units
};

struct Setting {
  Model model;
  std::string preset;
  std::size_t num_outputs;
};

class Training {
 public:
  Training(const Setting& setting, std::size_t num_rows) : data_(test::wide(num_rows, setting.num_outputs)) {
    FitOptions options = fit_preset(setting.preset);
    options_ = options.ensemble;
    options_.model = setting.model;
    options_.num_components = setting.num_outputs > 100 ? 2 : 5;
    options_.seed = 11;
    train_ = options.train;
  }

  EnsembleOptions& options() { return options_; }
  TrainOptions& train() { return train_; }

  // On the device, or without one on this processor from weights that are moved by `moved` of their size.
  Trained run(std::size_t num_steps, FitDevice* device, double moved = 0, std::uint64_t seed = 0) const {
    const EnsembleColumns columns = data_.columns();
    Ensemble model(options_, columns);
    Stream stream(seed, Purpose::kTest);
    for (float& value : model.parameters()) {
      value *= static_cast<float>(1 + moved * stream.normal());
    }
    Trainer trainer(model, train_,
                    {apply_scaling(columns.input_scaling, data_.x), apply_scaling(columns.target_scaling, data_.y)}, 0);
    const std::size_t epochs = (num_steps + trainer.steps_per_epoch() - 1) / trainer.steps_per_epoch();
    trainer.plan_epochs(epochs);
    std::vector<double> losses;
    if (device != nullptr) {
      std::vector<DeviceTrainer::Stretch> stretches;
      for (std::size_t unit = 0; unit < trainer.num_units(); ++unit) {
        stretches.push_back({unit, 0, epochs});
      }
      losses = DeviceTrainer(*device, trainer, model.parameters()).run(stretches);
    } else {
      for (std::size_t unit = 0; unit < trainer.num_units(); ++unit) {
        losses.push_back(trainer.run_epochs(unit, 0, epochs, nullptr));
      }
    }
    return {{model.parameters().begin(), model.parameters().end()},
            {trainer.first_moment().begin(), trainer.first_moment().end()},
            {trainer.second_moment().begin(), trainer.second_moment().end()},
            {trainer.average().begin(), trainer.average().end()},
            test::mean_of(losses)};
  }

 private:
  test::SampleRows data_;
  EnsembleOptions options_;
  TrainOptions train_;
};

double distance(const std::vector<float>& a, const std::vector<float>& b) {
  double sum = 0;
  for (std::size_t k = 0; k < a.size(); ++k) {
    const double apart = static_cast<double>(a[k]) - static_cast<double>(b[k]);
    sum += apart * apart;
  }
  return std::sqrt(sum);
}

std::vector<Setting> settings() {
  std::vector<Setting> all;
  for (const Model model : {Model::kPne, Model::kFlow}) {
    for (const char* preset : {"paper", "default"}) {
      for (const std::size_t num_outputs : {1, 11, 27, 257}) {
        all.push_back({model, preset, num_outputs});
      }
    }
  }
  return all;
}

std::string name_of(const Setting& setting) {
  return fmt::format("{} {} {}", model_name(setting.model), setting.preset, setting.num_outputs);
}

TEST_F(OnCard, TheGradientOfAStepIsTheTrainersToRounding) {
  constexpr double kLimit = 1e-5;
  for (const Setting& setting : settings()) {
    const Training training(setting, 60);  // one batch
    const Trained expected = training.run(1, nullptr);
    const Trained found = training.run(1, &device_->fits());
    const std::vector<float> zero(expected.first_moment.size());
    EXPECT_LE(distance(found.first_moment, expected.first_moment), kLimit * distance(expected.first_moment, zero))
        << name_of(setting);
    EXPECT_NEAR(found.loss, expected.loss, kLimit * (1 + std::abs(expected.loss))) << name_of(setting);
  }
}

void expect_near_after(std::size_t num_steps, FitDevice& device) {
  constexpr double kRounding = 1e-6;
  constexpr double kFactor = 10;
  for (const Setting& setting : settings()) {
    const Training training(setting, 200);
    const Trained expected = training.run(num_steps, nullptr);
    const Trained found = training.run(num_steps, &device);
    double apart = 0;
    double loss_apart = kRounding * (1 + std::abs(expected.loss));
    for (const std::uint64_t seed : {1, 2}) {
      const Trained moved = training.run(num_steps, nullptr, kRounding, seed);
      apart = std::max(apart, distance(moved.parameters, expected.parameters));
      loss_apart = std::max(loss_apart, std::abs(moved.loss - expected.loss));
    }
    EXPECT_LE(distance(found.parameters, expected.parameters), kFactor * apart) << name_of(setting);
    EXPECT_NEAR(found.loss, expected.loss, kFactor * loss_apart) << name_of(setting);
  }
}

// After few steps, all that training changes.
void expect_same(const Training& training, std::size_t num_steps, FitDevice& device, const char* name) {
  constexpr double kLimit = 1e-4;
  const Trained expected = training.run(num_steps, nullptr);
  const Trained found = training.run(num_steps, &device);
  const std::vector<float> zero(expected.parameters.size());
  for (const auto part : {&Trained::parameters, &Trained::first_moment, &Trained::second_moment, &Trained::average}) {
    EXPECT_LE(distance(found.*part, expected.*part), kLimit * distance(expected.*part, zero)) << name;
  }
}

TEST_F(OnCard, UnusualShapesAreTrainedAsOnThisProcessor) {
  const auto check = [&](const char* name, std::size_t num_rows, const auto& change) {
    Training training({Model::kFlow, "default", 3}, num_rows);
    change(training);
    expect_same(training, 6, device_->fits(), name);
  };
  for (const std::size_t components : {8, 11, 16, 20}) {
    check(fmt::format("{} components", components).c_str(), 60,
          [&](Training& t) { t.options().num_components = components; });
    check(fmt::format("{} components, in larger batches", components).c_str(), 300, [&](Training& t) {
      t.options().num_components = components;
      t.train().batch_size = 300;
    });
  }
  check("networks in sixteen slices", 2500, [](Training& t) {
    t.options().model = Model::kPne;
    t.train().batch_size = 2500;
  });
  check("layers wider than sums are formed at once", 60, [](Training& t) {
    t.options().hidden = {90, 40, 70};
    t.options().keep_probability = 1;
    t.options().flow_hidden = {40, 28};
  });
  check("one component", 60, [](Training& t) { t.options().num_components = 1; });
  check("a last batch of one row", 129, [](Training&) {});
  check("one row", 1, [](Training&) {});
  check("averages", 100, [](Training& t) { t.train().choose_epoch = true; });
  check("batches of more than a tile", 700, [](Training& t) { t.train().batch_size = 300; });
  check("slices of more than a tile", 1000, [](Training& t) { t.train().batch_size = 1000; });
  check("a slice without rows", 260, [](Training& t) { t.train().batch_size = 256; });
  check("slices of three warps", 188, [](Training& t) { t.train().batch_size = 188; });
  for (const std::size_t units : {1, 8, 16, 24, 31}) {
    check(fmt::format("conditioners of {} units", units).c_str(), 700, [&](Training& t) {
      t.train().batch_size = 256;
      t.options().flow_hidden = {units};
    });
  }
  check("a conditioner that narrows", 700, [](Training& t) {
    t.train().batch_size = 256;
    t.options().flow_hidden = {40, 12};
  });
}

// More than the card holds at a time: they take turns in stretches of epochs.
TEST_F(OnCard, ManyComponentsAreTrainedInTurns) {
  Training training({Model::kPne, "default", 1}, 40);
  training.options().num_components = 1000;
  training.options().hidden = {4};
  expect_same(training, 20, device_->fits(), "a thousand components");
}

TEST_F(OnCard, TenStepsAreTheTrainersAsFarAsRoundingAllows) { expect_near_after(10, device_->fits()); }

TEST_F(OnCard, AThousandStepsAreTheTrainersAsFarAsRoundingAllows) { expect_near_after(1000, device_->fits()); }

FitResult fit_on(Device& device, std::uint64_t seed, std::size_t num_outputs) {
  return fit({.model = seed % 2 == 0 ? Model::kFlow : Model::kPne, .seed = seed}, {.epochs = 60},
             test::wide(90 + 10 * seed, num_outputs).rows(), {.device = &device.fits()});
}

TEST_F(OnCard, AFitHasTheSameBitsEachTime) {
  for (const std::size_t num_outputs : {1, 11}) {
    const FitResult once = fit_on(*device_, 2, num_outputs);
    const FitResult again = fit_on(*device_, 2, num_outputs);
    EXPECT_TRUE(std::ranges::equal(std::as_const(once.model).parameters(), std::as_const(again.model).parameters()));
    EXPECT_EQ(once.report.loss, again.report.loss);
  }
}

TEST_F(OnCard, AFitAmongOthersHasTheSameBitsAsAlone) {
  constexpr std::size_t kFits = 12;
  std::vector<std::vector<float>> together(kFits);
  {
    std::vector<std::jthread> threads;
    for (std::size_t k = 0; k < kFits; ++k) {
      threads.emplace_back([&, k] {
        const FitResult result = fit_on(*device_, k, k % 3 == 0 ? 1 : 11);
        together[k].assign(result.model.parameters().begin(), result.model.parameters().end());
      });
    }
  }
  for (std::size_t k = 0; k < kFits; ++k) {
    const FitResult alone = fit_on(*device_, k, k % 3 == 0 ? 1 : 11);
    EXPECT_TRUE(std::ranges::equal(std::as_const(alone.model).parameters(), together[k])) << k;
  }
}

// So many that the card gives each fewer blocks and threads than one alone.
void expect_same_bits_among_many(FitDevice& device, const char* name, const EnsembleOptions& options,
                                 std::size_t batch_size, std::size_t num_rows) {
  constexpr std::size_t kFits = 60;
  TrainOptions train;
  train.epochs = 20;
  train.batch_size = batch_size;
  const auto parameters_of = [&](std::uint64_t seed) {
    EnsembleOptions own = options;
    own.seed = seed;
    const FitResult result = fit(own, train, test::wide(num_rows, 3).rows(), {.device = &device});
    return std::vector<float>(result.model.parameters().begin(), result.model.parameters().end());
  };
  std::vector<std::vector<float>> together(kFits);
  {
    std::vector<std::jthread> threads;
    for (std::size_t k = 0; k < kFits; ++k) {
      threads.emplace_back([&, k] { together[k] = parameters_of(k); });
    }
  }
  for (std::size_t k = 0; k < kFits; k += 20) {
    EXPECT_EQ(parameters_of(k), together[k]) << name << ", seed " << k;
  }
}

TEST_F(OnCard, AFitAmongManyHasTheSameBitsAsAlone) {
  const EnsembleOptions flow{.model = Model::kFlow, .keep_probability = 1};
  EnsembleOptions small = flow;
  small.hidden = {16};
  EnsembleOptions many = flow;
  many.hidden = {8};
  many.num_components = 20;
  EnsembleOptions together = many;
  together.num_components = 11;
  FitDevice& fits = device_->fits();
  expect_same_bits_among_many(fits, "slices of several tiles, gradients in shared memory", small, 1000, 1200);
  expect_same_bits_among_many(fits, "slices of several tiles, gradients too large for it", flow, 1000, 1200);
  expect_same_bits_among_many(fits, "slices of one tile, and in the second batch of none", flow, 256, 300);
  expect_same_bits_among_many(fits, "components in turns, 16 of 20 at work at a time", many, 300, 300);
  expect_same_bits_among_many(fits, "eleven components at a time", together, 300, 300);
}

TEST_F(OnCard, WhatItCannotTrainIsRefused) {
  const test::SampleRows data = test::pairs(40);
  const std::string message = message_of<InputError>(
      [&] { fit({.share_weights = true}, {.epochs = 1}, data.rows(), {.device = &device_->fits()}); });
  EXPECT_NE(message.find("train this model on the CPU"), std::string::npos) << message;
}

TEST_F(OnCard, ANumberWithoutACardIsRefused) {
  const std::string message = message_of<InputError>([] { open_device("cuda:4096"); });
  EXPECT_TRUE(message.starts_with("device = cuda:4096; there ")) << message;
}

TEST(OpenDevice, NamesAreReadAsTheyAreMeant) {
  EXPECT_EQ(open_device("cpu"), nullptr);
  EXPECT_EQ(card_of("cpu"), std::nullopt);
  EXPECT_EQ(card_of("cuda"), 0);
  EXPECT_EQ(card_of("cuda:3"), 3);
  for (const char* bad : {"gpu", "cuda:", "cuda:-1", "cuda:x", "CUDA", "cuda:99999999999"}) {
    EXPECT_EQ(message_of<InputError>([&] { open_device(bad); }),
              fmt::format("device = {}; it must be cpu, cuda, or cuda:N with the number of a card", bad));
  }
}

// Whatever the machine: a card, or one sentence that says why there is none.
TEST(OpenDevice, ACardOrTheReasonWhyNot) {
  try {
    EXPECT_FALSE(open_device("cuda")->name().empty());
  } catch (const Error& error) {
    const std::string message = error.what();
    EXPECT_TRUE(message.starts_with("device = cuda; this build has no code for cards") ||
                message.starts_with("device cuda: "))
        << message;
  }
}

}  // namespace
}  // namespace dissent
