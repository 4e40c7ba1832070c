// Which methods of a study do better, and whether that can be told from chance. Plain values: no database.
//
// A task is a problem with a model; a method is an acquisition with the values of all other axes. Runs of two methods
// are paired if they share seed and data_seed, because they begin with the same rows. Only seeds count: runs of one
// seed on several data_seeds are averaged before anything is tested, since they are not seeds of their own.
//
// "After r rounds" means the model that was fitted on the rows of r rounds: record r + 1 of a campaign. A campaign of
// 100 rounds ends with the model after 100.
//
// A metric that is not finite, of a model that diverged, counts as the worst of its task (diverged.hpp).
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "dissent/statistics/bootstrap.hpp"
#include "dissent/statistics/location.hpp"
#include "dissent/study/results.hpp"

namespace dissent {

struct MetricTraits {
  std::string_view name;   // of the field of RoundRecord
  std::string_view title;  // "RMSE"
  double RoundRecord::*member;
  bool less_is_better;
  std::string_view paper;  // the metric of the paper's tables
  std::string_view note;   // how far the two can be compared; empty: as they are
};
// rmse, rmse_paper or log_likelihood. InputError, with the nearest name, for any other.
const MetricTraits& find_metric(std::string_view name);

struct CompareOptions {
  std::string metric = "rmse";
  // Methods, or acquisitions without their parameter; find_methods() says how they may be written. Empty: those that
  // use pairwise estimates or an aim; if a study has none, all but random.
  std::vector<std::string> ours = {};
  std::vector<std::string> baselines = {};  // empty: all others
  std::optional<std::size_t> until = {};    // the last round that counts; none: the last of any run of the task
  double level = 0.05;
  std::uint64_t seed = 0;  // of the bootstrap
  std::size_t num_draws = 2000;
};

constexpr double kTrimmedShare = 0.1;  // on each side

// One number of a run: its area under the curve, or its metric at some round.
struct RunValue {
  std::uint64_t seed = 0;
  std::uint64_t data_seed = 0;
  double value = 0;       // NaN: not known
  bool diverged = false;  // and counts as the worst
};

// Over seeds. All numbers are NaN without a value.
struct RunSummary {
  double mean = std::numeric_limits<double>::quiet_NaN();
  double stddev = std::numeric_limits<double>::quiet_NaN();
  double median = std::numeric_limits<double>::quiet_NaN();
  double trimmed_mean = std::numeric_limits<double>::quiet_NaN();
  double interquartile_mean = std::numeric_limits<double>::quiet_NaN();
  std::size_t count = 0;         // seeds
  std::size_t num_diverged = 0;  // runs

  Moments moments() const { return {mean, stddev, count}; }
};
RunSummary summarize(std::span<const RunValue> runs);

// One value per seed, ordered by seed: the mean over its data_seeds. Unknown values are left out.
std::vector<double> seed_means(std::span<const RunValue> runs);

struct CurvePoint {
  std::size_t after = 0;  // rounds
  double labelled = 0;    // rows its models were fitted on, the mean over runs
  RunSummary summary = {};
};

struct MethodCurve {
  std::string method;
  std::string acquisition;  // without its parameter: "mc" of "mc:5000"
  double parameter = 0;     // 5000; 0: none
  std::string variant;      // the values of the other axes: "candidates=1000"
  bool ours = false;
  std::vector<CurvePoint> points = {};  // by rounds
  // Of runs that reached the task's last round: the mean height of the curve, and its end.
  std::vector<RunValue> areas = {};
  std::vector<RunValue> ends = {};
  RunSummary area = {};
  RunSummary end = {};
  std::size_t num_seeds = 0;  // that have begun
  // Campaigns that have not reached the task's last round, and those of them that failed.
  std::size_t num_unfinished = 0;
  std::size_t num_failed = 0;

  const CurvePoint* at(std::size_t after) const;  // null: no run got that far
};

enum class Outcome { kBetter, kWorse, kTie };  // of ours; a tie is what cannot be told apart

// Welch's test of ours against a baseline after some rounds.
struct Contrast {
  std::string ours;
  std::string baseline;
  double difference = 0;  // of the means, ours - theirs
  double effect = 0;      // that in pooled standard deviations; positive: ours is better
  double p_value = 1;
  double adjusted = 1;  // by Holm, over all contrasts of the same task and round
  std::size_t num_ours = 0;
  std::size_t num_baseline = 0;
  std::size_t diverged_ours = 0;
  std::size_t diverged_baseline = 0;
  Outcome outcome = Outcome::kTie;  // by the adjusted p-value
};

// All contrasts of one task after some rounds: what Holm corrects together, as in the paper's appendix.
struct ContrastFamily {
  std::size_t after = 0;
  std::vector<Contrast> contrasts = {};
  std::vector<std::string> untested = {};  // ours that have, or have a baseline with, fewer than two seeds

