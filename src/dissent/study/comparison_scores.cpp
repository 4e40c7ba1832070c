// Scores of methods over the problems of a model, their intervals and profiles.
#include <algorithm>
#include <cmath>
#include <map>

#include "dissent/study/comparison_parts.hpp"

namespace dissent {
namespace {

constexpr std::size_t kNumThresholds = 60;

// Random of the same variant, else any.
const MethodCurve* reference_of(const TaskComparison& task, const MethodCurve& curve) {
  const MethodCurve* any = nullptr;
  for (const MethodCurve& other : task.methods) {
    if (other.acquisition == "random") {
      if (other.variant == curve.variant) {
        return &other;
      }
      any = any == nullptr ? &other : any;
    }
  }
  return any;
}

std::vector<double> ratios_to_random(const TaskComparison& task, const MethodCurve& curve) {
  std::vector<double> ratios;
  if (const MethodCurve* random = reference_of(task, curve)) {
    const PairedValues pairs = paired_values(curve.areas, random->areas);
    for (std::size_t k = 0; k < pairs.ours.size(); ++k) {
      if (const double ratio = pairs.ours[k] / pairs.baseline[k]; std::isfinite(ratio)) {
        ratios.push_back(ratio);
      }
    }
  }
  return ratios;
}

// The share of the other methods that are better with the same seed: 0 for the best, 1 for the worst. A tie is half.
std::vector<double> ranks_among_methods(const TaskComparison& task, const MethodCurve& curve, bool less_is_better) {
  struct Count {
    double better = 0;
    double others = 0;
  };
  std::map<std::uint64_t, Count> by_seed;
  for (const MethodCurve& other : task.methods) {
    if (&other == &curve) {
      continue;
    }
    const PairedValues pairs = paired_values(curve.areas, other.areas);
    for (std::size_t k = 0; k < pairs.seeds.size(); ++k) {
      const double difference = pairs.ours[k] - pairs.baseline[k];
      Count& count = by_seed[pairs.seeds[k]];
      count.better += difference == 0 ? 0.5 : (difference > 0) == less_is_better ? 1 : 0;
      ++count.others;
    }
  }
  std::vector<double> ranks;
  for (const auto& [seed, count] : by_seed) {
    ranks.push_back(count.better / count.others);
  }
  return ranks;
}

std::vector<double> scores_of(const TaskComparison& task, const MethodCurve& curve, bool less_is_better) {
  return less_is_better ? ratios_to_random(task, curve) : ranks_among_methods(task, curve, less_is_better);
}

std::vector<std::string> methods_of(const TaskList& tasks) {
  std::vector<std::string> names;
  for (const TaskComparison* task : tasks) {
    for (const MethodCurve& curve : task->methods) {
      if (std::ranges::find(names, curve.method) == names.end()) {
        names.push_back(curve.method);
      }
    }
  }
  return names;
}

// Scores by method and problem, for the problems where every method that has any score has one.
class Scores {
 public:
  Scores(const TaskList& tasks, bool less_is_better) {
    for (const std::string& method : methods_of(tasks)) {
      for (const TaskComparison* task : tasks) {
        const MethodCurve* curve = task->find(method);
        std::vector<double> scores =
            curve == nullptr ? std::vector<double>() : scores_of(*task, *curve, less_is_better);
        if (!scores.empty()) {
          runs_[method][task->problem] = std::move(scores);
        }
      }
      if (runs_.contains(method)) {
        methods_.push_back(method);
      }
    }
    for (const TaskComparison* task : tasks) {
      const bool everywhere = std::ranges::all_of(
          methods_, [&](const std::string& method) { return runs_[method].contains(task->problem); });
      if (everywhere && !methods_.empty()) {
        problems_.push_back(task->problem);
      }
    }
  }

  const std::vector<std::string>& methods() const { return methods_; }
  const std::vector<std::string>& problems() const { return problems_; }
  TaskRuns of(const std::string& method) const {
    TaskRuns runs;
    for (const std::string& problem : problems_) {
      runs.push_back(runs_.at(method).at(problem));
    }
    return runs;
  }

 private:
  std::map<std::string, std::map<std::string, std::vector<double>>> runs_;
  std::vector<std::string> methods_;
  std::vector<std::string> problems_;
};

// Even steps over all scores.
std::vector<double> profile_thresholds(const Scores& scores) {
  double least = std::numeric_limits<double>::infinity();
  double most = -least;
  for (const std::string& method : scores.methods()) {
    for (const std::vector<double>& task : scores.of(method)) {
      least = std::min(least, *std::ranges::min_element(task));
      most = std::max(most, *std::ranges::max_element(task));
    }
  }
  std::vector<double> thresholds(kNumThresholds);
  for (std::size_t k = 0; k < kNumThresholds; ++k) {
    thresholds[k] = std::lerp(least, most, static_cast<double>(k) / (kNumThresholds - 1));
  }
  return thresholds;
}

}  // namespace

Interval run_interval(const TaskRuns& runs, const RunStatistic& statistic, const CompareOptions& options) {
  if (std::ranges::any_of(runs, [](const std::vector<double>& task) { return task.size() < 2; })) {
    constexpr double kUnknown = std::numeric_limits<double>::quiet_NaN();
    return {statistic(runs), kUnknown, kUnknown};
  }
  return stratified_bootstrap(runs, statistic, {.num_draws = options.num_draws, .seed = options.seed});
}

void add_scores(const TaskList& tasks, bool less_is_better, const CompareOptions& options, ModelComparison& model) {
  const Scores scores(tasks, less_is_better);
  model.problems = scores.problems();
  if (model.problems.empty()) {
    return;
  }
  model.thresholds = profile_thresholds(scores);
  for (const std::string& method : scores.methods()) {
    const TaskRuns runs = scores.of(method);
    OverallMethod overall{.method = method};
    for (const std::vector<double>& task : runs) {
      overall.num_runs += task.size();
    }
    overall.score = run_interval(
        runs, [](const TaskRuns& drawn) { return interquartile_mean(drawn); }, options);
    overall.profile = performance_profile(runs, model.thresholds);
    model.methods.push_back(std::move(overall));
  }
}

}  // namespace dissent
