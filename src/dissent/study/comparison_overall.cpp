// What can be said over all problems of a model: scores against random, profiles, the probability of improvement, wins
// and losses.
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

std::vector<double> scores_of(const TaskComparison& task, const MethodCurve& curve, bool less_is_better) {
  std::vector<double> scores;
  if (const MethodCurve* random = reference_of(task, curve)) {
    const PairedValues pairs = paired_values(curve.areas, random->areas);
    for (std::size_t k = 0; k < pairs.ours.size(); ++k) {
      const double score = less_is_better ? pairs.ours[k] / pairs.baseline[k] : pairs.baseline[k] - pairs.ours[k];
      if (std::isfinite(score)) {
        scores.push_back(score);
      }
    }
  }
  return scores;
}

std::vector<std::string> method_names(const TaskList& tasks) {
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

// Scores by method and problem, of the problems that every method with a score anywhere has.
class Scores {
 public:
  Scores(const TaskList& tasks, bool less_is_better) {
    for (const std::string& method : method_names(tasks)) {
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

BootstrapOptions bootstrap_options(const CompareOptions& options) {
  return {.num_draws = options.num_draws, .seed = options.seed};
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
    overall.score = stratified_bootstrap(
        runs, [](const TaskRuns& drawn) { return interquartile_mean(drawn); }, bootstrap_options(options));
    overall.profile = performance_profile(runs, model.thresholds);
    model.methods.push_back(std::move(overall));
  }
}

std::vector<double> finite_areas(const MethodCurve& curve) {
  std::vector<double> values;
  for (const RunValue& run : curve.areas) {
    if (std::isfinite(run.value)) {
      values.push_back(run.value);
    }
  }
  return values;
}

// The tasks of ours, then those of theirs: drawn together.
Interval improvement(const TaskRuns& ours, const TaskRuns& theirs, bool less_is_better, const CompareOptions& options) {
  TaskRuns both = ours;
  both.insert(both.end(), theirs.begin(), theirs.end());
  const auto half = static_cast<std::ptrdiff_t>(ours.size());
  const RunStatistic statistic = [&](const TaskRuns& runs) {
    const TaskRuns a(runs.begin(), runs.begin() + half);
    const TaskRuns b(runs.begin() + half, runs.end());
    return less_is_better ? probability_of_improvement(b, a) : probability_of_improvement(a, b);
  };
  return stratified_bootstrap(both, statistic, bootstrap_options(options));
}

OverallContrast overall_contrast(const TaskList& tasks, const PairedContrast& names, bool less_is_better,
                                 const CompareOptions& options) {
  OverallContrast overall{.ours = names.ours, .baseline = names.baseline};
  TaskRuns ours;
  TaskRuns theirs;
  for (const TaskComparison* task : tasks) {
    for (const PairedContrast& contrast : task->by_area) {
      if (contrast.ours != names.ours || contrast.baseline != names.baseline) {
        continue;
      }
      const std::vector<double> a = finite_areas(*task->find(names.ours));
      const std::vector<double> b = finite_areas(*task->find(names.baseline));
      if (!a.empty() && !b.empty()) {
        ours.push_back(a);
        theirs.push_back(b);
        overall.wins += contrast.outcome == Outcome::kBetter;
        overall.ties += contrast.outcome == Outcome::kTie;
        overall.losses += contrast.outcome == Outcome::kWorse;
      }
    }
  }
  overall.num_problems = ours.size();
  if (!ours.empty()) {
    overall.improvement = improvement(ours, theirs, less_is_better, options);
  }
  return overall;
}

void add_contrasts(const TaskList& tasks, bool less_is_better, const CompareOptions& options, ModelComparison& model) {
  for (const TaskComparison* task : tasks) {
    for (const PairedContrast& contrast : task->by_area) {
      const bool known = std::ranges::any_of(model.contrasts, [&](const OverallContrast& other) {
        return other.ours == contrast.ours && other.baseline == contrast.baseline;
      });
      if (!known) {
        model.contrasts.push_back(overall_contrast(tasks, contrast, less_is_better, options));
      }
    }
  }
}

}  // namespace

void compare_overall(Comparison& comparison) {
  std::vector<std::string> names;
  for (const TaskComparison& task : comparison.tasks) {
    if (std::ranges::find(names, task.model) == names.end()) {
      names.push_back(task.model);
    }
  }
  const bool less_is_better = comparison.metric->less_is_better;
  for (const std::string& name : names) {
    TaskList tasks;
    std::vector<PairedContrast*> by_area;
    std::vector<PairedContrast*> at_end;
    for (TaskComparison& task : comparison.tasks) {
      if (task.model == name) {
        tasks.push_back(&task);
        std::ranges::transform(task.by_area, std::back_inserter(by_area), [](auto& contrast) { return &contrast; });
        std::ranges::transform(task.at_end, std::back_inserter(at_end), [](auto& contrast) { return &contrast; });
      }
    }
    for (const auto& contrasts : {by_area, at_end}) {
      correct(contrasts, &PairedContrast::sign_flip_p, &PairedContrast::sign_flip_overall);
      correct(contrasts, &PairedContrast::wilcoxon_p, &PairedContrast::wilcoxon_overall);
    }
    ModelComparison model{.model = name};
    add_scores(tasks, less_is_better, comparison.options, model);
    add_contrasts(tasks, less_is_better, comparison.options, model);
    model.power = powers_of(tasks, comparison.options.level);
    comparison.models.push_back(std::move(model));
  }
}

}  // namespace dissent
