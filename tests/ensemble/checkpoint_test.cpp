// Fits that are stopped and resumed. That a killed program does the same is tests/cli/fit_test.py's.
#include "dissent/ensemble/checkpoint.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <filesystem>

#include "dissent/base/threads.hpp"
#include "ensemble/sample_rows.hpp"
#include "support/temp_dir.hpp"
#include "support/without_checksum.hpp"

namespace dissent {
namespace {

using test::pairs;

void expect_says(const std::string& message, const std::string& part) {
  EXPECT_NE(message.find(part), std::string::npos) << message;
}

bool same(double a, double b) { return a == b || (std::isnan(a) && std::isnan(b)); }

struct Case {
  const char* name;
  EnsembleOptions options;
  TrainOptions train;
};

class Checkpoint : public testing::TestWithParam<Case> {
 protected:
  // Each run ends at its first report, until one comes through.
  FitResult fit_in_pieces(const std::string& file, Executor* executor = nullptr) const {
    while (true) {
      FitResult result =
          fit(GetParam().options, GetParam().train, data_.rows(),
              {.executor = executor, .progress = [](const FitProgress&) { return false; }, .checkpoint = file});
      if (!result.report.interrupted) {
        return result;
      }
      ++num_pieces_;
    }
  }

  test::SampleRows data_ = pairs(120);
  mutable int num_pieces_ = 0;
};

TEST_P(Checkpoint, AFitInPiecesIsTheWholeFitToTheBit) {
  const TempDir folder;
  const FitResult whole = fit(GetParam().options, GetParam().train, data_.rows());
  ThreadPool pool(2);
  for (Executor* threads : std::initializer_list<Executor*>{nullptr, &pool}) {
    num_pieces_ = 0;
    const std::string file = folder.file(threads == nullptr ? "one" : "two");
    const FitResult pieces = fit_in_pieces(file, threads);
    EXPECT_GE(num_pieces_, 4);
    EXPECT_TRUE(std::ranges::equal(whole.model.parameters(), pieces.model.parameters()));
    EXPECT_TRUE(same(whole.report.loss, pieces.report.loss));
    EXPECT_TRUE(same(whole.report.validation_loss, pieces.report.validation_loss));
    EXPECT_EQ(whole.report.epochs_run, pieces.report.epochs_run);
    EXPECT_EQ(whole.report.stopped_early, pieces.report.stopped_early);
    EXPECT_EQ(whole.report.kept_epochs, pieces.report.kept_epochs);
    EXPECT_EQ(whole.report.restarted, pieces.report.restarted);
    EXPECT_EQ(whole.report.diverged, pieces.report.diverged);
    EXPECT_GT(pieces.report.resumed_epoch, 0U);
    EXPECT_TRUE(std::filesystem::exists(file));
    // Killed after the last checkpoint: the file is there still, and gives the same again.
    EXPECT_TRUE(std::ranges::equal(whole.model.parameters(), fit_in_pieces(file, threads).model.parameters()));
  }
}

INSTANTIATE_TEST_SUITE_P(
    Fits, Checkpoint,
    testing::Values(
        Case{"pne", {.model = Model::kPne, .num_components = 3}, {.epochs = 40, .batch_size = 32, .validation = 0}},
        Case{"out_of_bag",
             {.model = Model::kPne, .num_components = 3},
             {.epochs = 40, .batch_size = 32, .choose_epoch = true}},
        Case{"one_component_a_step",
             {.model = Model::kPne, .num_components = 3},
             {.epochs = 40, .batch_size = 32, .one_component_per_step = true}},
        Case{"one_component_a_step_with_the_flow",
             {.num_components = 3},
             {.epochs = 40, .batch_size = 32, .one_component_per_step = true}},
        Case{"flow", {.num_components = 2}, {.epochs = 40, .batch_size = 32}},
        Case{"all_rows_at_once",
             {.num_components = 2},
             {.epochs = 120, .batch_size = 0, .validation = 0.2, .choose_epoch = true}},
        Case{"shared", {.num_components = 2, .share_weights = true}, {.epochs = 40, .batch_size = 32}},
        // Components stop at different epochs.
        Case{"stops_early",
             {.model = Model::kPne, .num_components = 3},
             {.epochs = 400, .batch_size = 32, .validation = 0.3, .choose_epoch = true, .patience = 0.05}},
        // ... and begin anew at different epochs.
        Case{"diverges",
             {.model = Model::kPne, .num_components = 3},
             {.epochs = 80, .batch_size = 32, .learning_rate = 0.3, .cosine_decay = false, .clip_norm = 0}}),
    [](const auto& info) { return std::string(info.param.name); });

class CheckpointFile : public testing::Test {
 protected:
  CheckpointFile() { fit({}, kTrain, data_.rows(), {.progress = stop_, .checkpoint = file_}); }

