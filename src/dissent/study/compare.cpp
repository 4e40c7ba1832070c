// Learning curves by task and method, and the choice of what is compared with what. The tests are in
// comparison_tests.cpp, the results over all problems in comparison_overall.cpp.
#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include "dissent/acquisition/acquisition.hpp"
#include "dissent/base/parse.hpp"
#include "dissent/study/comparison_parts.hpp"
#include "dissent/study/diverged.hpp"

namespace dissent {
namespace {

// Whether a method chooses by estimates without samples, or for where predictions are needed. Unknown names are
// baselines.
bool is_pairwise_or_aim(std::string_view name) {
  const auto known = std::ranges::find(acquisitions(), name, &AcquisitionInfo::name);
  return known != acquisitions().end() && ((known->estimates && !known->samples) || known->uses_aim);
}

double parameter_of(const std::string& acquisition) {
  const std::size_t colon = acquisition.find(':');
  return colon == std::string::npos ? 0 : parse_number(acquisition.substr(colon + 1)).value_or(0);
}

std::string variant_of(const StudyRun& run) {
  return run.method.size() > run.acquisition.size() ? run.method.substr(run.acquisition.size() + 2) : "";
}

bool is_named(const MethodCurve& curve, std::span<const std::string> names) {
  return std::ranges::any_of(
      names, [&](const std::string& name) { return name == curve.method || name == curve.acquisition; });
}

bool is_ours(const MethodCurve& curve, const CompareOptions& options) {
  return options.ours.empty() ? is_pairwise_or_aim(curve.acquisition) : is_named(curve, options.ours);
}

std::size_t last_round(std::span<const StudyRun* const> runs, const CompareOptions& options) {
  std::size_t last = 0;
  for (const StudyRun* run : runs) {
    if (!run->rounds.empty()) {
      last = std::max(last, run->rounds.back().round - 1);
    }
  }
  return std::min(last, options.until.value_or(last));
}

// Adds the area and the end of a run if it reached the last round. Returns whether it did.
bool add_area(const StudyRun& run, const WorstValues& metric, std::size_t last, MethodCurve& curve) {
  std::vector<double> after;
  std::vector<double> height;
  bool diverged = false;
  for (const RoundRecord& record : run.rounds) {
    if (record.round <= last + 1) {
      after.push_back(static_cast<double>(record.round));
      height.push_back(metric.of(record));
      diverged = diverged || metric.diverged(record);
    }
  }
  if (after.empty() || after.back() != static_cast<double>(last + 1)) {
    return false;
  }
  const bool known = !std::isnan(height.back());  // all of them, or none
  const double area = known ? mean_height(after, height) : std::numeric_limits<double>::quiet_NaN();
  const auto end = std::ranges::find(run.rounds, last + 1, &RoundRecord::round);
  curve.areas.push_back({run.seed, run.data_seed, area, diverged});
  curve.ends.push_back({run.seed, run.data_seed, height.back(), metric.diverged(*end)});
  return true;
}

// The runs' values after a number of rounds.
struct RoundValues {
  std::vector<RunValue> metric = {};
  double labelled = 0;
};

std::vector<CurvePoint> curve_points(std::span<const StudyRun* const> runs, const WorstValues& metric,
                                     std::size_t last) {
  std::map<std::size_t, RoundValues> by_round;
  for (const StudyRun* run : runs) {
    for (const RoundRecord& record : run->rounds) {
      if (record.round <= last + 1) {
        RoundValues& values = by_round[record.round - 1];
        values.metric.push_back({run->seed, run->data_seed, metric.of(record), metric.diverged(record)});
        values.labelled += static_cast<double>(record.labelled);
      }
    }
  }
  std::vector<CurvePoint> points;
  for (const auto& [after, values] : by_round) {
    points.push_back({after, values.labelled / static_cast<double>(values.metric.size()), summarize(values.metric)});
  }
  return points;
}

MethodCurve make_curve(std::span<const StudyRun* const> runs, const WorstValues& metric, std::size_t last,
                       const CompareOptions& options) {
  const StudyRun& first = *runs.front();
  MethodCurve curve{.method = first.method,
                    .acquisition = acquisition_name(first.acquisition),
                    .parameter = parameter_of(first.acquisition),
                    .variant = variant_of(first)};
  curve.ours = is_ours(curve, options);
  curve.points = curve_points(runs, metric, last);
  std::set<std::uint64_t> seeds;
  for (const StudyRun* run : runs) {
    if (!run->rounds.empty()) {
      seeds.insert(run->seed);
    }
    if (!add_area(*run, metric, last, curve)) {
      ++curve.num_unfinished;
      curve.num_failed += run->state == CellState::kFailed;
    }
  }
  curve.num_seeds = seeds.size();
  curve.area = summarize(curve.areas);
  curve.end = summarize(curve.ends);
  return curve;
}

// Groups, in the order in which their keys first appear.
template <class Key, class Item>
class Groups {
 public:
  void add(const Key& key, const Item& item) {
    const auto [found, is_new] = position_.try_emplace(key, groups_.size());
    if (is_new) {
      groups_.emplace_back();
    }
    groups_[found->second].push_back(item);
  }
  const std::vector<std::vector<Item>>& groups() const { return groups_; }