  // The largest adjusted p-value of a method against all baselines, if it was tested against each and is better; else
  // nothing. That is what the paper highlights.
  std::optional<double> better_than_all(std::string_view ours) const;
};

// Tests paired by seed. The outcome is that of the sign flip test, corrected within the task.
struct PairedContrast {
  std::string ours;
  std::string baseline;
  std::size_t num_pairs = 0;  // seeds
  std::size_t diverged_ours = 0;
  std::size_t diverged_baseline = 0;
  double difference = 0;          // the mean of ours - theirs
  double effect = 0;              // that in standard deviations of the differences; positive: ours is better
  double sign_flip_p = 1;         // NaN without a pair, as are all that follow
  double sign_flip_adjusted = 1;  // by Holm within the task
  double sign_flip_overall = 1;   // by Holm over all tasks of the model
  double wilcoxon_p = 1;
  double wilcoxon_adjusted = 1;
  double wilcoxon_overall = 1;
  Outcome outcome = Outcome::kTie;
  bool reachable = true;  // this many seeds can clear Holm's first step

  std::string outcome_text() const;  // empty without a pair; "open" for a tie if it is not reachable
};

struct TaskComparison {
  std::string problem;
  std::string model;
  std::size_t last = 0;  // rounds
  std::vector<MethodCurve> methods = {};
  std::vector<ContrastFamily> families = {};  // by rounds; only those with two values of both
  std::vector<PairedContrast> by_area = {};
  std::vector<PairedContrast> at_end = {};

  const MethodCurve* find(std::string_view method) const;
  // The one with the largest parameter, if there are several: mc:5000 before mc:10.
  const MethodCurve* find_acquisition(std::string_view acquisition, std::string_view variant = {}) const;
  const ContrastFamily* family(std::size_t after) const;
};

// A method over the problems of one model. Problems differ in their units, so scores have none. A score is the area
// divided by that of random with the same seed. A log-likelihood has no zero and grows with the outputs, so its score
// is the share of the other methods that are better with the same seed; a tie counts half. Less is better either way.
struct OverallMethod {
  std::string method;
  std::size_t num_runs = 0;
  // Interquartile mean, with its stratified bootstrap interval: NaN if a problem has only one seed.
  Interval score = {};
  std::vector<double> profile = {};  // share of runs at or below each of the thresholds
};

// Ours against a baseline over the problems that both have. Wins, ties and losses count problems, by the tests paired
// by seed on areas.
struct OverallContrast {
  std::string ours;
  std::string baseline;
  std::size_t num_problems = 0;
  Interval improvement = {};  // the probability that a run of ours is better than one of theirs
  std::size_t wins = 0;
  std::size_t ties = 0;
  std::size_t losses = 0;
};

// What tests paired by seed can find with this many pairs.
struct Power {
  std::string scope;  // "all 6 problems together", "one problem alone"
  std::size_t num_pairs = 0;
  std::size_t num_tests = 0;
  double least_p = 1;            // of a sign flip test
  double needed_p = 0;           // Holm's first step: level / num_tests
  bool reachable = false;        // least_p <= needed_p
  std::size_t pairs_needed = 0;  // for that
  double effect = 0;             // in standard deviations, found with probability 0.8 at needed_p; NaN below two pairs
  std::string sentence = {};
};
Power power_of(std::string scope, std::size_t num_pairs, std::size_t num_tests, double level = 0.05);

struct ModelComparison {
  std::string model;
  std::vector<std::string> problems = {};  // where every method has a score: the scores are over these
  std::vector<OverallMethod> methods = {};
  std::vector<double> thresholds = {};  // of the profiles
  std::vector<OverallContrast> contrasts = {};
  std::vector<Power> power = {};  // within one problem, over all
  std::size_t num_diverged = 0;   // runs among those with areas
};

struct Comparison {
  std::string study;
  std::string source;
  CompareOptions options = {};
  const MetricTraits* metric = nullptr;
  std::vector<TaskComparison> tasks = {};    // in the order of the results
  std::vector<ModelComparison> models = {};  // likewise

  const TaskComparison* find(std::string_view problem, std::string_view model) const;
};

// InputError for an unknown metric or method.
Comparison compare(const StudyResults& results, const CompareOptions& options = {});
// Compares each by itself; a named method must be in one of them.
std::vector<Comparison> compare_studies(std::span<const StudyResults> studies, const CompareOptions& options = {});

// All methods of the studies, and their acquisitions without a parameter.
std::vector<std::string> method_names(std::span<const StudyResults> studies);
// Methods as people type them, in one text or several. Names may have commas in them: "mc, kl, candidates=1000" is two.
// InputError, with the nearest name, for an unknown one.
std::vector<std::string> find_methods(std::span<const std::string> typed, const std::vector<std::string>& known);

std::string_view outcome_name(Outcome outcome);  // "better", "worse", "tie"
// "***", "**", "*" or nothing: below 0.001, 0.01, 0.05, the levels of the paper's colours.
std::string_view significance_mark(double adjusted_p);

}  // namespace dissent
