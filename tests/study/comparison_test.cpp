#include "dissent/study/comparison.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "dissent/base/error.hpp"
#include "dissent/statistics/significance.hpp"
#include "study/made_results.hpp"

namespace dissent {
namespace {

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

const PairedContrast& find_pair(const std::vector<PairedContrast>& contrasts, const std::string& baseline) {
  return *std::ranges::find(contrasts, baseline, &PairedContrast::baseline);
}

// Whether each method of a task is ours, in their order.
std::vector<bool> ours_of(const TaskComparison& task) {
  std::vector<bool> ours;
  std::ranges::transform(task.methods, std::back_inserter(ours), &MethodCurve::ours);
  return ours;
}

TEST(Comparison, OursArePairwiseAndAimOrElseAllThatChoose) {
  StudyResults results{.study = "made", .source = "test"};
  const auto add = [&](const char* problem, std::initializer_list<const char*> methods) {
    for (const char* method : methods) {
      results.runs.push_back(made_run(problem, "pne", method, 0, {3, 2}));
    }
  };
  add("hetero", {"random", "mc:100", "badge", "coreset"});
  EXPECT_EQ(ours_of(compare(results).tasks[0]), (std::vector<bool>{false, true, true, true}));
  add("bimodal", {"random", "mc:100", "aim", "kl-joint", "chernoff:0.3", "kl-aim", "variance", "batchbald:5"});
  const Comparison comparison = compare(results);
  EXPECT_EQ(ours_of(comparison.tasks[0]), std::vector<bool>(4));  // one role in all of a study
  EXPECT_EQ(ours_of(comparison.tasks[1]), (std::vector<bool>{false, false, true, true, true, true, false, false}));
}

TEST(Comparison, CurvesOverSeeds) {
  const Comparison comparison = compare(small_study());
  ASSERT_EQ(comparison.tasks.size(), 1U);
  const TaskComparison& task = comparison.tasks[0];
  EXPECT_EQ(task.last, 2U);
  ASSERT_EQ(task.methods.size(), 3U);
  const MethodCurve& kl = *task.find("kl");
  EXPECT_TRUE(kl.ours);
  EXPECT_FALSE(task.find("mc:100")->ours);
  EXPECT_EQ(task.find("mc:100")->acquisition, "mc");
  ASSERT_EQ(kl.points.size(), 3U);
  const RunSummary& end = kl.at(2)->summary;  // 1, 1.5, 2, 1, 1.25
  EXPECT_EQ(end.count, 5U);
  EXPECT_DOUBLE_EQ(end.mean, 1.35);
  EXPECT_DOUBLE_EQ(end.stddev, std::sqrt(0.7 / 4));
  EXPECT_DOUBLE_EQ(end.median, 1.25);
  EXPECT_DOUBLE_EQ(end.trimmed_mean, 1.35);
  EXPECT_DOUBLE_EQ(end.interquartile_mean, 1.25);
  EXPECT_DOUBLE_EQ(kl.at(1)->labelled, 110);
  EXPECT_EQ(kl.at(3), nullptr);
  ASSERT_EQ(kl.areas.size(), 5U);
  EXPECT_DOUBLE_EQ(kl.areas[0].value, 3);  // of trapezoids 4 and 2
  EXPECT_DOUBLE_EQ(kl.areas[3].value, 3.75);
}

// from scipy.stats import ttest_ind
// kl = [1, 1.5, 2, 1, 1.25]
// ttest_ind(kl, [3, 2.5, 3, 3, 2.75], equal_var=False).pvalue; ttest_ind(kl, [4, 4.5, 4, 4, 4], equal_var=False).pvalue
TEST(Comparison, WelchWithHolmWithinTheRound) {
  const Comparison comparison = compare(small_study());
  const ContrastFamily& family = *comparison.tasks[0].family(2);
  ASSERT_EQ(family.contrasts.size(), 2U);
  const Contrast& random = family.contrasts[0];
  const Contrast& mc = family.contrasts[1];
  EXPECT_EQ(random.baseline, "random");
  EXPECT_NEAR(random.p_value, 1.1233234024158463e-05, 1e-12);
  EXPECT_NEAR(mc.p_value, 0.0003689084229973551, 1e-12);
  EXPECT_DOUBLE_EQ(random.adjusted, 2 * random.p_value);  // the smallest of two
  EXPECT_DOUBLE_EQ(mc.adjusted, mc.p_value);
  EXPECT_EQ(mc.outcome, Outcome::kBetter);
  EXPECT_DOUBLE_EQ(mc.difference, 1.35 - 2.85);
  EXPECT_DOUBLE_EQ(mc.effect, 1.5 / std::sqrt((0.7 / 4 + 0.2 / 4) / 2));
  EXPECT_DOUBLE_EQ(*family.better_than_all("kl"), std::max(random.adjusted, mc.adjusted));
  EXPECT_FALSE(family.better_than_all("bhattacharyya"));
  EXPECT_EQ(comparison.tasks[0].family(0)->contrasts[0].p_value, 1);  // they begin with the same rows
}

TEST(Comparison, ALogLikelihoodIsBetterWhenItIsMore) {
  const Comparison comparison = compare(small_study(), {.metric = "log_likelihood"});
  const Contrast& mc = comparison.tasks[0].family(2)->contrasts[1];
  EXPECT_DOUBLE_EQ(mc.difference, 1.5);
  EXPECT_EQ(mc.outcome, Outcome::kBetter);
  EXPECT_GT(mc.effect, 0);
}

// Problems with more outputs have larger log-likelihoods; scores do not follow.
TEST(Comparison, ScoresOfLogLikelihoodsHaveNoUnit) {
  StudyResults results;
  for (const char* problem : {"hetero", "humanoid"}) {
    add_runs(results, problem, "pne", "kl", 6, 1);
    add_runs(results, problem, "pne", "mc", 6, 2);
    add_runs(results, problem, "pne", "random", 6, 3);
  }
  const Comparison before = compare(results, {.metric = "log_likelihood", .num_draws = 50});
  for (StudyRun& run : results.runs) {
    for (RoundRecord& record : run.rounds) {
      record.log_likelihood *= run.problem == "humanoid" ? 250 : 1;
    }
  }
  const Comparison after = compare(results, {.metric = "log_likelihood", .num_draws = 50});
  const std::vector<OverallMethod>& methods = after.models[0].methods;
  ASSERT_EQ(methods.size(), 3U);
  EXPECT_EQ(methods[0].score.estimate, 0);    // kl: no method is better
  EXPECT_EQ(methods[1].score.estimate, 0.5);  // mc: one of the other two
  EXPECT_EQ(methods[2].score.estimate, 1);
  for (std::size_t k = 0; k < methods.size(); ++k) {
    EXPECT_EQ(methods[k].score.estimate, before.models[0].methods[k].score.estimate);
    EXPECT_EQ(methods[k].profile, before.models[0].methods[k].profile);
  }
}

TEST(Comparison, TiesOfLogLikelihoodsCountHalf) {
  StudyResults results = small_study();
  for (std::uint64_t seed = 0; seed < 5; ++seed) {  // another like kl
    results.runs.push_back(results.runs[3 * seed + 1]);
    results.runs.back().method = results.runs.back().acquisition = "twin";
  }
  const Comparison comparison = compare(results, {.metric = "log_likelihood", .num_draws = 50});
  for (const OverallMethod& method : comparison.models[0].methods) {
    if (method.method == "kl" || method.method == "twin") {
      EXPECT_DOUBLE_EQ(method.score.estimate, 0.5 / 3) << method.method;
    }
  }
}

TEST(Comparison, OneSeedHasNoInterval) {
  StudyResults results = small_study();
  std::erase_if(results.runs, [](const StudyRun& run) { return run.seed > 0; });
  const Comparison comparison = compare(results);
  const OverallMethod& kl = comparison.models[0].methods[1];
  EXPECT_DOUBLE_EQ(kl.score.estimate, 3 / 4.75);
  EXPECT_TRUE(std::isnan(kl.score.low));
  EXPECT_TRUE(std::isnan(kl.score.high));
  EXPECT_TRUE(std::isnan(comparison.models[0].contrasts[0].improvement.low));
}

// All five differences have one sign: 2 of 32 choices.
TEST(Comparison, PairsBySeed) {
  const Comparison comparison = compare(small_study());
  const PairedContrast& mc = find_pair(comparison.tasks[0].by_area, "mc:100");
  EXPECT_EQ(mc.num_pairs, 5U);
  EXPECT_DOUBLE_EQ(mc.sign_flip_p, 2.0 / 32);
  EXPECT_DOUBLE_EQ(mc.sign_flip_adjusted, 4.0 / 32);
  EXPECT_DOUBLE_EQ(mc.sign_flip_overall, 4.0 / 32);  // there is one task
  EXPECT_DOUBLE_EQ(mc.wilcoxon_p, 2.0 / 32);
  EXPECT_EQ(mc.outcome, Outcome::kTie);
  EXPECT_GT(mc.effect, 0);
  const PairedContrast& end = find_pair(comparison.tasks[0].at_end, "random");
  EXPECT_DOUBLE_EQ(end.difference, 1.35 - 4.1);
}

TEST(Comparison, HolmOverAllProblems) {
  StudyResults results;
  for (const char* problem : {"hetero", "bimodal", "pendulum"}) {
    add_runs(results, problem, "flow", "kl", 10, 1);
    add_runs(results, problem, "flow", "random", 10, 2);
    add_runs(results, problem, "flow", "mc", 10, 2);
  }
  const Comparison comparison = compare(results, {.num_draws = 20});
  const PairedContrast& contrast = comparison.tasks[1].by_area[0];
  EXPECT_DOUBLE_EQ(contrast.sign_flip_p, 2.0 / 1024);
  EXPECT_DOUBLE_EQ(contrast.sign_flip_adjusted, 4.0 / 1024);
  EXPECT_DOUBLE_EQ(contrast.sign_flip_overall, 12.0 / 1024);  // the six are equal
  EXPECT_EQ(contrast.outcome, Outcome::kBetter);
  const ModelComparison& model = comparison.models[0];
  ASSERT_EQ(model.contrasts.size(), 2U);
  EXPECT_EQ(model.contrasts[0].num_problems, 3U);
  EXPECT_EQ(model.contrasts[0].wins, 3U);
  EXPECT_EQ(model.contrasts[0].ties + model.contrasts[0].losses, 0U);
  EXPECT_DOUBLE_EQ(model.contrasts[0].improvement.estimate, 1);
  EXPECT_DOUBLE_EQ(model.contrasts[0].improvement.low, 1);
}

TEST(Comparison, ScoresAreAgainstRandomOfTheSameSeed) {
  const Comparison comparison = compare(small_study(), {.num_draws = 200});
  const ModelComparison& model = comparison.models[0];
  EXPECT_EQ(model.problems, std::vector<std::string>{"hetero"});
  ASSERT_EQ(model.methods.size(), 3U);
  EXPECT_EQ(model.methods[0].method, "random");
  EXPECT_DOUBLE_EQ(model.methods[0].score.estimate, 1);
  EXPECT_DOUBLE_EQ(model.methods[0].score.high, 1);
  // kl: areas 3, 3.375, 3.25, 3.75, 3.0625 over random's 4.75, 4.875, 4.25, 5.5, 4.75; the middle three of the ratios.
  const double middle = (3.0625 / 4.75 + 3.75 / 5.5 + 3.375 / 4.875) / 3;
  EXPECT_DOUBLE_EQ(model.methods[1].score.estimate, middle);
  EXPECT_LT(model.methods[1].score.low, middle);
  EXPECT_GT(model.methods[1].score.high, middle);
  ASSERT_EQ(model.methods[1].profile.size(), model.thresholds.size());
  EXPECT_DOUBLE_EQ(model.thresholds.back(), 1);
  EXPECT_DOUBLE_EQ(model.methods[1].profile.back(), 1);
  EXPECT_DOUBLE_EQ(model.methods[0].profile.front(), 0);
}

TEST(Comparison, RunsThatAreNotDoneAreNotPaired) {
  StudyResults results = small_study();
  results.runs[1].rounds.pop_back();  // kl, seed 0
  const Comparison comparison = compare(results);
  const TaskComparison& task = comparison.tasks[0];
  EXPECT_EQ(task.last, 2U);
  EXPECT_EQ(task.find("kl")->at(1)->summary.count, 5U);
  EXPECT_EQ(task.find("kl")->at(2)->summary.count, 4U);
  EXPECT_EQ(task.by_area[0].num_pairs, 4U);
  EXPECT_EQ(compare(results, {.until = 1}).tasks[0].by_area[0].num_pairs, 5U);
  EXPECT_EQ(compare(results, {.until = 1}).tasks[0].last, 1U);
}

// The worst RMSE of the task is 6, before the first round.
TEST(Comparison, WhatDivergedCountsAsTheWorst) {
  StudyResults results = small_study();
  results.runs[1].rounds[1].rmse = kNan;  // kl, seed 0: 5, -, 1
  const Comparison comparison = compare(results);
  const TaskComparison& task = comparison.tasks[0];
  const MethodCurve& kl = *task.find("kl");
  EXPECT_EQ(kl.at(1)->summary.count, 5U);
  EXPECT_EQ(kl.at(1)->summary.num_diverged, 1U);
  EXPECT_DOUBLE_EQ(kl.at(1)->summary.mean, (6 + 3.5 + 3 + 4 + 3) / 5);
  EXPECT_DOUBLE_EQ(kl.areas[0].value, 4.5);
  EXPECT_TRUE(kl.areas[0].diverged);
  EXPECT_FALSE(kl.ends[0].diverged);
  EXPECT_EQ(kl.area.num_diverged, 1U);
  EXPECT_EQ(kl.end.num_diverged, 0U);
  EXPECT_EQ(task.by_area[0].num_pairs, 5U);
  EXPECT_EQ(task.by_area[0].diverged_ours, 1U);
  EXPECT_EQ(task.by_area[0].diverged_baseline, 0U);
  EXPECT_EQ(task.at_end[0].diverged_ours, 0U);
  EXPECT_EQ(task.family(1)->contrasts[0].diverged_ours, 1U);
  EXPECT_EQ(task.family(2)->contrasts[0].diverged_ours, 0U);
  EXPECT_EQ(comparison.models[0].num_diverged, 1U);
}

// Whatever run of ours diverges, and wherever: no number of ours gets better for it.
TEST(Comparison, DivergingNeverHelps) {
  for (const char* metric : {"rmse", "log_likelihood"}) {
    const StudyResults whole = small_study();
    const Comparison before = compare(whole, {.metric = metric, .num_draws = 1});
    const double sign = before.metric->less_is_better ? 1 : -1;
    for (std::size_t k = 1; k < whole.runs.size(); k += 3) {  // those of kl
      for (std::size_t round = 0; round < 3; ++round) {
        StudyResults results = whole;
        results.runs[k].rounds[round].*before.metric->member = round == 1 ? -INFINITY : kNan;
        const TaskComparison& a = before.tasks[0];
        const Comparison after = compare(results, {.metric = metric, .num_draws = 1});
        const TaskComparison& b = after.tasks[0];
        EXPECT_GE(sign * b.find("kl")->area.mean, sign * a.find("kl")->area.mean);
        EXPECT_GE(sign * b.find("kl")->end.mean, sign * a.find("kl")->end.mean);
        for (std::size_t pair = 0; pair < a.by_area.size(); ++pair) {
          EXPECT_EQ(b.by_area[pair].num_pairs, 5U);
          EXPECT_GE(sign * b.by_area[pair].difference, sign * a.by_area[pair].difference);
        }
        EXPECT_GE(after.models[0].methods[1].score.estimate, before.models[0].methods[1].score.estimate);
      }
    }
  }
}

TEST(Comparison, AMetricThatNobodyHasIsNotKnown) {
  StudyResults results = small_study();
  for (StudyRun& run : results.runs) {
    for (RoundRecord& record : run.rounds) {
      record.rmse_paper = kNan;
    }
  }
  const Comparison comparison = compare(results, {.metric = "rmse_paper"});
  const MethodCurve& kl = *comparison.tasks[0].find("kl");
  EXPECT_EQ(kl.area.count, 0U);
  EXPECT_EQ(kl.area.num_diverged, 0U);
  EXPECT_EQ(comparison.tasks[0].by_area[0].num_pairs, 0U);
}

// Two pools for each seed are not twice the seeds.
TEST(Comparison, DataSeedsAreAveragedWithinASeed) {
  StudyResults results = small_study();
  const std::size_t num_runs = results.runs.size();
  for (std::size_t k = 0; k < num_runs; ++k) {
    StudyRun other = results.runs[k];
    other.data_seed = 1;
    for (RoundRecord& record : other.rounds) {
      record.rmse *= other.method == "kl" ? 3 : 1;
    }
    results.runs.push_back(other);
  }
  const TaskComparison task = compare(results).tasks[0];
  const MethodCurve& kl = *task.find("kl");
  EXPECT_EQ(kl.num_seeds, 5U);
  EXPECT_EQ(kl.at(2)->summary.count, 5U);
  EXPECT_DOUBLE_EQ(kl.at(2)->summary.mean, 2 * 1.35);
  const PairedContrast& mc = find_pair(task.by_area, "mc:100");
  EXPECT_EQ(mc.num_pairs, 5U);
  EXPECT_DOUBLE_EQ(mc.difference, 2 * kl.area.mean / 2 - task.find("mc:100")->area.mean);
  EXPECT_GE(mc.sign_flip_p, 2.0 / 32);  // no less than five seeds can give
  EXPECT_EQ(compare(results).models[0].methods[1].num_runs, 5U);
  EXPECT_EQ(compare(results).models[0].power[0].num_pairs, 5U);
}

// A pool that one of them has not got to does not count for the other.
TEST(Comparison, PairsShareTheirDataSeeds) {
  StudyResults results = small_study();
  StudyRun other = results.runs[1];  // kl, seed 0
  other.data_seed = 1;
  other.rounds[2].rmse = 1000;
  results.runs.push_back(other);
  const TaskComparison task = compare(results).tasks[0];
  EXPECT_DOUBLE_EQ(find_pair(task.at_end, "random").difference, 1.35 - 4.1);
}

TEST(Comparison, CampaignsThatFailedAreCounted) {
  StudyResults results = small_study();
  results.runs[1].rounds.pop_back();  // kl, seeds 0 and 1
  results.runs[4].rounds.clear();
  results.runs[4].state = CellState::kFailed;
  const TaskComparison task = compare(results).tasks[0];
  EXPECT_EQ(task.find("kl")->num_unfinished, 2U);
  EXPECT_EQ(task.find("kl")->num_failed, 1U);
  EXPECT_EQ(task.find("mc:100")->num_unfinished, 0U);
}

TEST(Comparison, VariantsAreComparedAmongThemselves) {
  StudyResults results;
  for (const char* candidates : {"1000", "10000"}) {
    add_runs(results, "hopper", "flow", "kl", 3, 1, {{"candidates", candidates}});
    add_runs(results, "hopper", "flow", "random", 3, 2, {{"candidates", candidates}});
  }
  const Comparison comparison = compare(results, {.num_draws = 20});
  const TaskComparison& task = comparison.tasks[0];
  ASSERT_EQ(task.by_area.size(), 2U);
  EXPECT_EQ(task.by_area[0].ours, "kl, candidates=1000");
  EXPECT_EQ(task.by_area[0].baseline, "random, candidates=1000");
  EXPECT_EQ(task.methods[0].variant, "candidates=1000");
  const Comparison named =
      compare(results, {.ours = {"kl, candidates=10000"}, .baselines = {"kl, candidates=1000"}, .num_draws = 20});
  ASSERT_EQ(named.tasks[0].by_area.size(), 1U);
  EXPECT_EQ(named.tasks[0].by_area[0].ours, "kl, candidates=10000");
}

TEST(Comparison, NothingYet) {
  EXPECT_TRUE(compare({}).tasks.empty());
  StudyResults results;
  results.runs.push_back(made_run("hetero", "pne", "kl", 0, {}));
  results.runs.push_back(made_run("hetero", "pne", "random", 0, {}));
  const Comparison comparison = compare(results);
  EXPECT_TRUE(comparison.tasks[0].families.empty());
  EXPECT_EQ(comparison.tasks[0].find("kl")->area.count, 0U);
  EXPECT_TRUE(comparison.models[0].methods.empty());
}

TEST(Comparison, TenSeedsCannotClearSixtyTests) {
  const Power many = power_of("all", 10, 60);
  EXPECT_FALSE(many.reachable);
  EXPECT_DOUBLE_EQ(many.least_p, 2.0 / 1024);
  EXPECT_DOUBLE_EQ(many.needed_p, 0.05 / 60);
  EXPECT_EQ(many.pairs_needed, 12U);
  EXPECT_NE(many.sentence.find("10 seeds cannot clear Holm over 60 tests"), std::string::npos) << many.sentence;
  const Power few = power_of("one", 10, 10);
  EXPECT_TRUE(few.reachable);
  EXPECT_NEAR(paired_power(few.effect, 10, 0.005), 0.8, 1e-8);
  EXPECT_TRUE(std::isnan(power_of("one", 1, 10).effect));
}

TEST(Comparison, PowerTellsOfFewerSeeds) {
  StudyResults results;
  add_runs(results, "hetero", "flow", "kl", 6, 1);
  add_runs(results, "hetero", "flow", "random", 6, 2);
  add_runs(results, "ant", "flow", "kl", 2, 1);
  add_runs(results, "ant", "flow", "random", 2, 2);
  const Comparison comparison = compare(results, {.num_draws = 20});
  const std::vector<Power>& power = comparison.models[0].power;
  ASSERT_EQ(power.size(), 3U);
  EXPECT_EQ(power[0].scope, "one problem alone, with 2 seeds");
  EXPECT_FALSE(power[0].reachable);
  EXPECT_EQ(power[1].scope, "one problem alone, with 6 seeds");
  EXPECT_TRUE(power[1].reachable);
  EXPECT_EQ(power[2].scope, "all 2 problems together, with 2 to 6 seeds");
}

TEST(Comparison, WhatSoFewSeedsCannotTellIsOpen) {
  PairedContrast contrast{.ours = "kl", .baseline = "mc", .num_pairs = 5};
  EXPECT_EQ(contrast.outcome_text(), "tie");
  contrast.reachable = false;
  EXPECT_EQ(contrast.outcome_text(), "open");
  contrast.outcome = Outcome::kWorse;
  EXPECT_EQ(contrast.outcome_text(), "worse");
  StudyResults results;
  add_runs(results, "hetero", "flow", "kl", 4, 1);
  add_runs(results, "hetero", "flow", "random", 4, 2);
  EXPECT_EQ(compare(results, {.num_draws = 20}).tasks[0].by_area[0].outcome_text(), "open");
}

TEST(Comparison, ABaselineThatWasNotTestedAllowsNoMark) {
  StudyResults results;
  add_runs(results, "hetero", "flow", "kl", 6, 1);
  add_runs(results, "hetero", "flow", "random", 6, 2);
  EXPECT_TRUE(compare(results, {.num_draws = 20}).tasks[0].family(2)->better_than_all("kl"));
  add_runs(results, "hetero", "flow", "badge", 1, 3);
  const Comparison comparison = compare(results, {.num_draws = 20});
  const ContrastFamily& family = *comparison.tasks[0].family(2);
  ASSERT_EQ(family.contrasts.size(), 1U);
  EXPECT_EQ(family.contrasts[0].outcome, Outcome::kBetter);
  EXPECT_FALSE(family.better_than_all("kl"));
}

// badge has begun with another seed: nothing can be paired.
TEST(Comparison, WithoutAPairThereIsNoTest) {
  StudyResults results;
  add_runs(results, "hetero", "flow", "kl", 6, 1);
  add_runs(results, "hetero", "flow", "random", 6, 2);
  results.runs.push_back(made_run("hetero", "flow", "badge", 77, {2, 2, 2}));
  const Comparison comparison = compare(results, {.num_draws = 20});
  const std::vector<PairedContrast>& contrasts = comparison.tasks[0].by_area;
  ASSERT_EQ(contrasts.size(), 2U);
  EXPECT_EQ(contrasts[0].sign_flip_adjusted, contrasts[0].sign_flip_p);  // one test alone
  EXPECT_EQ(contrasts[0].sign_flip_overall, contrasts[0].sign_flip_p);
  EXPECT_EQ(contrasts[1].num_pairs, 0U);
  EXPECT_TRUE(std::isnan(contrasts[1].sign_flip_p));
  EXPECT_TRUE(std::isnan(contrasts[1].wilcoxon_overall));
  EXPECT_EQ(contrasts[1].outcome_text(), "");
  const ModelComparison& model = comparison.models[0];
  EXPECT_EQ(model.contrasts[1].num_problems, 0U);
  EXPECT_EQ(model.contrasts[1].ties, 0U);
  EXPECT_EQ(model.power[0].num_tests, 1U);
  EXPECT_EQ(model.power[0].scope, "one problem alone");
}

TEST(Comparison, Marks) {
  EXPECT_EQ(significance_mark(0.05), "");
  EXPECT_EQ(significance_mark(0.04), "*");
  EXPECT_EQ(significance_mark(0.009), "**");
  EXPECT_EQ(significance_mark(0.0009), "***");
}

}  // namespace
}  // namespace dissent
