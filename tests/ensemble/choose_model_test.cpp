#include "dissent/ensemble/choose_model.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "dissent/base/threads.hpp"
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

TEST(ChooseModel, IsTheSameOnAnyNumberOfThreads) {
  const SampleRows data = pairs(50);
  ThreadPool threads(3);
  EXPECT_EQ(choose_model(kAuto, {}, data.rows(), {}).reason,
            choose_model(kAuto, {}, data.rows(), {.executor = &threads}).reason);
}

TEST(ChooseModel, FewRowsCannotTellAndManyAreNotForProcesses) {
  EXPECT_EQ(choose_model(kAuto, {}, pairs(8).rows(), {}).model, Model::kGp);
  EXPECT_NE(choose_model(kAuto, {}, pairs(8).rows(), {.networks_only = true}).model, Model::kGp);
  const SampleRows many = rows(4500, false);
  const ModelChoice choice = choose_model(kAuto, {.epochs = 2}, many.rows(), {});
  EXPECT_NE(choice.model, Model::kGp);
  EXPECT_EQ(choice.reason.find("gp"), std::string::npos);
}

TEST(ChooseModel, AnEnsembleOfNoKindIsRefused) {
  const SampleRows data = pairs(8);
  EXPECT_THROW(Ensemble(kAuto, data.columns()), InputError);
}

}  // namespace
}  // namespace dissent
