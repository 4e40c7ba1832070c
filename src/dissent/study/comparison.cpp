#include "dissent/study/comparison.hpp"

#include <algorithm>
#include <cmath>
#include <map>

namespace dissent {

std::vector<double> seed_means(std::span<const RunValue> runs) {
  std::map<std::uint64_t, std::vector<double>> by_seed;
  for (const RunValue& run : runs) {
    if (std::isfinite(run.value)) {
      by_seed[run.seed].push_back(run.value);
    }
  }
  std::vector<double> means;
  for (const auto& [seed, values] : by_seed) {
    means.push_back(moments(values).mean);
  }
  return means;
}

RunSummary summarize(std::span<const RunValue> runs) {
  const std::vector<double> values = seed_means(runs);
  RunSummary summary{.count = values.size()};
  summary.num_diverged = static_cast<std::size_t>(std::ranges::count(runs, true, &RunValue::diverged));
  if (!values.empty()) {
    const Moments found = moments(values);
    summary.mean = found.mean;
    summary.stddev = found.stddev;
    summary.median = median(values);
    summary.trimmed_mean = trimmed_mean(values, kTrimmedShare);
    summary.interquartile_mean = interquartile_mean(values);
  }
  return summary;
}

const CurvePoint* MethodCurve::at(std::size_t after) const {
  const auto found = std::ranges::find(points, after, &CurvePoint::after);
  return found == points.end() ? nullptr : &*found;
}

const MethodCurve* TaskComparison::find(std::string_view method) const {
  const auto found = std::ranges::find(methods, method, &MethodCurve::method);
  return found == methods.end() ? nullptr : &*found;
}

const MethodCurve* TaskComparison::find_acquisition(std::string_view acquisition, std::string_view variant) const {
  const MethodCurve* found = nullptr;
  for (const MethodCurve& curve : methods) {
    const bool fits = curve.acquisition == acquisition && curve.variant == variant;
    if (fits && (found == nullptr || curve.parameter > found->parameter)) {
      found = &curve;
    }
  }
  return found;
}

const ContrastFamily* TaskComparison::family(std::size_t after) const {
  const auto found = std::ranges::find(families, after, &ContrastFamily::after);
  return found == families.end() ? nullptr : &*found;
}

const TaskComparison* Comparison::find(std::string_view problem, std::string_view model) const {
  const auto found = std::ranges::find_if(
      tasks, [&](const TaskComparison& task) { return task.problem == problem && task.model == model; });
  return found == tasks.end() ? nullptr : &*found;
}

}  // namespace dissent
