#include "dissent/ensemble/choose_model.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "dissent/base/threads.hpp"
#include "dissent/ensemble/fit.hpp"
#include "dissent/ensemble/summary.hpp"
#include "ensemble/sample_rows.hpp"

namespace dissent {
namespace {

using test::pairs;
using test::SampleRows;

const EnsembleOptions kAuto{.model = Model::kAuto, .seed = 1};

// y = sin(3 x) + noise; or, with two modes, 5 up or down by a coin.
SampleRows rows(std::size_t num_rows, bool two_modes) {
  SampleRows data{{"x"}, {"y"}, {}, {}};
  Stream stream(12, Purpose::kTest);
  for (std::size_t n = 0; n < num_rows; ++n) {
    const double x = 2 * stream.uniform() - 1;
    const double mode = two_modes ? (stream.uniform() < 0.5 ? -5 : 5) : 0;
    data.x.push_back(x);
    data.y.push_back(std::sin(3 * x) + mode + 0.1 * stream.normal());
  }
  return data;
}

ModelChoice chosen(const SampleRows& data, const TrainOptions& train = {}, bool networks_only = false,
                   Executor* executor = nullptr) {
  const auto fit_and_predict = [&](const EnsembleOptions& options, const TrainOptions& own, const TrainingRows& kept,
                                   std::span<const double> x, std::span<const double> y) {
    const Ensemble model = fit(options, own, kept, {executor}).model;
    return HeldOut{model.log_density(x, y, executor), predictive_mean(model, x, executor)};
  };
  return choose_model(kAuto, train, data.rows(), networks_only, fit_and_predict, executor);
}

// Densities that a made-up kind gives to rows, in place of fits. It knows the rows but for errors of the flow and the
// process.
ModelChoice race(double of_process, double of_flow, double spread, std::size_t num_rows = 100, double flow_errors = 1) {
  Stream stream(4, Purpose::kTest);
  const auto made_up = [&](const EnsembleOptions& options, const TrainOptions&, const TrainingRows&,
                           std::span<const double>, std::span<const double> y) {
    HeldOut held;
    for (std::size_t k = 0; k < y.size(); ++k) {
      const double mean = options.model == Model::kGp ? of_process : options.model == Model::kFlow ? of_flow : -100;
      held.density.push_back(mean + spread * stream.normal());
      const double error = k % 2 == 0 ? 0.3 : -0.1;
      held.mean.push_back(y[k] + (options.model == Model::kFlow ? flow_errors : 1) * error);
    }
    return held;
  };
  return choose_model(kAuto, {}, rows(num_rows, false).rows(), false, made_up, nullptr);
}

TEST(ChooseModel, IsHeardWhileKindsAreCompared) {
  const SampleRows data = rows(60, false);
  for (const int calls : {0, 10}) {
    int left = calls;
    int shown = 0;
    const FitResult result = fit(kAuto, {}, data.rows(), {.progress = [&](const FitProgress& state) {
                                   shown += state.waiting ? 0 : 1;
                                   return left-- > 0;
                                 }});
    EXPECT_TRUE(result.report.interrupted);
    EXPECT_EQ(shown, 0);
    EXPECT_EQ(left, -1);  // asked no more once it had said no
    EXPECT_EQ(result.report.choice, "gp: the comparison was interrupted");
    EXPECT_TRUE(std::isfinite(result.model.log_density(data.x, data.y).front()));
  }
}

TEST(ChooseModel, TheProcessStaysUnlessAnotherIsClearlyAhead) {
  EXPECT_EQ(race(-1, -1.1, 0.1).model, Model::kGp);
  EXPECT_EQ(race(-1, -0.95, 1).model, Model::kGp);  // ahead by half a standard error
  EXPECT_EQ(race(-1, -0.5, 0.1).model, Model::kFlow);
  EXPECT_EQ(race(-1, -0.5, 0.1, 15).model, Model::kGp);  // too few rows for a race
  const std::string reason = race(-1, -3, 0).reason;
  EXPECT_EQ(reason, "gp: -1 nats a row on 20 rows held out in turn; flow 2 behind, pne 99 behind");
}

TEST(ChooseModel, AKindWithClearlyLargerErrorsIsNotTaken) {
  EXPECT_EQ(race(-1, -0.5, 0.1, 100, 1.08).model, Model::kFlow);
  const ModelChoice choice = race(-1, -0.5, 0, 100, 1.3);
  EXPECT_EQ(choice.model, Model::kGp);
  EXPECT_EQ(choice.reason,
            "gp: -1 nats a row on 20 rows held out in turn; flow 0.5 ahead, but with larger errors, pne 99 behind");
}

// Outputs count alike, whatever their units are.
TEST(ChooseModel, ErrorsAreComparedOutputByOutput) {
  SampleRows data{{"x"}, {"small", "large"}, {}, {}};
  for (std::size_t n = 0; n < 100; ++n) {
    data.x.push_back(static_cast<double>(n));
    data.y.insert(data.y.end(), {1e-3 * static_cast<double>(n), 1e3 * static_cast<double>(n)});
  }
  const auto race_with = [&](double flow_small, double flow_large) {
    const auto made_up = [&](const EnsembleOptions& options, const TrainOptions&, const TrainingRows&,
                             std::span<const double>, std::span<const double> y) {
      const bool flow = options.model == Model::kFlow;
      HeldOut held{std::vector(y.size() / 2, flow ? 1.0 : 0.0), {y.begin(), y.end()}};
      for (std::size_t k = 0; k < y.size(); k += 2) {
        held.mean[k] += 1e-4 * (flow ? flow_small : 1);
        held.mean[k + 1] += 1e2 * (flow ? flow_large : 1);
      }
      return held;
    };
    return choose_model(kAuto, {}, data.rows(), false, made_up, nullptr).model;
  };
  EXPECT_EQ(race_with(1, 1), Model::kFlow);
  EXPECT_EQ(race_with(2, 1), Model::kGp);
  EXPECT_EQ(race_with(1, 2), Model::kGp);
  EXPECT_EQ(race_with(2, 0.1), Model::kFlow);
}

TEST(ChooseModel, ARowSpeaksForTenNatsAtMost) {
  std::size_t count = 0;
  const auto one_row_impossible = [&](const EnsembleOptions& options, const TrainOptions&, const TrainingRows&,
                                      std::span<const double>, std::span<const double> y) {
    HeldOut held{std::vector(y.size(), options.model == Model::kFlow ? -1.0 : -2.0), {y.begin(), y.end()}};
    if (options.model == Model::kFlow && count++ == 0) {
      held.density.front() = -1e6;
    }
    return held;
  };
  EXPECT_EQ(choose_model(kAuto, {}, rows(400, false).rows(), false, one_row_impossible, nullptr).model, Model::kFlow);
}

// Both are far ahead of the process, one of them by a little more that does not tell them apart.
TEST(ChooseModel, OfSeveralThatBeatTheProcessTheBestIsTaken) {
  const auto race_of = [](double of_pne, double of_flow) {
    const auto made_up = [&](const EnsembleOptions& options, const TrainOptions&, const TrainingRows&,
                             std::span<const double>, std::span<const double> y) {
      const double mean = options.model == Model::kGp ? -2 : options.model == Model::kFlow ? of_flow : of_pne;
      HeldOut held{std::vector(y.size(), mean), {y.begin(), y.end()}};
      for (std::size_t k = 0; k < y.size() && options.model == Model::kPne; ++k) {
        held.density[k] += k % 2 == 0 ? 0.5 : -0.5;
      }
      return held;
    };
    return choose_model(kAuto, {}, rows(100, false).rows(), false, made_up, nullptr);
  };
  EXPECT_EQ(race_of(-0.98, -1).model, Model::kPne);
  EXPECT_EQ(race_of(-0.98, -1).reason,
            "pne: -0.98 nats a row on 20 rows held out in turn; gp 1 behind, flow 0.02 behind");
  EXPECT_EQ(race_of(-1, -0.98).model, Model::kFlow);
}

// Ahead by 0.05 nats a row, give or take 1: after 100 rows that would be half a standard error.
TEST(ChooseModel, ALeadTooSmallToBecomeClearEndsTheRace) {
  const auto hardly_ahead = [&](const EnsembleOptions& options, const TrainOptions&, const TrainingRows&,
                                std::span<const double>, std::span<const double> y) {
    HeldOut held{std::vector(y.size(), options.model == Model::kPne ? -100.0 : -2.0), {y.begin(), y.end()}};
    for (std::size_t k = 0; k < y.size() && options.model == Model::kFlow; ++k) {
      held.density[k] += k % 2 == 0 ? 1.1 : -1;
    }
    return held;
  };
  EXPECT_EQ(choose_model(kAuto, {}, rows(100, false).rows(), false, hardly_ahead, nullptr).reason,
            "gp: -2 nats a row on 20 rows held out in turn; flow 0.05 ahead, too little to tell, pne 98 behind");
}

TEST(ChooseModel, TakesTheProcessForASmoothFunctionAndTheFlowForTwoModes) {
  ThreadPool threads(2);
  const SampleRows smooth = rows(60, false);
  const FitResult one = fit(kAuto, {}, smooth.rows(), {.executor = &threads});
  EXPECT_EQ(one.model.options().model, Model::kGp);
  EXPECT_EQ(one.model.num_components(), 16U);
  EXPECT_EQ(one.report.choice.substr(0, 4), "gp: ");
  const SampleRows modes = rows(300, true);
  const FitResult two = fit(kAuto, {}, modes.rows(), {.executor = &threads});
  EXPECT_EQ(two.model.options().model, Model::kFlow);
  EXPECT_EQ(two.model.num_components(), 5U);
  EXPECT_NE(two.report.choice.find("gp"), std::string::npos);  // with what it was compared
}

TEST(ChooseModel, TheModelIsThatOfAFitThatNamesIt) {
  const SampleRows data = rows(40, false);
  EnsembleOptions named = kAuto;
  named.model = Model::kGp;
  const FitResult chosen = fit(kAuto, {}, data.rows());
  const FitResult given = fit(named, {}, data.rows());
  EXPECT_TRUE(std::ranges::equal(chosen.model.parameters(), given.model.parameters()));
  EXPECT_EQ(chosen.model.predict(data.x).mean, given.model.predict(data.x).mean);
  EXPECT_TRUE(given.report.choice.empty());
}

TEST(ChooseModel, IsTheSameWhoeverRunsIt) {
  const SampleRows data = pairs(50);
  ThreadPool threads(3);
  EXPECT_EQ(chosen(data).reason, chosen(data, {}, false, &threads).reason);
}

TEST(ChooseModel, FewRowsCannotTellAndManyAreNotForProcesses) {
  EXPECT_EQ(chosen(pairs(8)).model, Model::kGp);
  EXPECT_NE(chosen(pairs(8), {}, true).model, Model::kGp);
  const ModelChoice choice = chosen(rows(4500, false), {.epochs = 2});
  EXPECT_NE(choice.model, Model::kGp);
  EXPECT_EQ(choice.reason.find("gp"), std::string::npos);
}

TEST(ChooseModel, CopiesOfARowAreHeldOutTogether) {
  SampleRows data = rows(40, false);
  for (std::size_t row = 0; row < 40; row += 2) {
    data.x.push_back(data.x[row]);
    data.y.push_back(data.y[row]);
  }
  std::size_t num_held = 0;
  const auto look = [&](const EnsembleOptions& options, const TrainOptions&, const TrainingRows& kept,
                        std::span<const double> x, std::span<const double> y) {
    for (const double held : y) {
      EXPECT_EQ(std::ranges::find(kept.targets, held), kept.targets.end());
    }
    num_held += options.model == Model::kGp ? y.size() : 0;
    EXPECT_EQ(x.size(), y.size());
    return HeldOut{std::vector<double>(y.size()), std::vector<double>(y.begin(), y.end())};
  };
  choose_model(kAuto, {}, data.rows(), false, look, nullptr);
  EXPECT_LE(num_held, 40U);  // each row once
  EXPECT_EQ(num_held % 8, 0U);
  const SampleRows few = rows(12, false);
  SampleRows twice = few;
  twice.x.insert(twice.x.end(), few.x.begin(), few.x.end());
  twice.y.insert(twice.y.end(), few.y.begin(), few.y.end());
  EXPECT_EQ(chosen(twice).reason, "gp: 12 different rows are too few to compare models");
}

TEST(ChooseModel, AnEnsembleOfNoKindIsRefused) {
  const SampleRows data = pairs(8);
  EXPECT_THROW(Ensemble(kAuto, data.columns()), InputError);
}

}  // namespace
}  // namespace dissent