  std::string refusal(const EnsembleOptions& options, const TrainOptions& train, const test::SampleRows& data) const {
    return message_of<InputError>([&] { fit(options, train, data.rows(), {.checkpoint = file_}); });
  }

  static constexpr TrainOptions kTrain{.epochs = 40, .batch_size = 32};
  const std::function<bool(const FitProgress&)> stop_ = [](const FitProgress&) { return false; };
  TempDir folder_;
  std::string file_ = folder_.file("state");
  test::SampleRows data_ = pairs(120);
};

TEST_F(CheckpointFile, OfAnotherFitIsRefusedAndSaysWhy) {
  expect_says(refusal({.seed = 1}, kTrain, data_), "its 'seed' is 0, not 1");
  expect_says(refusal({.num_components = 4}, kTrain, data_), "its 'components' is 5, not 4");
  TrainOptions train = kTrain;
  train.learning_rate = 0.5;
  expect_says(refusal({}, train, data_), "its 'learning_rate' is 0.01, not 0.5");
  test::SampleRows other = data_;
  other.y[7] += 1e-9;
  expect_says(refusal({}, kTrain, other), "its 'rows' is \"120 rows, digest ");
  other = data_;
  other.targets[1] = "w";
  expect_says(refusal({}, kTrain, other), "its 'targets' is [\"u\",\"v\"], not [\"u\",\"w\"]");
}

TEST_F(CheckpointFile, DamagedOrForeignIsRefused) {
  const std::string whole = read_bytes(file_);
  const auto damaged = [&](const std::string& content) {
    folder_.write("state", content);
    return refusal({}, kTrain, data_);
  };
  expect_says(damaged(""), file_);
  expect_says(damaged(whole.substr(0, whole.size() - 1)), file_);
  expect_says(damaged("x,y\n1,2\n"), file_);
  std::string changed = whole;
  changed[whole.size() - 9] ^= 1;
  expect_says(damaged(changed), "checksum");
  const std::string old = without_checksum(whole);
  changed = old;
  changed.replace(changed.find("dissent.checkpoint"), 7, "another");
  expect_says(damaged(changed), "not a checkpoint of dissent");
  changed = old;
  changed.replace(changed.find("\"units\""), 7, "\"other\"");
  expect_says(damaged(changed), "units");
  changed = old;
  std::fill(changed.begin() + static_cast<std::ptrdiff_t>(whole.size() / 4), changed.end(), '\xff');  // all are NaN
  expect_says(damaged(changed), "not finite");
  folder_.write("state", whole);
  EXPECT_GT(fit({}, kTrain, data_.rows(), {.checkpoint = file_}).report.resumed_epoch, 0U);
}

TEST_F(CheckpointFile, IsNotWrittenWhereItCannotBe) {
  expect_says(message_of<SystemError>([&] {
                fit({}, kTrain, data_.rows(), {.progress = stop_, .checkpoint = folder_.file("none/state")});
              }),
              "none");
}

}  // namespace
}  // namespace dissent
