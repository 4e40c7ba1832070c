#include "dissent/study/comparison_tables.hpp"

#include <gtest/gtest.h>

#include <algorithm>

#include "dissent/table/csv.hpp"
#include "study/made_results.hpp"

namespace dissent {
namespace {

// After 10 rounds on Humanoid, where the paper has numbers.
StudyResults study_of(const std::string& problem) {
  StudyResults results{.study = "made", .source = "test"};
  for (std::uint64_t seed = 0; seed < 6; ++seed) {
    const double noise = 0.02 * static_cast<double>(seed);
    std::vector<double> kl(11, 2 + noise);
    std::vector<double> random(11, 3 - noise);
    results.runs.push_back(made_run(problem, "flow", "kl", seed, kl));
    results.runs.push_back(made_run(problem, "flow", "random", seed, random));
  }
  return results;
}

const RecordTable& named(const std::vector<RecordTable>& tables, const std::string& name) {
  return *std::ranges::find(tables, name, &RecordTable::name);
}

TEST(ComparisonTables, ThePapersNumberStandsBeside) {
  const Comparison comparison = compare(study_of("humanoid"), {.num_draws = 20});
  EXPECT_EQ(shown_rounds(comparison), std::vector<std::size_t>{10});
  const std::vector<TextTable> tables = curve_tables(comparison, std::vector<std::size_t>{5, 10, 100});
  ASSERT_EQ(tables.size(), 1U);
  EXPECT_EQ(tables[0].columns, (std::vector<std::string>{"method", "seeds", "after 5", "after 10", "after 100"}));
  const std::vector<TextCell>& kl = tables[0].rows[0];
  EXPECT_EQ(kl[1].text, "6");
  EXPECT_EQ(kl[2].text, "2.05 ± 0.037***");
  EXPECT_EQ(kl[3].text, "2.05 ± 0.037*** [6.82 ± 1.3]");
  EXPECT_TRUE(kl[3].best);
  EXPECT_EQ(kl[4].text, "- [3.4 ± 0.48**]");
  EXPECT_EQ(tables[0].rows[1][3].text, "2.95 ± 0.037 [8.79 ± 1.2]");
  EXPECT_FALSE(tables[0].rows[1][3].best);
  EXPECT_EQ(tables[0].notes.size(), 3U);  // marks, source, how far RMSE compares
  const Comparison alike = compare(study_of("humanoid"), {.metric = "rmse_paper", .num_draws = 20});
  EXPECT_EQ(curve_tables(alike, std::vector<std::size_t>{10})[0].notes.size(), 2U);
  StudyResults two = study_of("wave");
  const StudyResults more = study_of("humanoid");
  two.runs.insert(two.runs.end(), more.runs.begin(), more.runs.end());
  const std::vector<TextTable> both = curve_tables(compare(two, {.num_draws = 20}), std::vector<std::size_t>{10});
  EXPECT_EQ(both[0].notes.size(), 3U);  // once, below the first
  EXPECT_TRUE(both[1].notes.empty());
  const Comparison other = compare(study_of("wave"), {.num_draws = 20});
  EXPECT_EQ(curve_tables(other, std::vector<std::size_t>{10})[0].notes.size(), 1U);
}

TEST(ComparisonTables, ThePaperHasNoNumberForOtherSettings) {
  StudyResults results;
  for (const char* method : {"mc:10", "mc:5000", "mc:100"}) {
    results.runs.push_back(made_run("hopper", "flow", method, 0, std::vector<double>(11, 1.0)));
  }
  results.runs.push_back(made_run("hopper", "flow", "kl", 0, std::vector<double>(11, 1.0), {{"components", "3"}}));
  const TextTable table = curve_tables(compare(results, {.num_draws = 20}), std::vector<std::size_t>{10})[0];
  EXPECT_EQ(table.rows[0][2].text, "1");  // one run has no deviation
  EXPECT_EQ(table.rows[1][2].text, "1 [0.55 ± 0.09]");
  EXPECT_EQ(table.rows[2][2].text, "1");
  EXPECT_EQ(table.rows[3][2].text, "1");
}

TEST(ComparisonTables, RunsThatAreNotSoFar) {
  StudyResults results = study_of("wave");
  results.runs[0].rounds.resize(4);
  results.runs[2].rounds[8].rmse = std::numeric_limits<double>::infinity();
  const Comparison comparison = compare(results, {.num_draws = 20});
  const TextTable table = curve_tables(comparison, std::vector<std::size_t>{3, 10})[0];
  EXPECT_EQ(table.rows[0][2].text, "2.05 ± 0.037***");
  EXPECT_EQ(table.rows[0][3].text, "2.06 ± 0.032 (n=5)***");
  EXPECT_EQ(table.notes.back(), "Diverged, and count as the worst of the problem: 1 model of kl.");
  EXPECT_EQ(curve_tables(comparison, std::vector<std::size_t>{8})[0].rows[0][2].text,
            "2.26 ± 0.42 (n=5) (1 diverged)*");
  const std::vector<TextTable> paired = paired_tables(comparison);
  EXPECT_EQ(paired[0].notes[0], "Diverged, and count as the worst of the problem: 1 run of kl.");
  EXPECT_EQ(paired[0].notes[1], "Left out, before round 10: 1 campaign, 0 of which failed.");
  EXPECT_EQ(paired[1].notes.back(), "Diverged, and count as the worst of the problem: 1 run of kl.");
  EXPECT_TRUE(paired[2].notes.empty());  // none diverged at the end
  const std::vector<TextTable> overall = overall_tables(comparison);
  EXPECT_EQ(overall[0].notes.back(), "Diverged, and count as the worst of their problem: 1 run.");
  EXPECT_EQ(overall[1].notes.back(), "Diverged, and count as the worst of their problem: 1 run.");
}

TEST(ComparisonTables, DataSeedsAreToldOf) {
  StudyResults results = study_of("wave");
  EXPECT_TRUE(paired_tables(compare(results, {.num_draws = 20}))[0].notes.empty());
  results.runs.push_back(results.runs[0]);
  results.runs.back().data_seed = 1;
  EXPECT_EQ(paired_tables(compare(results, {.num_draws = 20}))[0].notes[0],
            "Each seed counts once: the mean over its data seeds.");
}

TEST(ComparisonTables, OneSeedHasNoInterval) {
  StudyResults results = study_of("wave");
  std::erase_if(results.runs, [](const StudyRun& run) { return run.seed > 0; });
  const std::vector<TextTable> overall = overall_tables(compare(results));
  EXPECT_EQ(overall[0].rows[0][2].text, "0.667");
  EXPECT_EQ(overall[1].rows[0][6].text, "1.000");
}

TEST(ComparisonTables, RecordsOfSeveralStudies) {
  StudyResults second = study_of("wave");
  second.study = "second, \"odd\"";
  const std::vector<StudyResults> studies = {study_of("humanoid"), second};
  const std::vector<Comparison> comparisons = compare_studies(studies, {.num_draws = 20});
  const std::vector<JudgedClaim> claims = judge_claims(studies);
  for (const std::string& name : record_names()) {
    const Table table = parse_csv(format_csv(record_table(comparisons, claims, name)), name);
    ASSERT_EQ(table.columns[0].name, "study");
    const bool judged = name == "verdicts" || name == "findings";
    EXPECT_EQ(table.columns[0].text.front(), judged ? "made, second, \"odd\"" : "made") << name;
    EXPECT_EQ(table.columns[0].text.back(), judged ? "made, second, \"odd\"" : "second, \"odd\"") << name;
  }
  const Table areas = parse_csv(format_csv(record_table(comparisons, claims, "areas")), "areas");
  EXPECT_EQ(areas.num_rows, 4U);
  EXPECT_EQ(areas.column("problem").text[3], "wave");
}

TEST(ComparisonTables, PairedTestsScoresAndPower) {
  const Comparison comparison = compare(study_of("humanoid"), {.num_draws = 20});
  const std::vector<TextTable> paired = paired_tables(comparison);
  ASSERT_EQ(paired.size(), 3U);
  EXPECT_EQ(paired[0].rows[0][2].text, "2.05 ± 0.037");
  const std::vector<TextCell>& test = paired[1].rows[0];
  EXPECT_EQ(test[0].text, "kl");
  EXPECT_EQ(test[1].text, "random");
  EXPECT_EQ(test[2].text, "6");
  EXPECT_EQ(test[3].text, "-0.9");
  EXPECT_EQ(test[5].text, "0.031");
  EXPECT_EQ(test[9].text, "better");
  const std::vector<TextTable> overall = overall_tables(comparison);
  ASSERT_EQ(overall.size(), 3U);
  EXPECT_EQ(overall[1].rows[0][3].text, "1");  // a win
  EXPECT_TRUE(overall[2].columns.empty());
  EXPECT_NE(overall[2].notes[0].find("6 seeds can clear Holm over 1 test"), std::string::npos);
}

TEST(ComparisonTables, WhatWasNotTestedIsLeftEmpty) {
  StudyResults results = study_of("humanoid");
  results.runs.push_back(made_run("humanoid", "flow", "badge", 77, std::vector<double>(11, 3)));
  const Comparison comparison = compare(results, {.num_draws = 20});
  const std::vector<TextCell> test = paired_tables(comparison)[1].rows[1];
  EXPECT_EQ(test[1].text, "badge");
  for (std::size_t k = 3; k < test.size(); ++k) {
    EXPECT_EQ(test[k].text, "-") << k;
  }
  const Table paired = parse_csv(format_csv(named(record_tables(comparison, {}), "paired")), "paired.csv");
  EXPECT_TRUE(paired.column("sign_flip_p").is_missing(1));
  EXPECT_EQ(paired.column("outcome").text[1], "");
}

TEST(ComparisonTables, VerdictsWithWhatTheyRestOn) {
  const std::vector<StudyResults> studies = {study_of("humanoid")};
  const std::vector<JudgedClaim> claims = judge_claims(studies);
  const std::vector<TextTable> tables = claim_tables(claims);
  ASSERT_EQ(tables.size(), 2U);
  EXPECT_EQ(tables[0].rows.size(), claims.size());
  EXPECT_EQ(tables[0].rows[1][1].text, "not enough data, short runs");
  EXPECT_NE(tables[0].notes.back().find("humanoid (10 of 100 rounds)"), std::string::npos);
  const RecordTable verdicts = named(record_tables({}, claims), "verdicts");
  EXPECT_EQ(verdicts.columns.back(), "note");
  EXPECT_EQ(std::get<std::string>(verdicts.rows[1].back()), "10 of 100 rounds");
  EXPECT_EQ(tables[1].rows.size(), 8U + 10U);
}

// Every digit comes back.
TEST(ComparisonTables, RecordsAsCsv) {
  StudyResults results = study_of("a,b \"c\"\nd");
  const std::vector<StudyResults> studies = {results};
  const Comparison comparison = compare(results, {.num_draws = 20});
  const std::vector<RecordTable> tables = record_tables(comparison, judge_claims(studies));
  ASSERT_EQ(tables.size(), record_names().size());
  for (std::size_t k = 0; k < tables.size(); ++k) {
    EXPECT_EQ(tables[k].name, record_names()[k]);
    for (const std::vector<Value>& row : tables[k].rows) {
      EXPECT_EQ(row.size(), tables[k].columns.size()) << tables[k].name;
    }
    EXPECT_NO_THROW(parse_csv(format_csv(tables[k]), tables[k].name));
  }
  const Table curves = parse_csv(format_csv(named(tables, "curves")), "curves");
  EXPECT_EQ(curves.num_rows, 2U * 11);
  EXPECT_EQ(curves.column("problem").text[0], "a,b \"c\"\nd");
  EXPECT_EQ(curves.column("mean").values[10], comparison.tasks[0].methods[0].points[10].summary.mean);
  EXPECT_TRUE(curves.column("paper_mean").is_missing(10));
  EXPECT_EQ(named(tables, "paired").rows.size(), 2U);
  EXPECT_EQ(named(tables, "contrasts").rows.size(), 11U);
}

}  // namespace
}  // namespace dissent