 private:
  std::map<Key, std::size_t> position_;
  std::vector<std::vector<Item>> groups_;
};

TaskComparison make_task(const std::vector<const StudyRun*>& runs, const MetricTraits& metric,
                         const CompareOptions& options) {
  TaskComparison task{.problem = runs.front()->problem, .model = runs.front()->model};
  task.last = last_round(runs, options);
  Groups<std::string, const StudyRun*> methods;
  for (const StudyRun* run : runs) {
    methods.add(run->method, run);
  }
  const WorstValues values(runs, metric);
  for (const auto& group : methods.groups()) {
    task.methods.push_back(make_curve(group, values, task.last, options));
  }
  return task;
}

// If no task has a method of ours, all methods but random count as ours and are compared with it.
void compare_with_chance(std::vector<TaskComparison>& tasks) {
  const auto has_ours = [](const TaskComparison& task) {
    return std::ranges::any_of(task.methods, &MethodCurve::ours);
  };
  if (std::ranges::any_of(tasks, has_ours)) {
    return;
  }
  for (TaskComparison& task : tasks) {
    for (MethodCurve& curve : task.methods) {
      curve.ours = curve.acquisition != "random";
    }
  }
}

// With methods given by their full names.
Comparison compare_named(const StudyResults& results, const CompareOptions& options) {
  Comparison comparison{
      .study = results.study, .source = results.source, .options = options, .metric = &find_metric(options.metric)};
  Groups<std::pair<std::string, std::string>, const StudyRun*> tasks;
  for (const StudyRun& run : results.runs) {
    tasks.add({run.problem, run.model}, &run);
  }
  for (const auto& group : tasks.groups()) {
    comparison.tasks.push_back(make_task(group, *comparison.metric, options));
  }
  if (options.ours.empty()) {
    compare_with_chance(comparison.tasks);
  }
  for (TaskComparison& task : comparison.tasks) {
    test_task(task, *comparison.metric, options);
  }
  compare_overall(comparison);
  return comparison;
}

}  // namespace

std::vector<MethodPair> compared_pairs(const TaskComparison& task, const CompareOptions& options) {
  std::vector<MethodPair> pairs;
  for (const MethodCurve& ours : task.methods) {
    for (const MethodCurve& theirs : task.methods) {
      const bool baseline =
          options.baselines.empty() ? !theirs.ours : is_named(theirs, options.baselines) && &ours != &theirs;
      const bool both_named = !options.ours.empty() && !options.baselines.empty();
      if (ours.ours && baseline && (both_named || ours.variant == theirs.variant)) {
        pairs.push_back({&ours, &theirs});
      }
    }
  }
  return pairs;
}

Comparison compare(const StudyResults& results, const CompareOptions& options) {
  return std::move(compare_studies(std::span(&results, 1), options).front());
}

std::vector<Comparison> compare_studies(std::span<const StudyResults> studies, const CompareOptions& options) {
  const std::vector<std::string> known = method_names(studies);
  CompareOptions named = options;
  named.ours = find_methods(options.ours, known);
  named.baselines = find_methods(options.baselines, known);
  std::vector<Comparison> comparisons;
  for (const StudyResults& results : studies) {
    comparisons.push_back(compare_named(results, named));
  }
  return comparisons;
}

}  // namespace dissent
