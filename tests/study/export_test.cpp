#include "dissent/study/export.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <vector>

#include "dissent/base/error.hpp"
#include "dissent/table/text_file.hpp"
#include "support/temp_dir.hpp"

namespace dissent {
namespace {

StudyRun some_run(const std::string& acquisition, std::uint64_t seed) {
  return {.name = "acquisition=" + acquisition + " batch=10",
          .axes = {{"acquisition", acquisition}, {"batch", "10"}},
          .problem = "hetero",
          .model = "pne",
          .acquisition = acquisition,
          .method = acquisition + ", batch=10",
          .seed = seed,
          .data_seed = 3,
          .epochs = 250,
          .state = CellState::kDone,
          .worker = "host, \"the\" first:12:0:ab",
          .version = "0.5.0",
          .error = {},
          .started = 1.75e9 + 1.0 / 3,
          .changed = 1.75e9 + 2.0 / 3,
          .rounds = {{.round = 1, .labelled = 200, .rmse = 1.0 / 3, .log_likelihood = -0.1},
                     {.round = 2, .labelled = 210, .rmse = 0.3, .chosen_epistemic = std::nan("")}}};
}

StudyResults some_results() {
  StudyResults results{.study = "small", .source = "runs.db", .runs = {some_run("kl", 7), some_run("mc:50", 8)}};
  results.runs[1].state = CellState::kFailed;
  results.runs[1].error = "t.csv: there is\nno column 'y'";
  results.runs[1].rounds.clear();
  return results;
}

TEST(Export, IsReadBack) {
  const StudyResults results = some_results();
  const TempDir directory;
  const StudyResults read = read_results(directory.write("rounds.csv", rounds_csv(results)));
  EXPECT_EQ(read.study, "small");
  ASSERT_EQ(read.runs.size(), 2u);
  for (std::size_t k = 0; k < 2; ++k) {
    const StudyRun& run = read.runs[k];
    const StudyRun& expected = results.runs[k];
    EXPECT_EQ(run.name, expected.name);
    EXPECT_EQ(run.problem, expected.problem);
    EXPECT_EQ(run.model, expected.model);
    EXPECT_EQ(run.acquisition, expected.acquisition);
    EXPECT_EQ(run.method, expected.method);
    EXPECT_EQ(run.seed, expected.seed);
    EXPECT_EQ(run.data_seed, expected.data_seed);
    EXPECT_EQ(run.epochs, expected.epochs);
    EXPECT_EQ(run.state, expected.state);
    EXPECT_EQ(run.worker, expected.worker);
    EXPECT_EQ(run.version, expected.version);
    EXPECT_EQ(run.error, expected.error);
    EXPECT_EQ(run.started, expected.started);
    EXPECT_EQ(run.changed, expected.changed);
    ASSERT_EQ(run.rounds.size(), expected.rounds.size());
  }
  EXPECT_EQ(read.runs[0].rounds[0].rmse, 1.0 / 3);
  EXPECT_EQ(read.runs[0].rounds[1].labelled, 210u);
  EXPECT_TRUE(std::isnan(read.runs[0].rounds[1].chosen_epistemic));
}

TEST(Export, MayBePacked) {
  const TempDir directory;
  const StudyResults read = read_results(directory.write("rounds.csv.gz", pack_gzip(rounds_csv(some_results()))));
  EXPECT_EQ(rounds_csv(read), rounds_csv(some_results()));
}

// Studies that were put together may have been run with other axes.
TEST(Export, HasTheAxesOfAllCampaigns) {
  StudyResults results = some_results();
  results.runs[1].axes = {{"acquisition", "mc:50"}, {"candidates", "100"}};
  results.runs[1].method = "mc:50, candidates=100";
  const TempDir directory;
  const StudyResults read = read_results(directory.write("rounds.csv", rounds_csv(results)));
  EXPECT_EQ(read.runs[0].method, "kl, batch=10");
  EXPECT_EQ(read.runs[1].method, "mc:50, candidates=100");
}

TEST(Export, KeepsCampaignsOfNamedMethods) {
  const StudyResults all{
      .study = "small",
      .source = "runs.db",
      .runs = {some_run("kl", 0), some_run("mc:50", 1), some_run("mc:500", 2), some_run("kl-joint", 3)}};
  const auto kept = [&](const std::vector<std::string>& names) {
    StudyResults results = all;
    keep_methods(results, names);
    std::vector<std::string> found;
    std::ranges::transform(results.runs, std::back_inserter(found), &StudyRun::acquisition);
    return found;
  };
  EXPECT_EQ(kept({"kl"}), (std::vector<std::string>{"kl"}));
  EXPECT_EQ(kept({"mc"}), (std::vector<std::string>{"mc:50", "mc:500"}));
  EXPECT_EQ(kept({"mc:500", "kl-joint"}), (std::vector<std::string>{"mc:500", "kl-joint"}));
  EXPECT_THROW(kept({"kl", "badge"}), InputError);
}

TEST(Export, KeepsRoundsThatAllCampaignsOfAProblemHave) {
  StudyResults results{.study = "small", .source = "runs.db", .runs = {}};
  const auto add = [&](const std::string& problem, const std::string& model, std::size_t num_rounds) {
    StudyRun run = some_run("kl", results.runs.size());
    run.problem = problem;
    run.model = model;
    run.rounds.assign(num_rounds, RoundRecord{.round = 1});
    results.runs.push_back(run);
  };
  add("hetero", "pne", 3);
  add("hetero", "pne", 5);
  add("hetero", "pne", 0);  // waits
  add("hetero", "flow", 4);
  add("ant", "pne", 2);
  keep_common_rounds(results);
  std::vector<std::size_t> found;
  std::ranges::transform(results.runs, std::back_inserter(found),
                         [](const StudyRun& run) { return run.rounds.size(); });
  EXPECT_EQ(found, (std::vector<std::size_t>{3, 3, 0, 4, 2}));
}

TEST(Export, OfMeasurementsIsReadBack) {
  StudyResults results{.study = "estimators", .source = "runs.db"};
  results.measurements = {{.kind = "seconds",
                           .estimator = "mc:10",
                           .outputs = 3,
                           .components = 5,
                           .samples = 10,
                           .seed = 2,
                           .at = 0,
                           .value = 1.0 / 3},
                          {.kind = "bias",
                           .problem = "hetero",
                           .model = "flow",
                           .estimator = "kl",
                           .outputs = 1,
                           .components = 5,
                           .seed = 1,
                           .at = -0.1,
                           .value = -1e-17}};
  const TempDir directory;
  const StudyResults read = read_results(directory.write("measured.csv.gz", pack_gzip(measurements_csv(results))));
  EXPECT_EQ(read.study, "estimators");
  EXPECT_TRUE(read.runs.empty());
  EXPECT_EQ(measurements_csv(read), measurements_csv(results));
  ASSERT_EQ(read.measurements.size(), 2u);
  EXPECT_EQ(read.measurements[0].value, 1.0 / 3);
  EXPECT_EQ(read.measurements[1].at, -0.1);
  EXPECT_EQ(read.measurements[1].problem, "hetero");
}

TEST(Export, OfMeasurementsSaysWhatIsWrong) {
  const TempDir directory;
  const auto problem_with = [&](const std::string& text) -> std::string {
    try {
      read_results(directory.write("measured.csv", text));
    } catch (const InputError& error) {
      return error.what();
    }
    return "";
  };
  const std::string header = "study,kind,problem,model,estimator,outputs,components,samples,seed,at,value\n";
  EXPECT_NE(problem_with(header).find("it has no rows"), std::string::npos);
  EXPECT_NE(problem_with(header + "a,seconds,,,kl,x,5,0,0,0,1\n").find("column 'outputs', row 1: 'x' is not a whole"),
            std::string::npos);
  EXPECT_NE(problem_with(header + "a,seconds,,,kl,1,5,0,0,0,inf\n").find("column 'value', row 1: it is not a finite"),
            std::string::npos);
  EXPECT_NE(problem_with("study,kind,estimator,value\na,seconds,kl,1\n").find("it has no column 'problem'"),
            std::string::npos);
}

TEST(Export, ListsChoices) {
  const std::vector<CellChoice> choices = {{"acquisition=kl batch=10", {.row = 5, .round = 1, .score = 0.25}},
                                           {"acquisition=kl batch=10", {.row = 2, .round = 1, .score = 0.125}}};
  const std::string csv = choices_csv(some_results(), choices);
  EXPECT_EQ(std::ranges::count(csv, '\n'), 1 + 2 + 1 + 1);  // a campaign without choices, and a line break in its error
  EXPECT_NE(csv.find("data_seed,batch,state,"), std::string::npos) << csv;
  EXPECT_NE(csv.find(",1,5,0.25,"), std::string::npos) << csv;
}

}  // namespace
}  // namespace dissent
