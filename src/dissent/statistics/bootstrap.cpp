#include "dissent/statistics/bootstrap.hpp"

#include <algorithm>

#include "dissent/base/error.hpp"
#include "dissent/base/random.hpp"

namespace dissent {
namespace {

void check_runs(const TaskRuns& runs, const char* what) {
  check(!runs.empty(), "{}: there is no task", what);
  for (std::size_t task = 0; task < runs.size(); ++task) {
    check(!runs[task].empty(), "{}: task {} has no run", what, task + 1);
  }
}

void draw_runs(const TaskRuns& runs, Stream stream, TaskRuns& drawn) {
  for (std::size_t task = 0; task < runs.size(); ++task) {
    for (double& run : drawn[task]) {
      run = runs[task][stream.below(runs[task].size())];
    }
  }
}

// The share of pairs (one of ours, one of theirs) in which ours is larger; `sorted` are theirs.
double share_larger(const std::vector<double>& ours, const std::vector<double>& sorted) {
  double pairs = 0;
  for (const double run : ours) {
    const auto [first, last] = std::equal_range(sorted.begin(), sorted.end(), run);
    pairs += static_cast<double>(first - sorted.begin()) + static_cast<double>(last - first) / 2;
  }
  return pairs / static_cast<double>(ours.size()) / static_cast<double>(sorted.size());
}

}  // namespace

Interval stratified_bootstrap(const TaskRuns& runs, const RunStatistic& statistic, const BootstrapOptions& options) {
  check_runs(runs, "stratified_bootstrap");
  check(options.num_draws > 0, "stratified_bootstrap: num_draws = 0; it must be positive");
  check(options.confidence > 0 && options.confidence < 1, "stratified_bootstrap: confidence = {} is not in (0, 1)",
        options.confidence);
  TaskRuns drawn = runs;
  std::vector<double> values(options.num_draws);
  for (std::size_t draw = 0; draw < values.size(); ++draw) {
    draw_runs(runs, Stream(options.seed, Purpose::kResample, draw), drawn);
    values[draw] = statistic(drawn);
  }
  const double tail = (1 - options.confidence) / 2;
  return {statistic(runs), quantile(values, tail), quantile(values, 1 - tail)};
}

double interquartile_mean(const TaskRuns& runs) {
  std::vector<double> all;
  for (const std::vector<double>& task : runs) {
    all.insert(all.end(), task.begin(), task.end());
  }
  return interquartile_mean(std::span<const double>(all));
}

double probability_of_improvement(const TaskRuns& ours, const TaskRuns& theirs) {
  check_runs(ours, "probability_of_improvement");
  check_runs(theirs, "probability_of_improvement");
  check(ours.size() == theirs.size(), "probability_of_improvement: {} and {} tasks", ours.size(), theirs.size());
  double sum = 0;
  for (std::size_t task = 0; task < ours.size(); ++task) {
    std::vector<double> sorted = theirs[task];
    std::ranges::sort(sorted);
    sum += share_larger(ours[task], sorted);
  }
  return sum / static_cast<double>(ours.size());
}

std::vector<double> performance_profile(const TaskRuns& runs, std::span<const double> thresholds) {
  check_runs(runs, "performance_profile");
  std::vector<double> profile(thresholds.size(), 0.0);
  for (const std::vector<double>& task : runs) {
    for (std::size_t k = 0; k < thresholds.size(); ++k) {
      const auto below = std::ranges::count_if(task, [&](double run) { return run <= thresholds[k]; });
      profile[k] += static_cast<double>(below) / static_cast<double>(task.size()) / static_cast<double>(runs.size());
    }
  }
  return profile;
}

}  // namespace dissent
