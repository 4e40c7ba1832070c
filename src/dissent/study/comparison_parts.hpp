// The parts that compare() is made of. Internal.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "dissent/study/comparison.hpp"

namespace dissent {

struct MethodPair {
  const MethodCurve* ours;
  const MethodCurve* baseline;
};

// Ours against each baseline of the same variant; of any variant if both are named.
std::vector<MethodPair> compared_pairs(const TaskComparison& task, const CompareOptions& options);

// "mc" of "mc:5000"
std::string acquisition_name(std::string_view acquisition);

// Values of two methods for the same seed and data_seed, if both are known; the mean over several data_seeds of one
// seed.
struct PairedValues {
  std::vector<std::uint64_t> seeds = {};
  std::vector<double> ours = {};
  std::vector<double> baseline = {};
  std::size_t diverged_ours = 0;  // runs
  std::size_t diverged_baseline = 0;

  std::vector<double> differences() const;
};
PairedValues paired_values(std::span<const RunValue> ours, std::span<const RunValue> baseline);

// Welch's test of two samples; not yet corrected.
Contrast welch_contrast(const std::string& ours, const Moments& a, const std::string& baseline, const Moments& b,
                        bool less_is_better);
// Holm's correction, and the outcomes it gives.
void correct(ContrastFamily& family, bool less_is_better, double level);

// Adds those that have a pair.
void add_known(std::vector<PairedContrast>& contrasts, std::vector<PairedContrast*>& known);
// Holm's correction of one p-value of each.
void correct(std::span<PairedContrast* const> contrasts, double PairedContrast::*p_value,
             double PairedContrast::*adjusted);

// Runs all tests of a task; those over all tasks stay at 1.
void test_task(TaskComparison& task, const MetricTraits& metric, const CompareOptions& options);

// What the seeds of these tasks can show: within one of them, and over all.
using TaskList = std::vector<const TaskComparison*>;
std::vector<Power> powers_of(const TaskList& tasks, double level);

// Scores and profiles of the methods of one model.
void add_scores(const TaskList& tasks, bool less_is_better, const CompareOptions& options, ModelComparison& model);

// The bootstrap interval of a statistic. Its ends are NaN if a task has only one run, which nothing can be drawn from.
Interval run_interval(const TaskRuns& runs, const RunStatistic& statistic, const CompareOptions& options);

// Scores, profiles, wins and power, by model; and the correction of paired tests over all tasks of a model.
void compare_overall(Comparison& comparison);

}  // namespace dissent
