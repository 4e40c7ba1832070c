#include "dissent/study/run.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "dissent/base/error.hpp"
#include "dissent/base/random.hpp"
#include "support/temp_dir.hpp"

namespace dissent {
namespace {

class Run : public testing::Test {
 protected:
  Run() {
    std::string text = "x,y\n";
    Stream stream(3, Purpose::kTest);
    for (int k = 0; k < 120; ++k) {
      const double x = 6 * stream.uniform();
      text += fmt::format("{},{}\n", x, std::sin(x) + 0.1 * stream.normal());
    }
    directory_.write("wave.csv", text);
    grid_ = parse_grid(fmt::format(R"(name = "wave"
rounds = 2
[settings]
model = "gp"
batch = 4
[grid]
problem = "wave"
acquisition = ["random", "kl"]
seed = [0, 1]
[table.wave]
file = "{}"
targets = "y"
labelled = 12
test = 40
)",
                                   directory_.file("wave.csv")),
                       "wave.toml");
    control_.worker = "w";
  }

  std::string url(const std::string& name) const { return "sqlite:" + directory_.file(name); }

  TempDir directory_;
  Grid grid_;
  StudyControl control_;
};

// All but the times.
std::string numbers_of(StudyStore& store) {
  std::string text;
  for (const CellRound& round : store.rounds("wave")) {
    text += fmt::format("{} {} {} {} {}\n", round.cell, round.record.round, round.record.labelled, round.record.rmse,
                        round.record.log_likelihood);
  }
  for (const CellChoice& choice : store.choices("wave")) {
    text += fmt::format("{} {} {}\n", choice.cell, choice.chosen.row, choice.chosen.score);
  }
  return text;
}

TEST_F(Run, EveryCellIsRunOnce) {
  const auto store = StudyStore::open(url("a.db"));
  store->add(grid_);
  EXPECT_EQ(run_cells(*store, grid_, control_), 4u);
  EXPECT_EQ(run_cells(*store, grid_, control_), 0u);
  for (const CellRecord& cell : store->cells("wave")) {
    EXPECT_EQ(cell.state, CellState::kDone) << cell.error;
    EXPECT_EQ(cell.rounds, 3u);  // and the last model
  }
}

TEST_F(Run, StoppedAnywhereItEndsWithTheSameNumbers) {
  const auto whole = StudyStore::open(url("whole.db"));
  whole->add(grid_);
  run_cells(*whole, grid_, control_);
  const auto broken = StudyStore::open(url("broken.db"));
  broken->add(grid_);
  for (int steps = 1; steps < 200; ++steps) {
    int asked = 0;
    StudyControl control = control_;
    control.stop = [&] { return ++asked > steps; };
    run_cells(*broken, grid_, control);
    if (!broken->claim("wave", "probe", 1e-9)) {
      break;
    }
  }
  EXPECT_EQ(numbers_of(*broken), numbers_of(*whole));
}

// Who claims a cell and is stopped before its first step leaves it as it was, wherever it stood.
TEST_F(Run, StoppedAtOnceItLosesNothing) {
  grid_.cells.resize(1);
  const auto store = StudyStore::open(url("once.db"));
  store->add(grid_);
  const auto run_until = [&](int steps) {
    int asked = 0;
    StudyControl control = control_;
    control.stop = [&] { return ++asked > steps; };
    run_cells(*store, grid_, control);
    return store->cells("wave")[0].rounds;
  };
  for (int k = 0; k < 20 && store->cells("wave")[0].state != CellState::kDone; ++k) {
    const std::size_t before = run_until(2 + k % 4);
    const std::string numbers = numbers_of(*store);
    EXPECT_EQ(run_until(1), before) << k;
    EXPECT_EQ(numbers_of(*store), numbers) << k;
  }
}

TEST_F(Run, TargetsThatThePoolHasAreNotKept) {
  const auto store = StudyStore::open(url("small.db"));
  store->add(grid_);
  int asked = 0;
  StudyControl control = control_;
  control.stop = [&] { return ++asked > 5; };  // after the labels of a round
  run_cells(*store, grid_, control);
  const std::optional<Claim> claim = store->claim("wave", "probe", 1e-9);
  ASSERT_TRUE(claim);
  const std::optional<Campaign> campaign = store->load(*claim);
  ASSERT_TRUE(campaign);
  EXPECT_EQ(campaign->chosen.size(), 4u);
  EXPECT_EQ(campaign->num_told(), 0u);
}

TEST_F(Run, CellsOfALargerGridAreLeftToOthers) {
  const auto store = StudyStore::open(url("more.db"));
  store->add(grid_);
  Grid fewer = grid_;
  fewer.cells.pop_back();
  EXPECT_EQ(run_cells(*store, fewer, control_), 3u);
  EXPECT_EQ(store->cells("wave")[3].state, CellState::kWaiting);
}

TEST_F(Run, SeedsDrawOtherRowsAndDataSeedsOtherTests) {
  Cell cell = grid_.cells[0];
  const Problem first = cell_problem(cell);
  cell.settings["seed"] = std::uint64_t{1};
  const Problem second = cell_problem(cell);
  EXPECT_EQ(first.test.inputs, second.test.inputs);
  EXPECT_NE(first.train.inputs, second.train.inputs);
  cell.data_seed = 5;
  EXPECT_NE(cell_problem(cell).test.inputs, second.test.inputs);
  EXPECT_EQ(first.train.num_rows + first.pool.num_rows + first.test.num_rows, 120u);
}

TEST_F(Run, ACampaignThatFailsSaysWhyAndTheOthersRun) {
  grid_.cells[1].table->targets = {"z"};
  const auto store = StudyStore::open(url("f.db"));
  store->add(grid_);
  EXPECT_EQ(run_cells(*store, grid_, control_), 4u);
  const std::vector<CellRecord> cells = store->cells("wave");
  EXPECT_EQ(cells[1].state, CellState::kFailed);
  EXPECT_NE(cells[1].error.find("'z'"), std::string::npos) << cells[1].error;
  EXPECT_EQ(cells[3].state, CellState::kDone);
}

}  // namespace
}  // namespace dissent
