// Results over all problems of a model: the probability of improvement, wins and losses.
#include <algorithm>

#include "dissent/study/comparison_parts.hpp"

namespace dissent {
namespace {

// Draws the tasks of ours and those of theirs together.
Interval improvement(const TaskRuns& ours, const TaskRuns& theirs, bool less_is_better, const CompareOptions& options) {
  TaskRuns both = ours;
  both.insert(both.end(), theirs.begin(), theirs.end());
  const auto half = static_cast<std::ptrdiff_t>(ours.size());
  const RunStatistic statistic = [&](const TaskRuns& runs) {
    const TaskRuns a(runs.begin(), runs.begin() + half);
    const TaskRuns b(runs.begin() + half, runs.end());
    return less_is_better ? probability_of_improvement(b, a) : probability_of_improvement(a, b);
  };
  return run_interval(both, statistic, options);
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
      const std::vector<double> a = seed_means(task->find(names.ours)->areas);
      const std::vector<double> b = seed_means(task->find(names.baseline)->areas);
      if (contrast.num_pairs > 0) {
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
    std::size_t num_diverged = 0;
    std::vector<PairedContrast*> by_area;
    std::vector<PairedContrast*> at_end;
    for (TaskComparison& task : comparison.tasks) {
      if (task.model == name) {
        tasks.push_back(&task);
        for (const MethodCurve& curve : task.methods) {
          num_diverged += curve.area.num_diverged;
        }
        add_known(task.by_area, by_area);
        add_known(task.at_end, at_end);
      }
    }
    for (const auto& contrasts : {by_area, at_end}) {
      correct(contrasts, &PairedContrast::sign_flip_p, &PairedContrast::sign_flip_overall);
      correct(contrasts, &PairedContrast::wilcoxon_p, &PairedContrast::wilcoxon_overall);
    }
    ModelComparison model{.model = name, .num_diverged = num_diverged};
    add_scores(tasks, less_is_better, comparison.options, model);
    add_contrasts(tasks, less_is_better, comparison.options, model);
    model.power = powers_of(tasks, comparison.options.level);
    comparison.models.push_back(std::move(model));
  }
}

}  // namespace dissent
