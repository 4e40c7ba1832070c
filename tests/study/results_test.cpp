#include "dissent/study/results.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "dissent/base/error.hpp"
#include "dissent/study/run.hpp"
#include "support/temp_dir.hpp"

namespace dissent {
namespace {

constexpr const char* kHeader =
    "study,cell,state,problem,model,acquisition,seed,data_seed,candidates,worker,version,started,changed,round,"
    "labelled,"
    "rmse,rmse_paper,log_likelihood,chosen_epistemic,fit_seconds,score_seconds\n";

class Results : public testing::Test {
 protected:
  std::string write(const std::string& rows) {
    directory_.write("rounds.csv", kHeader + rows);
    return directory_.file("rounds.csv");
  }

  std::string problem_with(const std::string& rows) {
    try {
      read_results(write(rows));
    } catch (const InputError& error) {
      return error.what();
    }
    return "";
  }

  TempDir directory_;
};

TEST_F(Results, OfAFile) {
  const StudyResults results = read_results(
      write("quick,c1,done,hetero,flow,mc:5000,3,7,1000,host:1,0.5.0,100.5,200,1,100,2.5,2,-1.5,0.25,3,0.5\n"
            "quick,c1,done,hetero,flow,mc:5000,3,7,1000,host:1,0.5.0,100.5,200,2,110,1.5,1,-1,,3,\n"
            "quick,c2,running,hetero,flow,kl,4,7,1000,host:2,0.5.0,101,201,1,100,nan,2,-inf,0.25,3,0.5\n"
            "quick,c3,waiting,hetero,flow,kl,5,7,1000,,,,,,,,,,,,\n"));
  EXPECT_EQ(results.study, "quick");
  ASSERT_EQ(results.runs.size(), 3U);
  const StudyRun& first = results.runs[0];
  EXPECT_EQ(first.name, "c1");
  EXPECT_EQ(first.problem, "hetero");
  EXPECT_EQ(first.model, "flow");
  EXPECT_EQ(first.acquisition, "mc:5000");
  EXPECT_EQ(first.method, "mc:5000, candidates=1000");
  EXPECT_EQ(first.seed, 3U);
  EXPECT_EQ(first.data_seed, 7U);
  EXPECT_EQ(first.state, CellState::kDone);
  EXPECT_EQ(first.worker, "host:1");
  EXPECT_EQ(first.started, 100.5);
  ASSERT_EQ(first.rounds.size(), 2U);
  EXPECT_EQ(first.rounds[1].round, 2U);
  EXPECT_EQ(first.rounds[1].labelled, 110U);
  EXPECT_EQ(first.rounds[1].rmse, 1.5);
  EXPECT_TRUE(std::isnan(first.rounds[1].score_seconds));
  EXPECT_TRUE(std::isnan(results.runs[1].rounds[0].rmse));
  EXPECT_EQ(results.runs[1].rounds[0].log_likelihood, -INFINITY);
  EXPECT_EQ(results.runs[1].state, CellState::kRunning);
  EXPECT_TRUE(results.runs[2].rounds.empty());
}

// As spreadsheets save it.
TEST_F(Results, OfAFileWithOtherLineEnds) {
  std::string text =
      kHeader + std::string("quick,c1,done,hetero,flow,kl,3,7,1000,h,0.5.0,1,2,1,100,2.5,2,-1.5,0.25,3,0.5\n");
  for (std::size_t at = text.find('\n'); at != std::string::npos; at = text.find('\n', at + 2)) {
    text.replace(at, 1, "\r\n");
  }
  directory_.write("rounds.csv", text);
  const StudyResults results = read_results(directory_.file("rounds.csv"));
  EXPECT_EQ(results.runs[0].method, "kl, candidates=1000");
  EXPECT_EQ(results.runs[0].rounds[0].rmse, 2.5);
}

TEST_F(Results, OfAFileThatIsNoExport) {
  const std::string row = "quick,c1,done,hetero,flow,kl,3,7,1000,h,0.5.0,1,2,1,100,2.5,2,-1.5,0.25,3,0.5\n";
  EXPECT_NE(problem_with("").find("it has no rows"), std::string::npos);
  EXPECT_NE(problem_with(row + row).find("row 2: the rounds of 'c1' do not ascend"), std::string::npos);
  EXPECT_NE(problem_with(row + "other" + row.substr(5)).find("row 2: there is more than one study"), std::string::npos);
  std::string bad = row;
  bad.replace(bad.find(",3,7,"), 5, ",x,7,");
  EXPECT_NE(problem_with(bad).find("column 'seed', row 1: 'x' is not a whole number"), std::string::npos);
  bad = row;
  bad.replace(bad.find(",2,1,100"), 8, ",2,0,100");
  EXPECT_NE(problem_with(bad).find("rounds count from 1"), std::string::npos);
  directory_.write("sizes.csv",
                   "study,cell,problem,model,acquisition,seed,components,round\n"
                   "s,c1,hopper,flow,kl,0,5,1\ns,c2,hopper,flow,kl,0,many,1\n");
  try {
    read_results(directory_.file("sizes.csv"));
    FAIL();
  } catch (const InputError& error) {
    EXPECT_NE(std::string(error.what()).find("sizes.csv: column 'components', row 2: 'many' is not a whole number"),
              std::string::npos)
        << error.what();
  }
  directory_.write("other.csv", "a,b\n1,2\n");
  EXPECT_THROW(read_results(directory_.file("other.csv")), InputError);
  EXPECT_THROW(read_results(directory_.file("nothing.csv")), InputError);
}

TEST_F(Results, OfAStore) {
  std::string text = "x,y\n";
  for (int k = 0; k < 60; ++k) {
    text += fmt::format("{},{}\n", 0.1 * k, std::sin(0.1 * k));
  }
  directory_.write("wave.csv", text);
  const Grid grid = parse_grid(fmt::format(R"(name = "wave"
rounds = 1
data_seed = 5
[settings]
model = "gp"
[grid]
problem = "wave"
acquisition = ["random", "kl"]
batch = [2, 3]
seed = [4]
[table.wave]
file = "{}"
targets = "y"
labelled = 12
test = 20
)",
                                           directory_.file("wave.csv")),
                               "wave.toml");
  const auto store = StudyStore::open("sqlite:" + directory_.file("runs.db"));
  store->add(grid);
  EXPECT_TRUE(read_results(*store).runs[0].rounds.empty());
  StudyControl control;
  control.worker = "w";
  run_cells(*store, grid, control);
  const StudyResults results = read_results(*store, "wave");
  EXPECT_EQ(results.study, "wave");
  ASSERT_EQ(results.runs.size(), 4U);
  const StudyRun& last = results.runs[3];
  EXPECT_EQ(last.problem, "wave");
  EXPECT_EQ(last.model, "gp");
  EXPECT_EQ(last.acquisition, "kl");
  EXPECT_EQ(last.method, "kl, batch=3");
  EXPECT_EQ(last.seed, 4U);
  EXPECT_EQ(last.data_seed, 5U);
  EXPECT_EQ(last.state, CellState::kDone);
  EXPECT_EQ(last.worker, "w");
  ASSERT_EQ(last.rounds.size(), 2U);  // one round, and the model after it
  EXPECT_EQ(last.rounds[1].labelled, 15U);
  try {
    read_results(*store, "wav");
    FAIL();
  } catch (const InputError& error) {
    EXPECT_NE(std::string(error.what()).find("did you mean 'wave'?"), std::string::npos);
  }
}

}  // namespace
}  // namespace dissent
