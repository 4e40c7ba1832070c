// What the claims are judged by. Internal.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "dissent/study/claims.hpp"
#include "dissent/study/comparison.hpp"
#include "dissent/study/comparison_parts.hpp"

namespace dissent {

constexpr double kLevel = 0.05;  // of the tests, after Holm

// One study with its comparisons, made once for all claims.
struct StudyEvidence {
  const StudyResults* results;
  std::string label;  // "quick: " if there are several studies
  Comparison rmse;
  Comparison log_likelihood;
};
using Evidence = std::span<const StudyEvidence>;
using Findings = std::vector<Finding>;

// Rules (docs/studies.md). Each gives a finding for every place where it could be decided.
constexpr double kMargin = 1.10;     // "matches": an area at most this many times the other's
constexpr double kRankLimit = 0.95;  // "ranks like": Spearman's correlation
constexpr double kCheaper = 10;      // times
constexpr double kFewSamples = 100;
constexpr double kBiasShare = 0.1;  // of ln M
constexpr std::size_t kManyOutputs = 11;

// Whether ours is at most kMargin times theirs. Not for numbers that may be negative.
Finding ratio_finding(const std::string& where, const MethodCurve& ours, const MethodCurve& theirs,
                      std::vector<RunValue> MethodCurve::*runs);

// Differences between paired runs, by place.
struct Difference {
  std::string where;
  PairedValues pairs;
  std::string note = {};
};

// How the runs of a task, or measurements of a kind, fall short of the paper's: the note of a finding. Empty if they do
// not, or if that is not known: files of version 0.6 and before do not give epochs.
std::string short_runs(const StudyEvidence& study, const TaskComparison& task);
std::string short_measurements(const StudyEvidence& study, std::string_view kind);
// Sign flip tests of all differences, corrected together. A tie stays open.
Findings sign_flip_findings(const std::vector<Difference>& differences, bool less_is_better);

Findings match_in_low_dimension(Evidence evidence);
Findings beat_all_on_humanoid(Evidence evidence);
Findings five_components_suffice(Evidence evidence);
Findings flows_beat_pne(Evidence evidence);
Findings deficit_beats_value(Evidence evidence);
Findings joint_beats_single(Evidence evidence);
Findings aim_beats_none(Evidence evidence);
Findings match_with_equal_candidates(Evidence evidence);

Findings cheaper_than_samples(Evidence evidence);
Findings rank_like_samples(Evidence evidence);
Findings few_samples_in_the_time(Evidence evidence);
Findings small_bias(Evidence evidence);

}  // namespace dissent
