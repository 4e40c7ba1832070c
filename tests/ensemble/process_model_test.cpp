// The kind gp: what it shares with every kind is fit_test.cpp's.
#include "dissent/ensemble/process_model.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "dissent/base/threads.hpp"
#include "dissent/ensemble/fit.hpp"
#include "dissent/ensemble/metrics.hpp"
#include "dissent/ensemble/recalibration.hpp"
#include "ensemble/sample_rows.hpp"
#include "support/temp_dir.hpp"

namespace dissent {
namespace {

using test::hetero;
using test::mean_of;
using test::pairs;
using test::SampleRows;
using test::wide;

const EnsembleOptions kProcess{.model = Model::kGp, .num_components = 6, .seed = 3};

// y = sin(3 x) + 0.1 z; x over [-1, 1].
SampleRows smooth(std::size_t num_rows, std::uint64_t part = 0) {
  SampleRows data{{"x"}, {"y"}, {}, {}};
  Stream stream(11, Purpose::kTest, part);
  for (std::size_t n = 0; n < num_rows; ++n) {
    data.x.push_back(2 * stream.uniform() - 1);
    data.y.push_back(std::sin(3 * data.x.back()) + 0.1 * stream.normal());
  }
  return data;
}

TEST(ProcessModel, ReachesTheTruthWithFewRows) {
  const SampleRows train = smooth(150);
  const SampleRows test = smooth(2000, 1);
  const Ensemble model = fit(kProcess, {.validation = 0}, train.rows()).model;
  const Metrics metrics = evaluate(model, test.x, test.y);
  const double truth = -0.5 * (kLogTwoPi + 1) - std::log(0.1);
  EXPECT_GT(metrics.log_likelihood, truth - 0.15);
  EXPECT_LT(metrics.rmse, 0.11);
  EXPECT_GT(metrics.coverage_90, 0.84);
  EXPECT_LT(metrics.coverage_90, 0.96);
}

TEST(ProcessModel, CertaintyEndsWhereDataEnd) {
  const Ensemble model = fit(kProcess, {.validation = 0}, smooth(60).rows()).model;
  const Mixture<double> at = model.predict(std::vector<double>{0, 5});
  const auto spread = [&](std::size_t n) {
    double most = -1e300;
    double least = 1e300;
    for (std::size_t m = 0; m < 6; ++m) {
      most = std::max(most, at.mean[n * 6 + m]);
      least = std::min(least, at.mean[n * 6 + m]);
    }
    return most - least;
  };
  EXPECT_GT(spread(1), 5 * spread(0));
  EXPECT_GT(at.stddev[6], 2 * at.stddev[0]);
}

// The mean over components is the exact posterior mean, so more components change it little.
TEST(ProcessModel, TheMeanDoesNotDependOnTheNumberOfComponents) {
  const SampleRows data = smooth(60);
  EnsembleOptions many = kProcess;
  many.num_components = 40;
  const Metrics few = evaluate(fit(kProcess, {.validation = 0}, data.rows()).model, data.x, data.y);
  const Metrics more = evaluate(fit(many, {.validation = 0}, data.rows()).model, data.x, data.y);
  EXPECT_NEAR(few.rmse, more.rmse, 0.02 * more.rmse);
}

TEST(ProcessModel, HeldOutRowsAreNotTrainedOn) {
  const SampleRows data = smooth(100);
  const FitResult result = fit(kProcess, {.validation = 0.3}, data.rows());
  EXPECT_EQ(result.report.num_rows, 70U);
  EXPECT_EQ(result.report.num_validation_rows, 30U);
  EXPECT_GT(result.report.validation_loss, result.report.loss);
  EXPECT_EQ(result.report.epochs_run, 1U);
}

// Sums of vectors round by their length.
TEST(ProcessModel, RowsHardlyDependOnTheirNeighbours) {
  const SampleRows data = pairs(300);
  const Ensemble model = fit(kProcess, {.validation = 0}, data.rows()).model;
  const Mixture<double> all = model.predict(data.x);
  for (const std::size_t n : {0, 17, 255, 256, 299}) {
    const Mixture<double> alone = model.predict(std::span(&data.x[2 * n], 2));
    for (std::size_t k = 0; k < 12; ++k) {
      EXPECT_NEAR(alone.mean[k], all.mean[12 * n + k], 1e-9 * all.stddev[12 * n + k]);
      EXPECT_NEAR(alone.stddev[k], all.stddev[12 * n + k], 1e-9 * all.stddev[12 * n + k]);
    }
  }
}

TEST(ProcessModel, AFitInPiecesIsTheWholeFitToTheBit) {
  const TempDir folder;
  const SampleRows data = wide(60, 5);
  const FitResult whole = fit(kProcess, {.validation = 0}, data.rows());
  const std::string file = folder.file("state");
  int pieces = 0;
  while (true) {
    const FitResult piece =
        fit(kProcess, {.validation = 0}, data.rows(),
            {.progress = [](const FitProgress& state) { return state.waiting; }, .checkpoint = file});
    if (!piece.report.interrupted) {
      EXPECT_EQ(piece.report.resumed_epoch, 4U);
      EXPECT_TRUE(std::ranges::equal(whole.model.parameters(), piece.model.parameters()));
      EXPECT_EQ(whole.model.predict(data.x).mean, piece.model.predict(data.x).mean);
      break;
    }
    for (const double value : piece.model.predict(data.x).stddev) {
      EXPECT_GT(value, 0);
    }
    ++pieces;
  }
  EXPECT_EQ(pieces, 4);
  const std::string message = message_of<InputError>(
      [&] { fit({.model = Model::kGp, .num_components = 7}, {.validation = 0}, data.rows(), {.checkpoint = file}); });
  EXPECT_NE(message.find("checkpoint of another fit"), std::string::npos) << message;
}

// A typing error in each of two outputs: the warnings name them, and file and checkpoint keep how little they count.
TEST(ProcessModel, StrayRowsAreNamedAndKept) {
  const TempDir folder;
  SampleRows data{{"a", "b"}, {"u", "v"}, {}, {}};
  Stream stream(6, Purpose::kTest);
  for (std::size_t n = 0; n < 100; ++n) {
    const double a = stream.normal();
    const double b = stream.normal();
    data.x.insert(data.x.end(), {a, b});
    data.y.insert(data.y.end(), {std::sin(2 * a) + b + 0.05 * stream.normal() + (n == 31 ? 3 : 0),
                                 std::cos(2 * a) - b + 0.05 * stream.normal() - (n == 7 ? 3 : 0)});
  }
  const FitResult whole = fit(kProcess, {.validation = 0}, data.rows());
  ASSERT_TRUE(whole.model.process().has_stray_rows());
  EXPECT_EQ(whole.report.warnings,
            (std::vector<std::string>{"'u': 1 row does not fit a smooth function (row 32); it counts less",
                                      "'v': 1 row does not fit a smooth function (row 8); it counts less"}));
  whole.model.save(folder.file("m"));
  const Ensemble loaded = Ensemble::load(folder.file("m"));
  EXPECT_TRUE(loaded.process().has_stray_rows());
  EXPECT_EQ(loaded.predict(data.x).mean, whole.model.predict(data.x).mean);
  EXPECT_EQ(loaded.predict(data.x).stddev, whole.model.predict(data.x).stddev);
  const std::string file = folder.file("state");
  while (true) {
    const FitResult piece =
        fit(kProcess, {.validation = 0}, data.rows(),
            {.progress = [](const FitProgress& state) { return state.waiting; }, .checkpoint = file});
    if (!piece.report.interrupted) {
      EXPECT_EQ(piece.report.resumed_epoch, 1U);
      EXPECT_EQ(piece.report.warnings, whole.report.warnings);
      EXPECT_TRUE(piece.model.process().has_stray_rows());
      EXPECT_TRUE(std::ranges::equal(whole.model.parameters(), piece.model.parameters()));
      EXPECT_EQ(piece.model.predict(data.x).mean, whole.model.predict(data.x).mean);
      EXPECT_EQ(piece.model.predict(data.x).stddev, whole.model.predict(data.x).stddev);
      break;
    }
  }
}

// Rows of a file are named as the file counts them, also where some of it could not be learned from.
TEST(ProcessModel, StrayRowsAreThoseOfTheFile) {
  SampleRows data = wide(60, 1);
  data.y[31] += 8;
  TrainingRows rows = data.rows();
  for (std::size_t k = 0; k < 60; ++k) {
    rows.row_numbers.push_back(k + 2 * (k / 20));
  }
  const FitReport report = fit(kProcess, {.validation = 0}, rows).report;
  ASSERT_FALSE(report.warnings.empty());
  EXPECT_EQ(report.warnings[0], "'y0': 1 row does not fit a smooth function (row 34); it counts less");
}

// A search that is stopped on its way leaves a sound model, and a state that goes on to the same bits.
TEST(ProcessModel, IsHeardWithinAnOutput) {
  const TempDir folder;
  const SampleRows data = wide(60, 2);
  int calls = 0;
  const FitResult whole =
      fit(kProcess, {.validation = 0}, data.rows(), {.progress = [&](const FitProgress&) { return ++calls > 0; }});
  const std::string file = folder.file("state");
  for (const int heard : {5, calls - 5}) {  // in the first output, in the second
    int left = heard;
    const FitResult part = fit(kProcess, {.validation = 0}, data.rows(),
                               {.progress = [&](const FitProgress&) { return left-- > 0; }, .checkpoint = file});
    EXPECT_TRUE(part.report.interrupted);
    EXPECT_LE(part.report.epochs_run, 1U);
    for (const double value : part.model.predict(data.x).stddev) {
      EXPECT_GT(value, 0);
    }
  }
  const FitResult rest = fit(kProcess, {.validation = 0}, data.rows(), {.checkpoint = file});
  EXPECT_TRUE(std::ranges::equal(whole.model.parameters(), rest.model.parameters()));
}

TEST(ProcessModel, RecalibrationSurvivesAFile) {
  const TempDir folder;
  const SampleRows data = smooth(80);
  Ensemble model = fit(kProcess, {.validation = 0}, data.rows()).model;
  const std::vector<double> before = model.predict(data.x).stddev;
  model.scale_spread(std::vector<double>{2});
  const std::vector<double> after = model.predict(data.x).stddev;
  for (std::size_t k = 0; k < before.size(); ++k) {
    EXPECT_DOUBLE_EQ(after[k], 2 * before[k]);
  }
  model.save(folder.file("m"));
  EXPECT_EQ(Ensemble::load(folder.file("m")).predict(data.x).stddev, after);
}

TEST(ProcessModel, WithoutRowsItIsThePrior) {
  const SampleRows data = pairs(20);
  Ensemble model(kProcess, data.columns());
  EXPECT_THROW(model.parameters(), InputError);  // there are no networks to change
  for (const double stddev : model.predict(data.x).stddev) {
    EXPECT_GT(stddev, 0);
  }
}

TEST(ProcessModel, BadRowsGiveASoundFitOrAClearError) {
  const auto sound = [](const SampleRows& data) {
    const Ensemble model = fit(kProcess, {.validation = 0}, data.rows()).model;
    const Mixture<double> mixture = model.predict(data.x);
    return std::ranges::all_of(mixture.stddev, [](double s) { return s > 0 && std::isfinite(s); }) &&
           std::ranges::all_of(mixture.mean, [](double m) { return std::isfinite(m); });
  };
  EXPECT_TRUE(sound({{"x"}, {"y"}, {1, 2}, {5, 5}}));                               // two rows, one target
  EXPECT_TRUE(sound({{"x"}, {"y"}, {1, 1, 1, 1}, {5, 6, 5, 7}}));                   // one input
  EXPECT_TRUE(sound({{"x"}, {"y"}, {1, 2, 3, 1e12}, {5, 6, 5, 7}}));                // an outlier among inputs
  EXPECT_TRUE(sound({{"x"}, {"y"}, {1, 2, 3, 4}, {5, 6, 1e12, 7}}));                // and among targets
  EXPECT_TRUE(sound({{"a", "b"}, {"y"}, {1, 2, 2, 4, 3, 6, 4, 8}, {5, 6, 7, 7}}));  // collinear
  EXPECT_TRUE(sound(wide(10, 60)));                                                 // more columns than rows
  const SampleRows many = smooth(4001);
  const std::string message = message_of<InputError>([&] { fit(kProcess, {.validation = 0}, many.rows()); });
  EXPECT_NE(message.find("4001 rows are too many"), std::string::npos) << message;
  EXPECT_TRUE(can_be_process(4000, 1));
  EXPECT_FALSE(can_be_process(4000, 100));  // 13 GB of covariances
}

}  // namespace
}  // namespace dissent
