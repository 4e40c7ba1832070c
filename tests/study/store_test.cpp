#include "dissent/study/store.hpp"

#include <gtest/gtest.h>
#include <soci/sqlite3/soci-sqlite3.h>

#include <cmath>
#include <optional>
#include <thread>

#include "dissent/base/error.hpp"
#include "dissent/study/database.hpp"
#include "support/temp_dir.hpp"

namespace dissent {
namespace {

Grid small_grid() {
  return parse_grid(R"(name = "small"
rounds = 2
[grid]
problem = "hetero"
acquisition = ["random", "kl"]
seed = [0, 1]
)",
                    "small.toml");
}

// After one round and the model of the next.
Campaign some_campaign() {
  Campaign campaign;
  campaign.num_targets = 1;
  campaign.chosen = {{.row = 7, .round = 1, .score = 0.1, .epistemic = 0.2, .aleatoric = 1.5, .targets = {0.5}},
                     {.row = 3, .round = 1, .score = 1.0 / 3, .epistemic = 0.25, .aleatoric = 1.25, .targets = {0.75}}};
  campaign.rounds = {{.round = 1,
                      .labelled = 100,
                      .rmse = 0.1,
                      .rmse_paper = 0.1,
                      .log_likelihood = -1.0 / 3,
                      .chosen_epistemic = 0.225,
                      .fit_seconds = 1,
                      .score_seconds = 2}};
  campaign.fitted = RoundRecord{.round = 2, .labelled = 102, .rmse = 0.05};
  return campaign;
}

class Store : public testing::Test {
 protected:
  TempDir directory_;
  std::string url_ = "sqlite:" + directory_.file("runs.db");
};

TEST_F(Store, EveryCellIsClaimedOnce) {
  const auto store = StudyStore::open(url_);
  store->add(small_grid());
  store->add(small_grid());  // again: nothing new
  std::vector<std::string> names;
  while (const auto claim = store->claim("small", "w", 60)) {
    names.push_back(claim->name);
  }
  EXPECT_EQ(names, (std::vector<std::string>{
                       "problem=hetero acquisition=random seed=0", "problem=hetero acquisition=kl seed=0",
                       "problem=hetero acquisition=random seed=1", "problem=hetero acquisition=kl seed=1"}));
  EXPECT_FALSE(store->claim("other", "w", 60));
}

TEST_F(Store, WhatIsRecordedIsReadBack) {
  const auto store = StudyStore::open(url_);
  store->add(small_grid());
  const Claim claim = store->claim("small", "w", 60).value();
  EXPECT_FALSE(store->load(claim));
  const Campaign campaign = some_campaign();
  store->record(claim, campaign);
  store->record(claim, campaign);  // the same step twice changes nothing
  store->finish(claim);

  const auto reader = StudyStore::open(url_, StudyStore::Access::kRead);
  EXPECT_EQ(reader->studies(), std::vector<std::string>{"small"});
  const std::vector<CellRecord> cells = reader->cells("small");
  ASSERT_EQ(cells.size(), 4u);
  EXPECT_EQ(cells[0].state, CellState::kDone);
  EXPECT_EQ(cells[0].rounds, 2u);
  EXPECT_EQ(cells[1].state, CellState::kWaiting);
  const std::vector<CellRound> rounds = reader->rounds("small");
  ASSERT_EQ(rounds.size(), 2u);
  EXPECT_EQ(rounds[0].record.log_likelihood, -1.0 / 3);
  EXPECT_EQ(rounds[1].record.rmse, 0.05);
  EXPECT_TRUE(std::isnan(rounds[1].record.chosen_epistemic));
  const std::vector<CellChoice> choices = reader->choices("small");
  ASSERT_EQ(choices.size(), 2u);
  EXPECT_EQ(choices[1].chosen.row, 3u);
  EXPECT_EQ(choices[1].chosen.score, 1.0 / 3);
  const Campaign loaded = store->load(claim).value();
  EXPECT_EQ(loaded.chosen[1].row, campaign.chosen[1].row);
  EXPECT_TRUE(loaded.chosen[1].is_pending());  // the pool has its targets
}

TEST_F(Store, MeasurementsReplaceThoseOfTheirKindAndProblem) {
  const auto store = StudyStore::open(url_);
  const Measurement time{.kind = "seconds",
                         .problem = "hopper",
                         .model = "flow",
                         .estimator = "mc:5000",
                         .outputs = 11,
                         .components = 5,
                         .samples = 5000,
                         .seed = ~std::uint64_t{0},
                         .at = 0.5,
                         .value = 1.0 / 3};
  const Measurement bias{.kind = "bias", .estimator = "kl", .value = -0.25};
  store->record("small", {time, time, bias});
  store->record("small", {time});
  store->record("other", {bias, bias});
  const std::vector<Measurement> read = store->measurements("small");
  ASSERT_EQ(read.size(), 2u);
  EXPECT_EQ(read[0].kind, "bias");
  EXPECT_EQ(read[0].value, -0.25);
  EXPECT_EQ(read[1].estimator, "mc:5000");
  EXPECT_EQ(read[1].outputs, 11u);
  EXPECT_EQ(read[1].samples, 5000u);
  EXPECT_EQ(read[1].seed, ~std::uint64_t{0});
  EXPECT_EQ(read[1].at, 0.5);
  EXPECT_EQ(read[1].value, 1.0 / 3);
  EXPECT_EQ(store->measurements("other").size(), 2u);
  store->record("other", {{.kind = "bias", .problem = "hetero", .value = 1}});
  store->record("other", {{.kind = "bias", .problem = "hetero", .value = 2}});
  ASSERT_EQ(store->measurements("other").size(), 3u);
  EXPECT_EQ(store->measurements("other")[2].value, 2);
  EXPECT_TRUE(store->measurements("none").empty());
}

TEST_F(Store, ACellPassesOnWhenItsLeaseIsOver) {
  const auto store = StudyStore::open(url_);
  store->add(small_grid());
  const Claim dead = store->claim("small", "dead", 0.05).value();
  store->record(dead, some_campaign());
  EXPECT_EQ(store->claim("small", "other", 60)->name, "problem=hetero acquisition=kl seed=0");
  std::optional<Claim> taken;
  while (!taken) {  // until the lease is over; a test that hangs fails
    taken = store->claim("small", "heir", 60, dead.name);
  }
  const Claim heir = *taken;
  EXPECT_EQ(heir.name, dead.name);
  EXPECT_TRUE(store->load(heir));
  EXPECT_THROW(store->record(dead, some_campaign()), LeaseLost);
  EXPECT_THROW(store->renew(dead), LeaseLost);
  EXPECT_THROW(store->finish(dead), LeaseLost);
  store->renew(heir);
  store->finish(heir);
  EXPECT_THROW(store->renew(heir), LeaseLost);  // it is done
}

TEST_F(Store, FailuresWaitForARetry) {
  const auto store = StudyStore::open(url_);
  store->add(small_grid());
  const Claim claim = store->claim("small", "w", 60).value();
  store->fail(claim, "it's \"broken\"; -- really");
  EXPECT_EQ(store->cells("small")[0].error, "it's \"broken\"; -- really");
  EXPECT_EQ(store->cells("small")[0].state, CellState::kFailed);
  EXPECT_NE(store->claim("small", "w", 60)->name, claim.name);
  EXPECT_EQ(store->retry("small"), 1u);
  EXPECT_EQ(store->claim("small", "w", 60)->name, claim.name);
}

TEST_F(Store, RefusesOtherSettingsUnderTheSameName) {
  const auto store = StudyStore::open(url_);
  Grid grid = small_grid();
  store->add(grid);
  grid.cells[1].rounds = 9;
  grid.cells[1].settings["batch"] = std::uint64_t{3};
  try {
    store->add(grid);
    FAIL() << "it was accepted";
  } catch (const InputError& error) {
    const std::string message = error.what();
    EXPECT_NE(message.find("'problem=hetero acquisition=kl seed=0' with other settings: batch is not given there, 3 in "
                           "the grid, rounds is 2 there, 9 in the grid; give"),
              std::string::npos)
        << message;
  }
  EXPECT_EQ(store->cells("small").size(), 4u);
}

TEST_F(Store, AGridMayGrowButNotShrink) {
  const auto store = StudyStore::open(url_);
  Grid grid = small_grid();
  grid.cells.pop_back();
  store->add(grid);
  store->add(small_grid());
  EXPECT_EQ(store->cells("small").size(), 4u);
  EXPECT_THROW(store->add(grid), InputError);
}

TEST_F(Store, CountsWhatHasEnded) {
  const auto store = StudyStore::open(url_);
  store->add(small_grid());
  EXPECT_EQ(store->num_ended("small"), 0u);
  store->finish(store->claim("small", "w", 60).value());
  store->fail(store->claim("small", "w", 60).value(), "broken");
  EXPECT_TRUE(store->claim("small", "w", 60));
  EXPECT_EQ(store->num_ended("small"), 2u);
  EXPECT_EQ(store->num_failed("small"), 1u);
  EXPECT_EQ(store->num_failed("small", "problem=hetero acquisition=kl seed=0"), 1u);
  EXPECT_EQ(store->num_failed("small", "problem=hetero acquisition=random seed=0"), 0u);
  const std::vector<HeldCell> held = store->held("small");
  ASSERT_EQ(held.size(), 1u);
  EXPECT_EQ(held[0].name, "problem=hetero acquisition=random seed=1");
  EXPECT_EQ(held[0].worker, "w");
  EXPECT_GT(held[0].seconds, 0);
  EXPECT_LE(held[0].seconds, 60.001);  // clocks of a database may round
  EXPECT_EQ(store->held("small", held[0].name).size(), 1u);
  EXPECT_TRUE(store->held("small", "problem=hetero acquisition=kl seed=1").empty());
}

TEST_F(Store, ThreadsNeverShareACell) {
  const auto store = StudyStore::open(url_);
  Grid grid = parse_grid("name = \"many\"\n[grid]\nproblem = \"hetero\"\nseed = \"0-99\"\n", "many.toml");
  store->add(grid);
  std::vector<std::vector<std::string>> names(3);
  std::vector<std::thread> threads;
  for (std::size_t t = 0; t < names.size(); ++t) {
    threads.emplace_back([&, t] {
      const auto own = StudyStore::open(url_);
      while (const auto claim = own->claim("many", std::to_string(t), 60)) {
        names[t].push_back(claim->name);
        own->finish(*claim);
      }
    });
  }
  for (std::thread& thread : threads) {
    thread.join();
  }
  EXPECT_EQ(names[0].size() + names[1].size() + names[2].size(), 100u);
  for (const CellRecord& cell : store->cells("many")) {
    EXPECT_EQ(cell.state, CellState::kDone);
  }
}

TEST_F(Store, SaysWhatIsWrongWithAStore) {
  EXPECT_THROW(StudyStore::open("mysql://x"), InputError);
  EXPECT_THROW(StudyStore::open("sqlite:"), InputError);
  EXPECT_THROW(StudyStore::open(url_, StudyStore::Access::kRead), InputError);
  directory_.write("text.db", "this is not a database, but it is long enough to look at");
  EXPECT_THROW(StudyStore::open("sqlite:" + directory_.file("text.db")), SystemError);
  const auto says = [](const std::string& url, const std::string& part) {
    try {
      StudyStore::open(url);
      ADD_FAILURE() << url << " was accepted";
    } catch (const InputError& error) {
      EXPECT_NE(std::string(error.what()).find(part), std::string::npos) << error.what();
    }
  };
  says("runs.db", "did you mean 'sqlite:runs.db'?");
  says("sqlite://runs.db", "did you mean 'sqlite:runs.db'?");
  says("sqlite:/nowhere/at/all/runs.db", "there is no folder '/nowhere/at/all'");
  says("sqlite:" + directory_.file(""), "is a folder");
}

TEST_F(Store, ThreeSlashesAreAnAbsolutePath) {
  const std::string path = directory_.file("three.db");
  EXPECT_EQ(StudyStore::open("sqlite://" + path)->name(), "sqlite:" + path);
  EXPECT_TRUE(StudyStore::open("sqlite:" + path, StudyStore::Access::kRead)->studies().empty());
}

// What SQLite's library says is passed on without the names of functions of ours or of others.
TEST_F(Store, MessagesNameNoFunctions) {
  { const auto store = StudyStore::open(url_); }
  soci::session sql(soci::sqlite3, "db=" + directory_.file("runs.db"));
  sql << "DROP TABLE cell";
  try {
    StudyStore::open(url_)->cells("small");
    FAIL() << "it was accepted";
  } catch (const SystemError& error) {
    EXPECT_EQ(std::string(error.what()), url_ + ": no such table: cell");
  }
}

TEST(DatabaseUrl, PasswordsAreNotShown) {
  EXPECT_EQ(parse_database_url("postgresql://me:secret@host:5432/runs?password=secret").shown,
            "postgresql://me@host:5432/runs");
  EXPECT_EQ(parse_database_url("postgresql://me@host/runs?password=sec@ret").shown, "postgresql://me@host/runs");
  EXPECT_EQ(parse_database_url("postgresql://host:5432/runs").shown, "postgresql://host:5432/runs");
  for (const char* url :
       {"postgresql://me:sec@ret@host/runs", "postgresql://me:sec?ret@host/runs", "postgresql://me:sec/ret@host/runs",
        "postgresql:host=h password=secret user=me", "postgre://me:sec@ret@host/runs", "postgresql:me:secret@host"}) {
    try {
      parse_database_url(url);
      ADD_FAILURE() << url << " was accepted";
    } catch (const InputError& error) {
      const std::string message = error.what();
      EXPECT_EQ(message.find("sec"), std::string::npos) << message;
      EXPECT_EQ(message.find("ret@"), std::string::npos) << message;
      EXPECT_NE(message.find("host"), std::string::npos) << message;
    }
  }
}

TEST(DatabaseUrl, ServersGetTimeoutsThatTheyHaveNot) {
  const std::string plain = with_timeouts("postgresql://me@host/runs");
  EXPECT_TRUE(plain.starts_with("postgresql://me@host/runs?connect_timeout=10&keepalives_idle=")) << plain;
  const std::string given = with_timeouts("postgresql://me@host/runs?connect_timeout=3&sslmode=require");
  EXPECT_TRUE(given.starts_with("postgresql://me@host/runs?connect_timeout=3&sslmode=require&keepalives_idle="))
      << given;
  EXPECT_EQ(given.find("connect_timeout=10"), std::string::npos);
}

}  // namespace
}  // namespace dissent
