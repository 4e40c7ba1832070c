#include "dissent/study/comparison.hpp"

#include <algorithm>
#include <cmath>

namespace dissent {

Summary summarize(std::span<const double> values) {
  std::vector<double> finite;
  std::ranges::copy_if(values, std::back_inserter(finite), [](double value) { return std::isfinite(value); });
  Summary summary{.count = finite.size(), .num_lost = values.size() - finite.size()};
  if (!finite.empty()) {
    const Moments found = moments(finite);
    summary.mean = found.mean;
    summary.stddev = found.stddev;
    summary.median = median(finite);
    summary.trimmed_mean = trimmed_mean(finite, kTrimmedShare);
    summary.interquartile_mean = interquartile_mean(finite);
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
