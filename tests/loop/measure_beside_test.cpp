// Campaigns that measure a round's model while the next one is fitted: they are the campaigns that do not, to the bit.
#include <gtest/gtest.h>

#include <functional>
#include <limits>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "dissent/base/error.hpp"
#include "dissent/base/threads.hpp"
#include "dissent/loop/campaign_store.hpp"
#include "dissent/loop/oracle.hpp"
#include "loop/loop_fixture.hpp"

namespace dissent {
namespace {

// Keeps no models, and campaigns only as they are between two rounds, as a study does.
class RoundStore final : public CampaignStore {
 public:
  std::string name() const override { return "memory"; }
  bool begun() const override { return !rounds.empty(); }
  void hold() override {}
  Campaign load() const override { return rounds.back(); }
  void save(const Campaign& campaign) override {
    if (!campaign.rounds.empty() && !campaign.fitted && campaign.num_pending() == 0) {
      rounds.push_back(campaign);
      if (rounds.size() == full_at) {
        fail_system("the disk is full");
      }
    }
  }
  void save_model(const Ensemble&) override {}
  std::optional<Ensemble> load_model(std::uint64_t) const override { return std::nullopt; }
  void save_data(const CampaignTables&) override {}
  CampaignTables load_data() const override { fail("no tables"); }
  void clear() override {}
  void write_tables(const Campaign&, const Problem&) override {}

  std::vector<Campaign> rounds;
  std::size_t full_at = 0;  // how many it takes before it fails; 0: it never does
};

// All but the times.
std::string numbers_of(const Campaign& campaign) {
  std::string text;
  for (const RoundRecord& record : measured_models(campaign)) {
    text += fmt::format("{} {} {} {} {} {}\n", record.round, record.labelled, record.rmse, record.rmse_paper,
                        record.log_likelihood, record.chosen_epistemic);
  }
  for (const ChosenRow& chosen : campaign.chosen) {
    text += fmt::format("{} {} {} {} {} {}\n", chosen.row, chosen.round, chosen.score, chosen.epistemic,
                        chosen.aleatoric, fmt::join(chosen.targets, " "));
  }
  return text + fmt::format("{} {}\n", campaign.fitted.has_value(), campaign.model_fingerprint);
}

std::vector<std::string> numbers_of(const std::vector<Campaign>& campaigns) {
  std::vector<std::string> numbers;
  for (const Campaign& campaign : campaigns) {
    numbers.push_back(numbers_of(campaign));
  }
  return numbers;
}

struct Beside {
  explicit Beside(bool beside = true) { control.measure_beside = beside; }

  LearnEnd go_on(std::size_t num_rounds = 4) { return learn(store, campaign, data, oracle, num_rounds, control); }

  // Measuring then takes longer than a quick fit.
  void add_test_rows() {
    const ProblemRows some = data.test;
    while (data.test.num_rows < 3000) {
      data.test.num_rows += some.num_rows;
      data.test.inputs.insert(data.test.inputs.end(), some.inputs.begin(), some.inputs.end());
      data.test.targets.insert(data.test.targets.end(), some.targets.begin(), some.targets.end());
    }
    campaign = begin_campaign(data, quick_settings());
  }

