// Learning curves by task and method, and the choice of what is compared with what. The tests are in
// comparison_tests.cpp, what is said over all problems in comparison_overall.cpp.
#include <algorithm>
#include <cmath>
#include <map>

#include "dissent/base/error.hpp"
#include "dissent/base/names.hpp"
#include "dissent/base/parse.hpp"
#include "dissent/study/comparison_parts.hpp"

namespace dissent {
namespace {

constexpr std::string_view kOurs[] = {"kl", "bhattacharyya", "kl-joint", "bhattacharyya-joint"};

std::string acquisition_name(const std::string& acquisition) { return acquisition.substr(0, acquisition.find(':')); }

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

// The values of each round, of all runs of one method.
struct RoundValues {
  std::vector<double> metric = {};
  double labelled = 0;
};

bool is_ours(const MethodCurve& curve, const CompareOptions& options) {
  return options.ours.empty() ? std::ranges::find(kOurs, curve.acquisition) != std::end(kOurs)
                              : is_named(curve, options.ours);
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

void add_area(const StudyRun& run, const MetricTraits& metric, std::size_t last, MethodCurve& curve) {
  std::vector<double> after;
  std::vector<double> height;
  for (const RoundRecord& record : run.rounds) {
    if (record.round <= last + 1) {
      after.push_back(static_cast<double>(record.round));
      height.push_back(record.*metric.member);
    }
  }
  if (after.empty() || after.back() != static_cast<double>(last + 1)) {
    return;
  }
  const bool whole = std::ranges::all_of(height, [](double value) { return std::isfinite(value); });
  const double area = whole ? mean_height(after, height) : std::numeric_limits<double>::quiet_NaN();
  curve.areas.push_back({run.seed, run.data_seed, area});
  curve.ends.push_back({run.seed, run.data_seed, height.back()});
}

std::vector<double> values_of(std::span<const RunValue> runs) {
  std::vector<double> values;
  for (const RunValue& run : runs) {
    values.push_back(run.value);
  }
  return values;
}

MethodCurve make_curve(std::span<const StudyRun* const> runs, const MetricTraits& metric, std::size_t last,
                       const CompareOptions& options) {
  const StudyRun& first = *runs.front();
  MethodCurve curve{.method = first.method,
                    .acquisition = acquisition_name(first.acquisition),
                    .parameter = parameter_of(first.acquisition),
                    .variant = variant_of(first)};
  curve.ours = is_ours(curve, options);
  std::map<std::size_t, RoundValues> by_round;
  for (const StudyRun* run : runs) {
    curve.num_runs += !run->rounds.empty();
    for (const RoundRecord& record : run->rounds) {
      if (record.round <= last + 1) {
        by_round[record.round - 1].metric.push_back(record.*metric.member);
        by_round[record.round - 1].labelled += static_cast<double>(record.labelled);
      }
    }
    add_area(*run, metric, last, curve);
  }
  for (const auto& [after, values] : by_round) {
    curve.points.push_back(
        {after, values.labelled / static_cast<double>(values.metric.size()), summarize(values.metric)});
  }
  curve.area = summarize(values_of(curve.areas));
  curve.end = summarize(values_of(curve.ends));
  return curve;
}

// Groups in the order in which their keys come first.
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
  for (const auto& group : methods.groups()) {
    task.methods.push_back(make_curve(group, metric, task.last, options));
  }
  return task;
}

// Every name that was given stands for some method.
void check_methods(const Comparison& comparison, std::span<const std::string> names) {
  std::vector<std::string> known;
  for (const TaskComparison& task : comparison.tasks) {
    for (const MethodCurve& curve : task.methods) {
      for (const std::string& name : {curve.method, curve.acquisition}) {
        if (std::ranges::find(known, name) == known.end()) {
          known.push_back(name);
        }
      }
    }
  }
  for (const std::string& name : names) {
    check_name("method", name, known);
  }
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
  Comparison comparison{
      .study = results.study, .source = results.source, .options = options, .metric = &find_metric(options.metric)};
  Groups<std::pair<std::string, std::string>, const StudyRun*> tasks;
  for (const StudyRun& run : results.runs) {
    tasks.add({run.problem, run.model}, &run);
  }
  for (const auto& group : tasks.groups()) {
    comparison.tasks.push_back(make_task(group, *comparison.metric, options));
  }
  check_methods(comparison, options.ours);
  check_methods(comparison, options.baselines);
  for (TaskComparison& task : comparison.tasks) {
    test_task(task, *comparison.metric, options);
  }
  compare_overall(comparison);
  return comparison;
}

}  // namespace dissent
