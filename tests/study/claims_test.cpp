#include "dissent/study/claims.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "study/made_results.hpp"

namespace dissent {
namespace {

constexpr const char* kBaselines[] = {"random", "batchbald", "badge", "bait", "mc:5000"};

JudgedClaim judged(const std::vector<StudyResults>& studies, const std::string& name) {
  const std::vector<JudgedClaim> claims = judge_claims(studies);
  const auto found = std::ranges::find(claims, name, &JudgedClaim::name);
  EXPECT_NE(found, claims.end()) << name;
  return *found;
}

StudyResults humanoid(std::size_t num_seeds, double ours, double mc) {
  StudyResults results;
  for (const char* method : {"kl", "bhattacharyya"}) {
    add_runs(results, "humanoid", "flow", method, num_seeds, ours);
  }
  for (const std::string method : kBaselines) {
    add_runs(results, "humanoid", "flow", method, num_seeds, method.starts_with("mc") ? mc : 7);
  }
  return results;
}

StudyResults low_dimension(std::size_t num_seeds, double kl, double mc) {
  StudyResults results;
  for (const char* problem : {"hetero", "bimodal", "pendulum", "hopper"}) {
    add_runs(results, problem, "pne", "kl", num_seeds, kl);
    add_runs(results, problem, "pne", "bhattacharyya", num_seeds, mc);
    add_runs(results, problem, "pne", "mc:5000", num_seeds, mc);
  }
  return results;
}

// One value for each of the seeds, alternating a little about `value`.
void measure(StudyResults& results, Measurement measurement, double value, std::size_t num_seeds) {
  for (std::uint64_t seed = 0; seed < num_seeds; ++seed) {
    measurement.seed = seed;
    measurement.value = value * (seed % 2 == 0 ? 1.01 : 0.99);
    results.measurements.push_back(measurement);
  }
}

TEST(Claims, WithoutResultsAllAreOpen) {
  std::set<std::string> names;
  for (const JudgedClaim& claim : judge_claims({})) {
    EXPECT_EQ(claim.verdict, Verdict::kOpen) << claim.name;
    EXPECT_TRUE(claim.findings.empty());
    EXPECT_FALSE(claim.rule.empty() || claim.test.empty() || claim.claim.empty());
    EXPECT_TRUE(names.insert(claim.name).second) << claim.name;
  }
  EXPECT_EQ(names.size(), 12U);
  EXPECT_EQ(verdict_name(Verdict::kFails), "does not hold");
}

TEST(Claims, Humanoid) {
  const JudgedClaim holds = judged({humanoid(5, 3, 8)}, "humanoid");
  EXPECT_EQ(holds.verdict, Verdict::kHolds);
  EXPECT_EQ(holds.findings.size(), 10U);
  EXPECT_EQ(holds.num_seeds, 5U);
  const JudgedClaim fails = judged({humanoid(5, 3, 2)}, "humanoid");
  EXPECT_EQ(fails.verdict, Verdict::kFails);
  EXPECT_EQ(std::ranges::count(fails.findings, Verdict::kFails, &Finding::verdict), 2);
  // Four seeds decide nothing, whatever the tests say.
  EXPECT_EQ(judged({humanoid(4, 3, 8)}, "humanoid").verdict, Verdict::kOpen);
  EXPECT_EQ(judged({humanoid(4, 3, 2)}, "humanoid").verdict, Verdict::kOpen);
}

// The models of so many runs diverge in the last round.
void diverge(StudyResults& results, const std::string& acquisition, std::size_t num_runs) {
  for (StudyRun& run : results.runs) {
    if (run.acquisition == acquisition && run.seed < num_runs) {
      run.rounds.back().rmse = std::nan("");
      run.rounds.back().log_likelihood = -INFINITY;
    }
  }
}

TEST(Claims, WhatDivergedDoesNotHold) {
  StudyResults humanoids = humanoid(10, 3, 8);
  diverge(humanoids, "kl", 1);  // nine runs of ten are far better than all others
  const JudgedClaim wins = judged({humanoids}, "humanoid");
  EXPECT_EQ(wins.verdict, Verdict::kOpen);
  EXPECT_EQ(wins.num_diverged(), 5U);  // kl against each
  EXPECT_TRUE(wins.findings[0].says.ends_with("; diverged: 1 run of ours, 0 of theirs")) << wins.findings[0].says;
  StudyResults matches = low_dimension(10, 1, 1);
  diverge(matches, "kl", 10);
  EXPECT_NE(judged({matches}, "low-dimension").verdict, Verdict::kHolds);
  EXPECT_NE(diverged_note(judge_claims(std::vector{matches})).find("rest on some: low-dimension."), std::string::npos);
  EXPECT_EQ(diverged_note(judge_claims(std::vector{low_dimension(10, 1, 1)})), "");
}

TEST(Claims, ABaselineThatDivergedIsToldOf) {
  StudyResults results = humanoid(5, 3, 8);
  diverge(results, "mc:5000", 2);
  const JudgedClaim claim = judged({results}, "humanoid");
  EXPECT_EQ(claim.num_diverged(), 2U);
  EXPECT_EQ(claim.verdict, Verdict::kHolds);
}

TEST(Claims, FlowsThatDivergedDoNotHold) {
  StudyResults results;
  add_runs(results, "bimodal", "flow", "kl", 6, 1);
  add_runs(results, "bimodal", "pne", "kl", 6, 2);
  EXPECT_EQ(judged({results}, "flows").verdict, Verdict::kHolds);
  for (StudyRun& run : results.runs) {
    if (run.model == "flow" && run.seed == 3) {
      run.rounds.back().log_likelihood = -INFINITY;  // the worst flow is still better than any network
    }
  }
  EXPECT_EQ(judged({results}, "flows").verdict, Verdict::kOpen);
}

TEST(Claims, AMeasurementThatIsNotFiniteDecidesNothing) {
  StudyResults results;
  measure(results, {.kind = "spearman", .problem = "hetero", .model = "flow", .estimator = "kl"}, 0.98, 6);
  EXPECT_EQ(judged({results}, "ranking").verdict, Verdict::kHolds);
  results.measurements.back().value = std::nan("");
  const JudgedClaim claim = judged({results}, "ranking");
  EXPECT_EQ(claim.verdict, Verdict::kOpen);
  EXPECT_TRUE(claim.findings[0].says.ends_with("; 1 value not finite")) << claim.findings[0].says;
}

TEST(Claims, ShortRunsAreToldOf) {
  StudyResults results = low_dimension(5, 1, 1);
  EXPECT_EQ(judged({results}, "low-dimension").note, "2 of 100 rounds");
  for (StudyRun& run : results.runs) {
    run.epochs = run.problem == "hetero" ? 200 : 6000;
  }
  EXPECT_EQ(judged({results}, "low-dimension").note, "2 of 100 rounds, 200 of 6000 epochs; 2 of 100 rounds");
  EXPECT_EQ(judged({results}, "joint").note, "");
  for (StudyRun& run : results.runs) {
    run.epochs = 6000;
    run.rounds = made_run(run.problem, run.model, run.acquisition, run.seed, std::vector<double>(101, 1.0)).rounds;
  }
  EXPECT_EQ(judged({results}, "low-dimension").note, "");
}

TEST(Claims, QuickMeasurementsAreToldOf) {
  StudyResults results;
  Measurement ranks{.kind = "spearman", .problem = "hetero", .model = "flow", .estimator = "kl", .samples = 5000};
  measure(results, ranks, 0.98, 5);
  measure(results, {.kind = "bias", .problem = "hetero", .model = "flow", .estimator = "kl", .components = 5}, 0.01, 5);
  EXPECT_EQ(judged({results}, "ranking").note, "");
  ranks.problem = "bimodal";
  ranks.samples = 1000;
  measure(results, ranks, 0.98, 5);
  const std::string note = "quick measurements, 1000 of 5000 samples";
  EXPECT_EQ(judged({results}, "ranking").note, note);
  EXPECT_EQ(judged({results}, "bias").note, note);
  const std::vector<StudyResults> studies = {results};
  EXPECT_NE(short_note(judge_claims(studies)).find("ranking (" + note + "); bias ("), std::string::npos);
}

TEST(Claims, HumanoidWithoutADifference) {
  EXPECT_EQ(judged({humanoid(5, 3, 3)}, "humanoid").verdict, Verdict::kOpen);
  EXPECT_EQ(judged({humanoid(10, 3, 3)}, "humanoid").verdict, Verdict::kFails);
}

TEST(Claims, HumanoidWithoutABaseline) {
  StudyResults results = humanoid(10, 3, 8);
  std::erase_if(results.runs, [](const StudyRun& run) { return run.acquisition == "badge"; });
  EXPECT_EQ(judged({results}, "humanoid").verdict, Verdict::kOpen);
}

// Tests that are still missing may find anything, so they count.
TEST(Claims, HumanoidIsCorrectedForAllTests) {
  const auto of_kl_and_mc = [](const StudyResults& results) {
    const JudgedClaim claim = judged({results}, "humanoid");
    const auto found = std::ranges::find(claim.findings, "flow, humanoid: kl against mc", &Finding::where);
    EXPECT_NE(found, claim.findings.end());
    return found == claim.findings.end() ? Finding{} : *found;
  };
  const auto in_part = [](StudyResults results) {
    std::erase_if(results.runs, [](const StudyRun& run) { return run.acquisition.starts_with("ba"); });
    return results;
  };
  // kl against mc has a p-value of 0.007: the last but one of ten to be corrected, but the third of four.
  const StudyResults close = humanoid(5, 3, 3.045);
  EXPECT_EQ(of_kl_and_mc(close).verdict, Verdict::kHolds) << of_kl_and_mc(close).says;
  EXPECT_EQ(of_kl_and_mc(in_part(close)).verdict, Verdict::kOpen) << of_kl_and_mc(in_part(close)).says;
  // With as many seeds as the paper a tie decides, but not before all have run.
  EXPECT_EQ(of_kl_and_mc(humanoid(10, 3, 3)).verdict, Verdict::kFails);
  EXPECT_EQ(of_kl_and_mc(in_part(humanoid(10, 3, 3))).verdict, Verdict::kOpen);
  StudyResults begun = humanoid(10, 3, 3);
  std::erase_if(begun.runs, [](const StudyRun& run) { return run.acquisition == "bait" && run.seed > 1; });
  EXPECT_EQ(of_kl_and_mc(begun).verdict, Verdict::kOpen);
  const JudgedClaim claim = judged({in_part(close)}, "humanoid");
  EXPECT_EQ(claim.findings.size(), 10U);
  EXPECT_EQ(std::ranges::count(claim.findings, "there are no runs, or only one", &Finding::says), 6);
}

TEST(Claims, HumanoidByOtherSettingsThanThePapersDecidesNothing) {
  StudyResults other{.study = "other", .source = "test"};
  for (const char* ranking : {"deficit", "value"}) {
    add_runs(other, "humanoid", "pne", "random", 10, 3, {{"ranking", ranking}});
    add_runs(other, "humanoid", "pne", "kl", 10, 8, {{"ranking", ranking}});
  }
  EXPECT_TRUE(judged({other}, "humanoid").findings.empty());
  EXPECT_EQ(judged({humanoid(5, 3, 8), other}, "humanoid").verdict, Verdict::kHolds);
}

TEST(Claims, LowDimension) {
  EXPECT_EQ(judged({low_dimension(5, 1.02, 1)}, "low-dimension").verdict, Verdict::kHolds);
  EXPECT_EQ(judged({low_dimension(5, 0.5, 1)}, "low-dimension").verdict, Verdict::kHolds);
  EXPECT_EQ(judged({low_dimension(5, 1.2, 1)}, "low-dimension").verdict, Verdict::kFails);
  EXPECT_EQ(judged({low_dimension(4, 1.02, 1)}, "low-dimension").verdict, Verdict::kOpen);
  StudyResults some = low_dimension(10, 1, 1);
  std::erase_if(some.runs, [](const StudyRun& run) { return run.problem == "hopper"; });
  const JudgedClaim claim = judged({some}, "low-dimension");
  EXPECT_EQ(claim.verdict, Verdict::kOpen);
  EXPECT_EQ(claim.findings.size(), 8U);
  EXPECT_EQ(claim.findings.back().says, "there are no runs");
}

// A study of the number of samples is judged by the most.
TEST(Claims, MonteCarloIsThatWithTheMostSamples) {
  StudyResults results;
  add_runs(results, "hopper", "pne", "mc:10", 5, 0.1);
  const StudyResults others = low_dimension(5, 1, 1);
  results.runs.insert(results.runs.end(), others.runs.begin(), others.runs.end());
  EXPECT_EQ(judged({results}, "low-dimension").verdict, Verdict::kHolds);
}

TEST(Claims, EnsembleSize) {
  StudyResults results;
  add_runs(results, "hopper", "flow", "kl", 6, 1.0, {{"components", "5"}});
  add_runs(results, "hopper", "flow", "kl", 6, 1.01, {{"components", "10"}});
  EXPECT_EQ(judged({results}, "ensemble-size").verdict, Verdict::kHolds);
  EXPECT_EQ(judged({results}, "ensemble-size").findings.size(), 1U);
  add_runs(results, "hopper", "pne", "kl", 6, 1.3, {{"components", "5"}});
  add_runs(results, "hopper", "pne", "kl", 6, 1.0, {{"components", "10"}});
  EXPECT_EQ(judged({results}, "ensemble-size").verdict, Verdict::kFails);
}

// In two studies, as the shipped grids have it. Six seeds: 2 / 64 of one test.
TEST(Claims, FlowsAgainstNetworks) {
  StudyResults flows{.study = "flows", .source = "test"};
  StudyResults networks{.study = "networks", .source = "test"};
  add_runs(flows, "bimodal", "flow", "kl", 6, 1);
  add_runs(networks, "bimodal", "pne", "kl", 6, 2);
  EXPECT_EQ(judged({flows, networks}, "flows").verdict, Verdict::kHolds);
  EXPECT_EQ(judged({flows}, "flows").verdict, Verdict::kOpen);
  add_runs(flows, "bimodal", "flow", "random", 6, 1);
  add_runs(networks, "bimodal", "pne", "random", 6, 2);
  EXPECT_EQ(judged({flows, networks}, "flows").verdict, Verdict::kOpen);  // two tests need 2 / 2^7
}

TEST(Claims, JointBatches) {
  StudyResults results;
  add_runs(results, "hetero", "gp", "kl", 10, 2);
  add_runs(results, "hetero", "gp", "kl-joint", 10, 1);
  EXPECT_EQ(judged({results}, "joint").verdict, Verdict::kHolds);
  EXPECT_EQ(judged({results}, "joint").note, "hetero (2 rounds)");
  add_runs(results, "hopper", "gp", "kl", 10, 1);
  add_runs(results, "hopper", "gp", "kl-joint", 10, 2);
  EXPECT_EQ(judged({results}, "joint").verdict, Verdict::kFails);
  EXPECT_EQ(judged({results}, "joint").note, "hetero (2 rounds), hopper (2 rounds)");
  EXPECT_EQ(short_note(judge_claims(std::vector{results})), "");
}

TEST(Claims, TiesWithManySeedsAreNoGain) {
  StudyResults results;
  for (const std::size_t num_seeds : {9, 10}) {
    results.runs.clear();
    add_runs(results, "hetero", "pne", "kl", num_seeds, 1, {{"ranking", "deficit"}});
    add_runs(results, "hetero", "pne", "kl", num_seeds, 1, {{"ranking", "value"}});
    EXPECT_EQ(judged({results}, "log-deficit").verdict, num_seeds < 10 ? Verdict::kOpen : Verdict::kFails);
  }
  EXPECT_EQ(judged({results}, "log-deficit").num_seeds, 10U);
}

// With 2 / 2^10 for the least p, more than 25 tests can find nothing: that is not a claim refuted.
TEST(Claims, WhatCouldNotBeFoundIsOpen) {
  StudyResults results;
  for (int k = 0; k < 26; ++k) {
    add_runs(results, "problem" + std::to_string(k), "gp", "kl", 10, 2);
    add_runs(results, "problem" + std::to_string(k), "gp", "kl-joint", 10, 1);
  }
  EXPECT_EQ(judged({results}, "joint").verdict, Verdict::kOpen);
}

TEST(Claims, EqualCandidates) {
  StudyResults results;
  add_runs(results, "ant", "flow", "kl", 5, 1, {{"candidates", "1000"}});
  add_runs(results, "ant", "flow", "mc:5000", 5, 1, {{"candidates", "1000"}});
  EXPECT_EQ(judged({results}, "equal-candidates").verdict, Verdict::kHolds);
}

TEST(Claims, Cost) {
  StudyResults results;
  const Measurement base{.kind = "seconds", .outputs = 11, .components = 5};
  for (const auto& [estimator, samples, seconds] :
       {std::tuple("kl", 0, 0.1), std::tuple("mc", 500, 0.2), std::tuple("mc", 5000, 2.0)}) {
    Measurement measurement = base;
    measurement.estimator = estimator;
    measurement.samples = static_cast<std::size_t>(samples);
    measure(results, measurement, seconds, 5);
  }
  const JudgedClaim claim = judged({results}, "cost");
  EXPECT_EQ(claim.verdict, Verdict::kHolds);
  ASSERT_EQ(claim.findings.size(), 1U);
  EXPECT_EQ(claim.findings[0].where, "11 outputs, 5 components: kl");
  EXPECT_EQ(claim.findings[0].says, "20 times cheaper, 90% interval 20 to 20");
  for (Measurement& measurement : results.measurements) {
    measurement.value *= measurement.estimator == "kl" ? 4 : 1;
  }
  EXPECT_EQ(judged({results}, "cost").verdict, Verdict::kFails);
}

TEST(Claims, RanksSamplesAndBias) {
  StudyResults results;
  measure(results, {.kind = "spearman", .problem = "hetero", .model = "flow", .estimator = "kl"}, 0.98, 5);
  measure(results, {.kind = "matched_samples", .estimator = "kl", .outputs = 27, .components = 5}, 8, 5);
  measure(results, {.kind = "matched_samples", .estimator = "kl", .outputs = 1, .components = 5}, 800, 5);
  measure(results, {.kind = "bias", .problem = "hetero", .model = "flow", .estimator = "kl", .components = 5},
          -0.05 * std::log(5), 5);
  EXPECT_EQ(judged({results}, "ranking").verdict, Verdict::kHolds);
  EXPECT_EQ(judged({results}, "no-samples").verdict, Verdict::kHolds);
  EXPECT_EQ(judged({results}, "bias").verdict, Verdict::kHolds);
  measure(results, {.kind = "spearman", .problem = "bimodal", .model = "flow", .estimator = "kl"}, 0.5, 5);
  measure(results, {.kind = "bias", .problem = "bimodal", .model = "flow", .estimator = "kl", .components = 5}, 0.5, 4);
  EXPECT_EQ(judged({results}, "ranking").verdict, Verdict::kFails);
  EXPECT_EQ(judged({results}, "bias").verdict, Verdict::kOpen);
}

}  // namespace
}  // namespace dissent
