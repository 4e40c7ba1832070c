// Comparisons over several tasks, with a run for every seed: intervals, profiles and the probability of improvement
// (Agarwal et al., "Deep reinforcement learning at the edge of the statistical precipice", 2021).
//
// Runs are listed by task: runs[t] are the runs of task t, any number > 0.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "dissent/statistics/location.hpp"

namespace dissent {

using TaskRuns = std::vector<std::vector<double>>;

struct BootstrapOptions {
  std::size_t num_draws = 2000;
  double confidence = 0.95;
  std::uint64_t seed = 0;
};

// The statistic of the runs, and its percentile interval over runs drawn with replacement within each task.
using RunStatistic = std::function<double(const TaskRuns& runs)>;
Interval stratified_bootstrap(const TaskRuns& runs, const RunStatistic& statistic,
                              const BootstrapOptions& options = {});

// Of all runs together.
double interquartile_mean(const TaskRuns& runs);

// The mean over tasks of the probability that a run of ours is larger than one of theirs; a tie counts half. If less is
// better, swap them.
double probability_of_improvement(const TaskRuns& ours, const TaskRuns& theirs);

// For each threshold the share of runs at or below it, as the mean over tasks.
std::vector<double> performance_profile(const TaskRuns& runs, std::span<const double> thresholds);

}  // namespace dissent