  Problem data = small_problem();
  Campaign campaign = begin_campaign(data, quick_settings());
  RoundStore store;
  TableOracle oracle;
  LearnControl control;
};

TEST(MeasureBeside, OnAnotherThreadItChangesNothing) {
  struct Case {
    Model kind;
    bool many_rows;
    std::size_t epochs;
  };
  // Measured before the rows are chosen, during the next fit, or after it: as a rule, and it does not matter.
  for (const Case& at : {Case{Model::kPne, false, 15}, Case{Model::kPne, true, 600}, Case{Model::kPne, true, 1},
                         Case{Model::kFlow, false, 15}, Case{Model::kGp, false, 15}}) {
    Beside plain(false);
    Beside beside;
    ThreadPool pool(2);
    beside.control.executor = &pool;
    for (Beside* run : {&plain, &beside}) {
      if (at.many_rows) {
        run->add_test_rows();
      }
      run->campaign.settings.fit.ensemble.model = at.kind;
      run->campaign.settings.fit.train.epochs = at.epochs;
      EXPECT_EQ(run->go_on(), LearnEnd::kRoundsDone);
    }
    EXPECT_EQ(numbers_of(plain.campaign), numbers_of(beside.campaign));
    EXPECT_EQ(plain.store.rounds.size(), 4U);
    EXPECT_EQ(numbers_of(plain.store.rounds), numbers_of(beside.store.rounds));
  }
}

TEST(MeasureBeside, RoundsAreToldInOrderWithTheirMetrics) {
  Beside run;
  std::vector<std::size_t> seen;
  run.control.finished = [&](const RoundRecord& record) {
    seen.push_back(record.round);
    EXPECT_GT(record.rmse, 0);
    EXPECT_GT(record.fit_seconds, 0);
    EXPECT_EQ(run.store.rounds.size(), seen.size());  // saved before
  };
  run.go_on();
  EXPECT_EQ(seen, (std::vector<std::size_t>{1, 2, 3, 4}));
  EXPECT_GT(run.campaign.fitted->rmse, 0);  // of the last model
}

TEST(MeasureBeside, KilledAfterAnyRoundItEndsTheSame) {
  Beside whole(false);
  whole.go_on();
  Beside killed;
  killed.go_on();
  for (const Campaign& left : killed.store.rounds) {
    Beside resumed;
    resumed.campaign = left;
    resumed.go_on();
    EXPECT_EQ(numbers_of(resumed.campaign), numbers_of(whole.campaign));
  }
}

TEST(MeasureBeside, StoppedBetweenAnyTwoStepsItEndsTheSame) {
  Beside whole(false);
  whole.go_on();
  LearnEnd end = LearnEnd::kStopped;
  for (int steps = 0; end == LearnEnd::kStopped; ++steps) {
    std::string stopped[2];
    for (const bool beside : {false, true}) {
      Beside run(beside);
      run.add_test_rows();
      int asked = 0;
      run.control.stop = [&] { return ++asked > steps; };
      end = run.go_on();
      stopped[beside] = numbers_of(run.campaign);
    }
    EXPECT_EQ(stopped[1], stopped[0]) << steps;
    Beside run;
    int asked = 0;
    run.control.stop = [&] { return ++asked > steps; };
    run.go_on();
    run.control.stop = {};
    run.go_on();
    EXPECT_EQ(numbers_of(run.campaign), numbers_of(whole.campaign)) << steps;
  }
}

TEST(MeasureBeside, RowsThatCannotBeMeasuredOnAreRefusedAsEver) {
  const auto input_too_far = [](Problem& data) { data.test.inputs[3] = 1e200; };
  const auto no_target = [](Problem& data) { data.test.targets[3] = std::numeric_limits<double>::quiet_NaN(); };
  for (const auto& spoil : std::vector<std::function<void(Problem&)>>{input_too_far, no_target}) {
    std::string errors[2];
    for (const bool beside : {false, true}) {
      Beside run(beside);
      spoil(run.data);
      try {
        run.go_on();
        ADD_FAILURE() << "no error";
      } catch (const InputError& error) {
        errors[beside] = error.what();
      }
      EXPECT_TRUE(run.store.rounds.empty());
    }
    EXPECT_EQ(errors[0].find("the test rows: "), 0U) << errors[0];
    EXPECT_EQ(errors[1], errors[0]);
  }
}

// The round before the one that fails is saved, with its metrics.
TEST(MeasureBeside, AnErrorLosesNoRound) {
  class BrokenOracle final : public Oracle {
   public:
    std::optional<std::vector<double>> label(const Problem& data, std::span<const std::size_t> rows) override {
      check(++asked_ < 3, "the oracle broke");
      return table_.label(data, rows);
    }

   private:
    TableOracle table_;
    int asked_ = 0;
  };
  std::string left[2];
  for (const bool beside : {false, true}) {
    Beside run(beside);
    run.add_test_rows();
    BrokenOracle oracle;
    EXPECT_THROW(learn(run.store, run.campaign, run.data, oracle, 4, run.control), InputError);
    EXPECT_EQ(run.store.rounds.size(), 2U);
    left[beside] = numbers_of(run.campaign);
  }
  EXPECT_EQ(left[1], left[0]);
}

TEST(MeasureBeside, AFitThatFailsLosesNoRound) {
  Beside run;
  run.add_test_rows();
  std::size_t num_fits = 0;
  run.control.fitted = [&](const FitReport&) { ++num_fits; };
  run.control.fitting = [&](const FitProgress&) { check(num_fits < 2, "the card broke"); };
  EXPECT_THROW(run.go_on(), InputError);
  EXPECT_EQ(run.store.rounds.size(), 2U);
  run.control.fitting = {};
  run.go_on();
  Beside whole(false);
  whole.add_test_rows();
  whole.go_on();
  EXPECT_EQ(numbers_of(run.campaign), numbers_of(whole.campaign));
}

TEST(MeasureBeside, AStoreThatFailsEndsTheRun) {
  Beside run;
  run.store.full_at = 2;
  EXPECT_THROW(run.go_on(), SystemError);
  EXPECT_EQ(run.store.rounds.size(), 2U);
}

}  // namespace
}  // namespace dissent
