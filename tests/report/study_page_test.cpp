// The page of a study, from results made by hand: whole, unfinished, and with names that are markup.
#include "dissent/report/study_page.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "dissent/report/page_html.hpp"
#include "dissent/report/page_text.hpp"
#include "dissent/report/study_view.hpp"
#include "dissent/statistics/location.hpp"

namespace dissent::report {
namespace {

constexpr std::size_t kSeeds = 6;
constexpr std::size_t kRounds = 10;

StudyRun made_run(const std::string& problem, const std::string& model, const std::string& method, std::uint64_t seed) {
  StudyRun run{.name = "problem=" + problem + " acquisition=" + method,
               .axes = {{"problem", problem}, {"acquisition", method}},
               .problem = problem,
               .model = model,
               .acquisition = method,
               .method = method,
               .seed = seed,
               .state = CellState::kDone,
               .worker = "host:1",
               .version = "0.1",
               .started = 1.79e9,
               .changed = 1.79e9 + 60};
  const double better = method == "kl" ? 0.5 : 1;
  for (std::size_t round = 1; round <= kRounds + 1; ++round) {
    const auto at = static_cast<double>(round);
    const double rmse = better * (1 + 1 / at) + 0.01 * std::sin(static_cast<double>(7 * seed) + at);
    run.rounds.push_back({.round = round,
                          .labelled = 10 * round,
                          .rmse = rmse,
                          .rmse_paper = rmse,
                          .log_likelihood = -rmse,
                          .chosen_epistemic = round > kRounds ? std::nan("") : 1 / at,
                          .fit_seconds = 1,
                          .score_seconds = 0.5});
  }
  return run;
}

StudyResults made_results(const std::vector<std::string>& problems, const std::vector<std::string>& methods) {
  StudyResults results{.study = "made", .source = "by hand"};
  for (std::uint64_t seed = 0; seed < kSeeds; ++seed) {
    for (const std::string& problem : problems) {
      for (const std::string& method : methods) {
        results.runs.push_back(made_run(problem, "pne", method, seed));
      }
    }
  }
  return results;
}

template <class Kind>
const Kind* find(const Page& page, const std::string& id) {
  for (const Kind* one : blocks_of<Kind>(page)) {
    if (one->id == id) {
      return one;
    }
  }
  return nullptr;
}

std::size_t column(const Grid& grid, const std::string& name) {
  return static_cast<std::size_t>(std::ranges::find(grid.columns, name, &Heading::name) - grid.columns.begin());
}

TEST(StudyPage, HasEveryPart) {
  const Page page = study_page(made_results({"hetero", "pendulum"}, {"random", "kl"}));
  EXPECT_EQ(page.title, "Study made");
  for (const char* id : {"curves", "choices", "seconds", "scores", "profiles", "improvement", "outcomes", "timeline"}) {
    const Chart* chart = find<Chart>(page, id);
    ASSERT_NE(chart, nullptr) << id;
    EXPECT_FALSE(chart->data.rows.empty()) << id;
    EXPECT_FALSE(chart->caption.empty()) << id;
  }
  for (const char* id : {"verdicts", "main-rmse-1", "main-log-likelihood-1", "wins", "campaigns", "runtimes"}) {
    const TableBlock* table = find<TableBlock>(page, id);
    ASSERT_NE(table, nullptr) << id;
    for (const auto& row : table->grid.rows) {
      EXPECT_EQ(row.size(), table->grid.columns.size()) << id;
    }
  }
  std::set<std::string> ids;
  for (const Chart* chart : blocks_of<Chart>(page)) {
    EXPECT_TRUE(ids.insert(chart->id).second) << chart->id;
  }
  for (const TableBlock* table : blocks_of<TableBlock>(page)) {
    EXPECT_TRUE(ids.insert(table->id).second) << table->id;
  }
  for (const Section& section : page.sections) {
    EXPECT_TRUE(ids.insert(section.id).second) << section.id;
  }
}

TEST(StudyPage, CurvesAreMediansAndQuartilesOverSeeds) {
  const StudyResults results = made_results({"hetero"}, {"random", "kl"});
  const Page page = study_page(results);
  const Grid& grid = find<Chart>(page, "curves")->data;
  ASSERT_EQ(grid.rows.size(), 2 * (kRounds + 1));
  for (const auto& row : grid.rows) {
    std::vector<double> values;
    for (const StudyRun& run : results.runs) {
      for (const RoundRecord& record : run.rounds) {
        if (run.method == row[column(grid, "method")] && record.labelled == row[column(grid, "labelled")]) {
          values.push_back(record.rmse);
        }
      }
    }
    EXPECT_EQ(row[column(grid, "seeds")], kSeeds);
    EXPECT_EQ(row[column(grid, "rmse")], median(values));
    EXPECT_EQ(row[column(grid, "rmse_low")], quantile(values, 0.25));
    EXPECT_EQ(row[column(grid, "rmse_high")], quantile(values, 0.75));
  }
}

TEST(StudyPage, MainTableHasMeansAndRanks) {
  const StudyResults results = made_results({"hetero"}, {"random", "kl"});
  const Page page = study_page(results);
  const Grid& grid = find<TableBlock>(page, "main-rmse-1")->grid;
  ASSERT_EQ(grid.rows.size(), 2U);
  for (const auto& row : grid.rows) {
    std::vector<double> ends;
    for (const StudyRun& run : results.runs) {
      if (run.method == row[column(grid, "method")]) {
        ends.push_back(run.rounds.back().rmse);
      }
    }
    EXPECT_DOUBLE_EQ(row[column(grid, "mean")].get<double>(), moments(ends).mean);
    EXPECT_EQ(row[column(grid, "rank")], row[column(grid, "method")] == "kl" ? 1 : 2);
    EXPECT_EQ(row[column(grid, "mark")], row[column(grid, "method")] == "kl" ? "***" : "");
  }
}

// From printed means and deviations: separated on Humanoid, not from Monte Carlo on Pendulum and Hopper.
TEST(StudyPage, ThePapersTestsFollowFromItsNumbers) {
  StudyResults results = made_results({"pendulum", "hopper", "humanoid", "wave"}, {"random", "kl"});
  for (StudyRun& run : results.runs) {
    run.model = "flow";
  }
  const Page page = study_page(results);
  const Grid& grid = find<TableBlock>(page, "paper-tests")->grid;
  ASSERT_EQ(grid.rows.size(), 6U);  // two methods of the paper on each problem that it has
  const auto cell = [&](std::size_t row, const char* name) { return grid.rows[row][column(grid, name)]; };
  for (const auto& [row, problem, p] : {std::tuple(0U, "pendulum", 0.46), {2U, "hopper", 0.099}}) {
    EXPECT_EQ(cell(row, "problem"), problem);
    EXPECT_EQ(cell(row, "method"), "kl");
    EXPECT_EQ(cell(row, "baseline"), "mc");
    EXPECT_NEAR(cell(row, "adjusted").get<double>(), p, 0.005);
    EXPECT_EQ(cell(row, "separated"), "no");
  }
  EXPECT_NEAR(std::max(cell(4, "adjusted").get<double>(), cell(5, "adjusted").get<double>()), 0.006, 0.0005);
  EXPECT_EQ(cell(4, "separated"), "yes");
  EXPECT_EQ(cell(5, "separated"), "yes");
  EXPECT_EQ(find<TableBlock>(study_page(made_results({"wave"}, {"random", "kl"})), "paper-tests"), nullptr);
}

// The paper has one number of samples: the most of a study stand beside it.
TEST(StudyPage, OtherNumbersOfSamplesAreNotThePapers) {
  const Page page = study_page(made_results({"hetero"}, {"mc:10", "mc:5000"}));
  const Grid& grid = find<TableBlock>(page, "main-rmse-1")->grid;
  EXPECT_TRUE(grid.rows[0][column(grid, "paper_mean")].is_null());
  EXPECT_TRUE(grid.rows[1][column(grid, "paper_mean")].is_number());
}

TEST(StudyPage, DivergedCampaignsCountAsTheWorst) {
  StudyResults results = made_results({"hetero"}, {"random", "kl"});
  double worst = 0;
  for (StudyRun& run : results.runs) {
    for (const RoundRecord& record : run.rounds) {
      worst = std::max(worst, record.rmse);
    }
    if (run.method == "kl" && run.seed < 5) {
      run.rounds.back().rmse = std::nan("");
    }
  }
  const Page page = study_page(results);
  const Chart& curves = *find<Chart>(page, "curves");
  EXPECT_EQ(curves.data.rows.back()[column(curves.data, "rmse")], worst);
  EXPECT_NE(curves.caption.find("Diverged, and count as the worst of their problem: 5 values."), std::string::npos);
  const TableBlock& main = *find<TableBlock>(page, "main-rmse-1");
  EXPECT_NE(main.note.find("Diverged, and count as the worst of their problem: 5 campaigns."), std::string::npos);
  EXPECT_EQ(main.grid.rows[1][column(main.grid, "rank")], 2);
  EXPECT_NE(find<Chart>(page, "scores")->caption.find("5 campaigns with pne by RMSE"), std::string::npos);
}

TEST(StudyPage, EnsembleSizesCountWhatDiverged) {
  StudyResults results = made_results({"hopper"}, {"kl"});
  double worst = 0;
  for (StudyRun& run : results.runs) {
    run.axes.emplace_back("components", "3");
    run.method = "kl, components=3";
    for (const RoundRecord& record : run.rounds) {
      worst = std::max(worst, record.rmse);
    }
    if (run.seed < 4) {
      run.rounds.back().rmse = INFINITY;
    }
  }
  const Page page = study_page(results);
  const TableBlock& sizes = *find<TableBlock>(page, "sizes");
  for (const auto& row : sizes.grid.rows) {
    if (row[column(sizes.grid, "method")] == "kl" && row[column(sizes.grid, "components")] == 3) {
      EXPECT_EQ(row[column(sizes.grid, "here")], worst);
      EXPECT_EQ(row[column(sizes.grid, "count")], kSeeds);
    }
  }
  EXPECT_NE(sizes.note.find("diverged"), std::string::npos);
}

TEST(StudyPage, AnUnfinishedStudyHasWhatThereIs) {
  StudyResults results = made_results({"hetero", "pendulum"}, {"random", "kl"});
  for (std::size_t k = 1; k < results.runs.size(); ++k) {
    StudyRun& run = results.runs[k];
    run.rounds.clear();
    run.worker.clear();
    run.started = run.changed = 0;
    run.state = CellState::kWaiting;
  }
  results.runs[0].state = CellState::kRunning;
  results.runs[0].rounds.resize(2);
  const Page page = study_page(results);
  EXPECT_EQ(find<Chart>(page, "curves")->data.rows.size(), 2U);
  const auto numbers = blocks_of<KeyNumbers>(page).front()->list;
  EXPECT_EQ(numbers[0].value, "0");
  EXPECT_EQ(numbers[1].name, "Running");
  EXPECT_EQ(numbers[2].value, std::to_string(results.runs.size() - 1));

  StudyResults nothing = results;
  nothing.runs[0].rounds.clear();
  EXPECT_EQ(find<Chart>(study_page(nothing), "curves"), nullptr);
  EXPECT_NE(find<TableBlock>(study_page(nothing), "campaigns"), nullptr);
}

TEST(StudyPage, NamesCannotBecomeMarkup) {
  const std::string hostile = "</script><img src=x onerror=1>";
  StudyResults results = made_results({hostile, "'];alert(1);['"}, {"random", hostile});
  results.study = hostile;
  results.source = hostile;
  results.runs[0].error = hostile;
  results.runs[0].worker = hostile;
  results.runs[0].state = CellState::kFailed;
  results.measurements = {{.kind = "seconds", .estimator = hostile, .outputs = 1, .components = 5, .value = 1},
                          {.kind = "seconds", .estimator = hostile, .outputs = 2, .components = 5, .value = 2},
                          {.kind = hostile, .problem = hostile, .value = 2}};
  const std::string html = to_html(study_page(results), {});
  EXPECT_EQ(html.find("<img"), std::string::npos);
  EXPECT_EQ(html.find("</script><img"), std::string::npos);
  EXPECT_NE(html.find("&lt;/script&gt;&lt;img"), std::string::npos);
  const std::string markdown = to_markdown(study_page(results));
  for (std::size_t at = markdown.find('<'); at != std::string::npos; at = markdown.find('<', at + 1)) {
    EXPECT_EQ(markdown[at - 1], '\\');
  }
}

TEST(StudyPage, MeasurementsBecomeChartsOverWhatVaried) {
  StudyResults results = made_results({"hetero"}, {"random", "kl"});
  for (const std::size_t outputs : {1, 2, 4}) {
    for (const std::uint64_t seed : {0, 1, 2}) {
      results.measurements.push_back({.kind = "seconds",
                                      .estimator = "kl",
                                      .outputs = outputs,
                                      .components = 5,
                                      .seed = seed,
                                      .value = static_cast<double>(outputs + seed)});
    }
  }
  results.measurements.push_back({.kind = "seconds", .estimator = "kl", .outputs = 2, .components = 10, .value = 9});
  results.measurements.push_back({.kind = "data", .problem = "hetero", .at = 0.5, .value = 1});
  results.measurements.push_back({.kind = "sample", .problem = "hetero", .model = "pne", .at = 0.5, .value = 2});
  results.measurements.push_back({.kind = "sample", .problem = "hetero", .model = "flow", .at = 0.5, .value = 3});
  const Page page = study_page(results);
  const Grid& grid = find<Chart>(page, "measured-seconds")->data;
  std::vector<double> medians;
  for (const auto& row : grid.rows) {
    if (row[column(grid, "varied")] == "Output columns") {
      medians.push_back(row[column(grid, "value")].get<double>());
    }
  }
  EXPECT_EQ(medians, (std::vector<double>{2, 3, 5}));
  EXPECT_EQ(grid.rows.size(), 5U);                                 // and two numbers of components with two outputs
  EXPECT_EQ(find<Chart>(page, "pictures")->data.rows.size(), 4U);  // the data beside each model's samples
}

// Problems stand in the order of the pictures above, and what is no estimate says so.
TEST(StudyPage, EstimatesByTheInputStandBesideTheTrueValue) {
  StudyResults results = made_results({"hetero"}, {"random", "kl"});
  for (const char* problem : {"hetero", "bimodal"}) {
    for (const char* estimator : {"quadrature", "kl"}) {
      for (const double at : {0.0, 1.0}) {
        results.measurements.push_back(
            {.kind = "epistemic", .problem = problem, .model = "flow", .estimator = estimator, .at = at, .value = at});
      }
    }
  }
  const Page page = study_page(results);
  const Grid& grid = find<Chart>(page, "measured-epistemic")->data;
  EXPECT_EQ(texts_of(grid, "problem"), (std::vector<std::string>{"hetero", "bimodal"}));
  EXPECT_EQ(texts_of(grid, "series"), (std::vector<std::string>{"true value", "kl"}));
}

}  // namespace
}  // namespace dissent::report
