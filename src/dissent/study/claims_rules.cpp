// The list of claims with their rules, and how findings make a verdict.
#include <algorithm>

#include "dissent/base/names.hpp"
#include "dissent/problem/problem.hpp"
#include "dissent/statistics/significance.hpp"
#include "dissent/study/claims.hpp"
#include "dissent/study/claims_parts.hpp"
#include "dissent/study/paper_numbers.hpp"

namespace dissent {
namespace {

// How findings add up. kAll: every finding must hold; one that fails makes the claim fail. kSome: one that holds is
// enough if none fails; if as many seeds as the paper has find nothing anywhere, the claim fails.
enum class Sum { kAll, kSome };

struct Rule {
  std::string_view name;
  std::string_view claim;
  bool of_paper;
  std::string_view rule;
  std::string_view test;
  Sum sum;
  Findings (*find)(Evidence evidence);
};

constexpr Rule kRules[] = {
    {"low-dimension", "Pairwise estimators match Monte Carlo where there are few outputs.", true,
     "On hetero, bimodal, pendulum and hopper the area under the RMSE curve of kl and of bhattacharyya is at most 1.1 "
     "times that of mc: the upper end of the 90% interval lies below 1.1. It does not hold where the lower end lies "
     "above.",
     "Student's t interval of the mean log ratio, paired by seed", Sum::kAll, &match_in_low_dimension},
    {"humanoid", "Pairwise estimators beat all baselines on Humanoid.", true,
     "After the last round the RMSE of kl and of bhattacharyya is below that of random, batchbald, badge, bait and mc, "
     "each with an adjusted p below 0.05. It does not hold where one of them is better, or cannot be told apart with "
     "ten seeds, as many as the paper has.",
     "Welch's t-test, Holm over all tests of the problem", Sum::kAll, &beat_all_on_humanoid},
    {"cost", "Pairwise estimates are 10 to 100 times cheaper than Monte Carlo.", true,
     "At every number of outputs and components that was measured, Monte Carlo takes at least 10 times as long.",
     "Geometric mean of the ratio of seconds, 90% interval", Sum::kAll, &cheaper_than_samples},
    {"ranking", "Pairwise estimates rank rows as Monte Carlo does.", true,
     "Spearman's correlation with Monte Carlo is at least 0.95: the lower end of the 90% interval lies above that. It "
     "does not hold where the upper end lies below.",
     "Student's t interval of the mean correlation", Sum::kAll, &rank_like_samples},
    {"no-samples", "Pairwise estimates need no samples: in their time Monte Carlo draws too few.", true,
     "With 11 outputs or more, Monte Carlo draws fewer than 100 samples in the time of a pairwise estimate.",
     "Mean number of samples, 90% interval", Sum::kAll, &few_samples_in_the_time},
    {"bias", "The bias of pairwise estimates is small.", true,
     "On the problems with one output the mean absolute difference from quadrature is at most a tenth of ln M, the "
     "most there can be with M components.",
     "Student's t interval of the mean absolute bias, 90%", Sum::kAll, &small_bias},
    {"ensemble-size", "Five components suffice.", true,
     "On hopper the RMSE after the last round with 5 components is at most 1.1 times that with 10: the upper end of "
     "the "
     "90% interval lies below 1.1. It does not hold where the lower end lies above.",
     "Student's t interval of the mean log ratio, paired by seed", Sum::kAll, &five_components_suffice},
    {"flows", "Flows beat probabilistic networks where noise has two modes.", true,
     "On bimodal the log-likelihood after the last round is higher with flows than with networks, for every method "
     "that "
     "both have.",
     "Sign flip test, paired by seed, Holm over methods", Sum::kAll, &flows_beat_pne},
    {"log-deficit", "Ranking by the log deficit is better than ranking by the value, which saturates.", false,
     "The area under the RMSE curve is smaller on one problem at least, and larger on none. It does "
     "not hold either where ten seeds find no difference on any.",
     "Sign flip test, paired by seed, Holm over problems", Sum::kSome, &deficit_beats_value},
    {"joint", "Choosing a batch by its joint estimate is better than taking the best rows one by one.", false,
     "The area under the RMSE curve of kl-joint and of bhattacharyya-joint is smaller than that of kl and of "
     "bhattacharyya on one problem at least, and larger on none. It does "
     "not hold either where ten seeds find no difference on any.",
     "Sign flip test, paired by seed, Holm over problems", Sum::kSome, &joint_beats_single},
    {"aim", "Choosing for where predictions are needed is better than choosing what is unknown.", false,
     "The area under the RMSE curve of aim and of kl-aim is smaller than that of kl on one problem at least, and "
     "larger "
     "on none. It does not hold either where ten seeds find no difference on any.",
     "Sign flip test, paired by seed, Holm over problems", Sum::kSome, &aim_beats_none},
    {"equal-candidates", "Pairwise estimators match Monte Carlo when all choose among equally many rows.", false,
     "With the same number of candidates for all, the area under the RMSE curve of kl and of bhattacharyya is at most "
     "1.1 times that of mc on every problem: the upper end of the 90% interval lies below 1.1.",
     "Student's t interval of the mean log ratio, paired by seed", Sum::kAll, &match_with_equal_candidates},
};

bool any(const Findings& findings, Verdict verdict) {
  return std::ranges::any_of(findings, [&](const Finding& finding) { return finding.verdict == verdict; });
}

Verdict sum_of(const Findings& findings, Sum sum) {
  if (any(findings, Verdict::kFails)) {
    return Verdict::kFails;
  }
  if (findings.empty()) {
    return Verdict::kOpen;
  }
  if (sum == Sum::kSome && !any(findings, Verdict::kHolds)) {
    // Ten seeds, and a least p that could pass Holm's first step: otherwise nothing could have been found.
    const std::size_t seeds = std::ranges::min(findings, {}, &Finding::num_seeds).num_seeds;
    const bool enough = seeds >= kPaperSeeds && least_paired_p(seeds) * static_cast<double>(findings.size()) <= kLevel;
    return enough ? Verdict::kFails : Verdict::kOpen;
  }
  return sum == Sum::kAll && any(findings, Verdict::kOpen) ? Verdict::kOpen : Verdict::kHolds;
}

// A finding with too few seeds decides nothing. One that holds is withdrawn if ours diverged more often: then the
// values of others stand in for its own.
void withdraw(Finding& finding) {
  if (finding.num_seeds < kLeastSeeds ||
      (finding.verdict == Verdict::kHolds && finding.diverged_ours > finding.diverged_theirs)) {
    finding.verdict = Verdict::kOpen;
  }
  if (finding.diverged_ours + finding.diverged_theirs > 0) {
    finding.says += fmt::format("; diverged: {} of ours, {} of theirs", counted(finding.diverged_ours, "run"),
                                finding.diverged_theirs);
  }
}

// Each once, in their order.
std::string notes_of(const Findings& findings, std::string_view between) {
  std::vector<std::string> notes;
  for (const Finding& finding : findings) {
    if (!finding.note.empty() && std::ranges::find(notes, finding.note) == notes.end()) {
      notes.push_back(finding.note);
    }
  }
  return fmt::format("{}", fmt::join(notes, between));
}

JudgedClaim judge(const Rule& rule, Evidence evidence) {
  JudgedClaim claim{.name = std::string(rule.name),
                    .claim = std::string(rule.claim),
                    .of_paper = rule.of_paper,
                    .rule = std::string(rule.rule),
                    .test = std::string(rule.test),
                    .findings = rule.find(evidence)};
  std::ranges::for_each(claim.findings, withdraw);
  claim.verdict = sum_of(claim.findings, rule.sum);
  const bool decided = any(claim.findings, claim.verdict);
  std::vector<std::size_t> seeds;
  for (const Finding& finding : claim.findings) {
    if (finding.verdict == claim.verdict || !decided) {
      seeds.push_back(finding.num_seeds);
    }
  }
  claim.num_seeds = seeds.empty() ? 0 : *std::ranges::min_element(seeds);
  claim.note = notes_of(claim.findings, rule.of_paper ? "; " : ", ");
  return claim;
}

}  // namespace

std::string_view verdict_name(Verdict verdict) {
  constexpr std::string_view kNames[] = {"holds", "does not hold", "not enough data"};
  return kNames[static_cast<std::size_t>(verdict)];
}

std::size_t JudgedClaim::num_diverged() const {
  return static_cast<std::size_t>(std::ranges::count_if(
      findings, [](const Finding& finding) { return finding.diverged_ours + finding.diverged_theirs > 0; }));
}

std::string diverged_note(std::span<const JudgedClaim> claims) {
  std::vector<std::string> names;
  for (const JudgedClaim& claim : claims) {
    if (claim.num_diverged() > 0) {
      names.push_back(claim.name);
    }
  }
  return names.empty() ? ""
                       : fmt::format(
                             "Runs that diverged count as the worst of their problem. These verdicts rest on "
                             "some: {}.",
                             fmt::join(names, ", "));
}

std::string short_note(std::span<const JudgedClaim> claims) {
  std::vector<std::string> notes;
  for (const JudgedClaim& claim : claims) {
    if (claim.of_paper && !claim.note.empty()) {
      notes.push_back(fmt::format("{} ({})", claim.name, claim.note));
    }
  }
  return notes.empty() ? ""
                       : fmt::format("These verdicts rest on less than the paper has, and do not speak for it: {}.",
                                     fmt::join(notes, "; "));
}

std::vector<JudgedClaim> judge_claims(std::span<const StudyResults> studies) {
  std::vector<StudyEvidence> evidence;
  for (const StudyResults& results : studies) {
    evidence.push_back({.results = &results,
                        .label = studies.size() > 1 ? results.study + ": " : "",
                        .rmse = compare(results, {.metric = "rmse", .num_draws = 1}),
                        .log_likelihood = compare(results, {.metric = "log_likelihood", .num_draws = 1})});
  }
  std::vector<JudgedClaim> claims;
  for (const Rule& rule : kRules) {
    claims.push_back(judge(rule, evidence));
  }
  return claims;
}

bool concern_claims(std::span<const StudyResults> studies) {
  return std::ranges::any_of(studies, [](const StudyResults& results) {
    return !results.measurements.empty() || std::ranges::any_of(results.runs, [](const StudyRun& run) {
      return std::ranges::find(problem_names(), run.problem) != problem_names().end();
    });
  });
}

}  // namespace dissent
