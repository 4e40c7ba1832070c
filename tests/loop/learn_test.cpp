#include "dissent/loop/learn.hpp"

#include <gtest/gtest.h>

#include <set>

#include "dissent/base/threads.hpp"
#include "dissent/ensemble/metrics.hpp"
#include "dissent/loop/campaign_directory.hpp"
#include "dissent/table/csv.hpp"
#include "loop/loop_fixture.hpp"
#include "support/temp_dir.hpp"

namespace dissent {
namespace {

struct Trial {
  TempDir dir;
  Problem data = small_problem();
  Campaign campaign = begin_campaign(data, quick_settings());
  TableOracle oracle;

  LearnEnd go_on(std::size_t num_rounds, const LearnControl& control = {}) {
    CampaignDirectory directory(dir.path());
    directory.hold();
    return learn(directory, campaign, data, oracle, num_rounds, control);
  }
  std::string bytes(const std::string& name) const { return read_bytes(dir.file(name)); }
};

void expect_same(const Trial& a, const Trial& b) {
  EXPECT_EQ(a.bytes("chosen.csv"), b.bytes("chosen.csv"));
  EXPECT_EQ(a.bytes("model.safetensors"), b.bytes("model.safetensors"));
  ASSERT_EQ(a.campaign.rounds.size(), b.campaign.rounds.size());
  for (std::size_t r = 0; r < a.campaign.rounds.size(); ++r) {
    EXPECT_EQ(a.campaign.rounds[r].rmse, b.campaign.rounds[r].rmse);
    EXPECT_EQ(a.campaign.rounds[r].log_likelihood, b.campaign.rounds[r].log_likelihood);
    EXPECT_EQ(a.campaign.rounds[r].chosen_epistemic, b.campaign.rounds[r].chosen_epistemic);
  }
}

TEST(Learn, RunsRoundsAndRecordsThem) {
  Trial run;
  std::vector<std::size_t> seen;
  LearnControl control;
  control.finished = [&](const RoundRecord& record) { seen.push_back(record.round); };
  EXPECT_EQ(run.go_on(3, control), LearnEnd::kRoundsDone);
  EXPECT_EQ(seen, (std::vector<std::size_t>{1, 2, 3}));
  ASSERT_EQ(run.campaign.chosen.size(), 12U);
  std::set<std::size_t> rows;
  for (const ChosenRow& chosen : run.campaign.chosen) {
    rows.insert(chosen.row);
    EXPECT_EQ(chosen.targets[0], run.data.pool.targets[2 * chosen.row]);
  }
  EXPECT_EQ(rows.size(), 12U);
  for (std::size_t r = 0; r < 3; ++r) {
    EXPECT_EQ(run.campaign.rounds[r].labelled, 12 + 4 * r);
  }
}

// Algorithm 1's last line: the model in the directory knows the labels of the last round, and is measured.
TEST(Learn, EndsWithAModelOfAllLabels) {
  Trial run;
  run.go_on(3);
  ASSERT_EQ(run.campaign.rounds.size(), 3U);
  ASSERT_TRUE(run.campaign.fitted.has_value());
  const Ensemble model = Ensemble::load(run.dir.file("model.safetensors"));
  const Metrics metrics = evaluate(model, run.data.test.inputs, run.data.test.targets);
  const std::vector<RoundRecord> models = measured_models(run.campaign);
  ASSERT_EQ(models.size(), 4U);
  EXPECT_EQ(models.back().round, 4U);
  EXPECT_EQ(models.back().labelled, 24U);
  EXPECT_NEAR(metrics.rmse, models.back().rmse, 1e-12);
  EXPECT_NEAR(metrics.rmse_paper, models.back().rmse_paper, 1e-12);
  EXPECT_NEAR(metrics.log_likelihood, models.back().log_likelihood, 1e-12);
  EXPECT_TRUE(std::isnan(models.back().chosen_epistemic));
  const Table table = read_csv(run.dir.file("rounds.csv"));
  EXPECT_EQ(table.column("labelled").values, (std::vector<double>{12, 16, 20, 24}));
  EXPECT_EQ(table.column("chosen_epistemic").missing_rows, std::vector<std::size_t>{3});
  // A fourth round chooses by that very model.
  run.go_on(4);
  EXPECT_EQ(run.campaign.rounds[3].rmse, models.back().rmse);
  EXPECT_FALSE(std::isnan(run.campaign.rounds[3].chosen_epistemic));
}

TEST(Learn, StoppedBetweenAnyTwoStepsItEndsTheSame) {
  for (const Model kind : {Model::kPne, Model::kFlow}) {
    Trial unbroken;
    unbroken.campaign.settings.fit.ensemble.model = kind;
    unbroken.go_on(3);
    Trial broken;
    broken.campaign.settings.fit.ensemble.model = kind;
    {
      CampaignDirectory directory(broken.dir.path());
      directory.hold();
      directory.save(broken.campaign);
    }
    std::size_t num_stops = 0;
    for (LearnEnd end = LearnEnd::kStopped; end == LearnEnd::kStopped; ++num_stops) {
      broken.campaign = load_campaign(broken.dir.file("state.safetensors"));  // as a new process would
      bool first = true;
      LearnControl control;
      control.stop = [&] { return !std::exchange(first, false); };
      end = broken.go_on(3, control);
    }
    EXPECT_GE(num_stops, 9U);
    expect_same(unbroken, broken);
  }
}

TEST(Learn, ALostModelIsFittedAgain) {
  Trial unbroken;
  unbroken.go_on(2);
  Trial broken;
  int steps = 0;
  LearnControl control;
  control.stop = [&] { return ++steps > 1; };  // after the first fit
  EXPECT_EQ(broken.go_on(2, control), LearnEnd::kStopped);
  ASSERT_TRUE(broken.campaign.fitted.has_value());
  std::filesystem::remove(broken.dir.file("model.safetensors"));
  broken.go_on(2);
  expect_same(unbroken, broken);
}

TEST(Learn, ThreadsAndRoundsAskedForLaterChangeNothing) {
  Trial at_once;
  at_once.go_on(4);
  Trial later;
  ThreadPool pool(3);
  LearnControl control;
  control.executor = &pool;
  later.go_on(2, control);
  later.go_on(4, control);
  expect_same(at_once, later);
}

TEST(Learn, SeedsAndRoundsDrawDifferentModels) {
  const Problem data = small_problem();
  Campaign campaign = begin_campaign(data, quick_settings());
  const auto fitted = [&] {
    const FittedRound round = fit_round(campaign, data);
    return fingerprint(round.model.parameters());
  };
  const std::uint64_t first = fitted();
  EXPECT_EQ(first, fitted());
  campaign.rounds.emplace_back();
  EXPECT_NE(first, fitted());
  campaign.rounds.clear();
  ++campaign.settings.fit.ensemble.seed;
  EXPECT_NE(first, fitted());
}

TEST(Learn, EndsWithThePool) {
  Trial run;
  run.data = small_problem(10);
  run.campaign = begin_campaign(run.data, quick_settings());
  EXPECT_EQ(run.go_on(20), LearnEnd::kPoolEmpty);
  EXPECT_EQ(run.campaign.rounds.size(), 3U);  // of 4, 4 and 2 rows
  EXPECT_EQ(run.campaign.chosen.size(), 10U);
  EXPECT_EQ(run.campaign.chosen.back().round, 3U);
}

TEST(Learn, EndsWhereNoRowLeftMayBeChosen) {
  Trial run;
  run.data = small_problem(10);
  run.data.left_out.assign(10, 1);
  run.data.left_out[3] = run.data.left_out[7] = 0;
  run.campaign = begin_campaign(run.data, quick_settings());
  EXPECT_EQ(run.go_on(20), LearnEnd::kNoneAllowed);
  EXPECT_EQ(num_left(run.campaign, run.data), 8U);
}

TEST(Learn, WithoutTestRowsThereAreNoMetrics) {
  Trial run;
  run.data.test = {};
  run.campaign = begin_campaign(run.data, quick_settings());
  run.go_on(1);
  EXPECT_TRUE(std::isnan(run.campaign.rounds[0].rmse));
  EXPECT_FALSE(std::isnan(run.campaign.rounds[0].chosen_epistemic));
}

TEST(Learn, AFailingOracleLosesNothing) {
  Trial run;
  {
    CampaignDirectory directory(run.dir.path());
    directory.hold();
    CommandOracle broken("exit 1");
    EXPECT_THROW(learn(directory, run.campaign, run.data, broken, 2), InputError);
  }
  run.campaign = load_campaign(run.dir.file("state.safetensors"));
  EXPECT_EQ(run.campaign.num_pending(), 4U);
  EXPECT_EQ(run.campaign.rounds.size(), 1U);
  run.go_on(2);
  Trial unbroken;
  unbroken.go_on(2);
  expect_same(unbroken, run);
}

TEST(Learn, CandidatesAreAPartOfThePoolThatChangesEachRound) {
  Trial few;
  few.campaign.settings.candidates = std::size_t{4};  // as many as the batch: all of them are chosen
  few.go_on(2);
  Trial all;
  all.campaign.settings.candidates = All();
  all.go_on(2);
  EXPECT_NE(few.bytes("chosen.csv"), all.bytes("chosen.csv"));
  Trial fewer;
  fewer.campaign.settings.candidates = std::size_t{1};  // never less than the batch
  fewer.go_on(1);
  EXPECT_EQ(fewer.campaign.chosen.size(), 4U);
}

// The same rows for two methods, but for those that either has chosen.
TEST(Learn, NestedCandidatesAreThoseOfOtherMethods) {
  const auto candidates = [](const char* acquisition) {
    Trial run;
    run.campaign.settings.acquisition = Acquisition::parse(acquisition);
    run.campaign.settings.candidates = Nested{4};  // as many as the batch: all of them are chosen
    run.go_on(1);
    std::set<std::size_t> rows;
    for (const ChosenRow& chosen : run.campaign.chosen) {
      rows.insert(chosen.row);
    }
    return rows;
  };
  EXPECT_EQ(candidates("kl"), candidates("random"));
}

TEST(Learn, RoundsSayHowLongScoringTookAndWhoseRowsWereChosen) {
  Trial run;
  run.go_on(1);
  EXPECT_TRUE(std::isnan(run.campaign.rounds[0].expert_share));  // the problem does not know
  run.data.from_expert.assign(60, 0);
  run.go_on(2);
  EXPECT_EQ(run.campaign.rounds[1].expert_share, 0);
  run.data.from_expert.assign(60, 1);
  run.go_on(3);
  EXPECT_EQ(run.campaign.rounds[2].expert_share, 1);
  for (const RoundRecord& record : run.campaign.rounds) {
    EXPECT_GT(record.scoring_seconds, 0);
    EXPECT_LE(record.scoring_seconds, record.score_seconds);
  }
  EXPECT_TRUE(std::isnan(measured_models(run.campaign).back().scoring_seconds));
  EXPECT_TRUE(std::isnan(measured_models(run.campaign).back().expert_share));
}

TEST(Learn, APoolRowTooFarIsToldBeforeAnythingIsChosen) {
  for (const std::size_t row : {0, 59}) {
    Trial run;
    run.campaign.settings.candidates = std::size_t{4};
    run.data.pool.inputs[2 * row] = 1e200;
    EXPECT_THROW(run.go_on(3), InputError);
    EXPECT_TRUE(run.campaign.chosen.empty());
  }
}

TEST(Learn, LabelsThatNothingCanBeComputedWithAreNotTaken) {
  for (const double label : {1e308, -1e308, 1e40}) {
    Trial run;
    for (std::size_t row = 0; row < run.data.pool.num_rows; ++row) {
      run.data.pool.targets[2 * row + 1] = label;
    }
    try {
      run.go_on(2);
      ADD_FAILURE() << "no error";
    } catch (const InputError& error) {
      EXPECT_NE(std::string(error.what()).find("of the pool: its label 'y1' is"), std::string::npos) << error.what();
    }
    EXPECT_EQ(run.campaign.num_pending(), 4U);
    run.data.pool.targets = small_problem().pool.targets;
    EXPECT_EQ(run.go_on(2), LearnEnd::kRoundsDone);
  }
}

}  // namespace
}  // namespace dissent
