// The tests of one task: Welch's after every round, and those paired by seed on areas and ends of curves.
#include <algorithm>
#include <cmath>
#include <map>

#include "dissent/statistics/significance.hpp"
#include "dissent/study/comparison_parts.hpp"

namespace dissent {
namespace {

Outcome outcome_of(double difference, double adjusted, bool less_is_better, double level) {
  if (!(adjusted < level) || difference == 0) {
    return Outcome::kTie;
  }
  return (difference < 0) == less_is_better ? Outcome::kBetter : Outcome::kWorse;
}

// In units of `stddev`, positive if ours is better. Without spread it is 0 or infinite.
double effect_of(double difference, double stddev, bool less_is_better) {
  return difference == 0 ? 0 : (less_is_better ? -difference : difference) / stddev;
}

PairedContrast paired_contrast(const MethodPair& pair, std::span<const RunValue> ours,
                               std::span<const RunValue> baseline, bool less_is_better) {
  PairedContrast contrast{.ours = pair.ours->method, .baseline = pair.baseline->method};
  const PairedValues pairs = paired_values(ours, baseline);
  const std::vector<double> differences = pairs.differences();
  contrast.num_pairs = differences.size();
  contrast.diverged_ours = pairs.diverged_ours;
  contrast.diverged_baseline = pairs.diverged_baseline;
  if (differences.empty()) {
    constexpr double kUnknown = std::numeric_limits<double>::quiet_NaN();
    contrast.difference = contrast.effect = kUnknown;
    contrast.sign_flip_p = contrast.sign_flip_adjusted = contrast.sign_flip_overall = kUnknown;
    contrast.wilcoxon_p = contrast.wilcoxon_adjusted = contrast.wilcoxon_overall = kUnknown;
    return contrast;
  }
  const Moments spread = moments(differences);
  contrast.difference = spread.mean;
  contrast.effect = differences.size() > 1 ? effect_of(spread.mean, spread.stddev, less_is_better)
                                           : std::numeric_limits<double>::quiet_NaN();
  contrast.sign_flip_p = sign_flip_test(differences).p_value;
  contrast.wilcoxon_p = wilcoxon_test(differences).p_value;
  return contrast;
}

void correct_within(std::vector<PairedContrast>& contrasts, bool less_is_better, double level) {
  std::vector<PairedContrast*> all;
  add_known(contrasts, all);
  correct(all, &PairedContrast::sign_flip_p, &PairedContrast::sign_flip_adjusted);
  correct(all, &PairedContrast::wilcoxon_p, &PairedContrast::wilcoxon_adjusted);
  for (PairedContrast& contrast : contrasts) {
    contrast.outcome = outcome_of(contrast.difference, contrast.sign_flip_adjusted, less_is_better, level);
    contrast.reachable = least_paired_p(contrast.num_pairs) * static_cast<double>(all.size()) <= level;
  }
}

}  // namespace

std::vector<double> PairedValues::differences() const {
  std::vector<double> result(ours.size());
  std::ranges::transform(ours, baseline, result.begin(), std::minus());
  return result;
}

PairedValues paired_values(std::span<const RunValue> ours, std::span<const RunValue> baseline) {
  std::map<std::pair<std::uint64_t, std::uint64_t>, const RunValue*> matches;
  for (const RunValue& run : baseline) {
    matches[{run.seed, run.data_seed}] = &run;
  }
  struct Values {
    std::vector<double> ours;
    std::vector<double> baseline;
  };
  std::map<std::uint64_t, Values> by_seed;
  PairedValues pairs;
  for (const RunValue& run : ours) {
    const auto found = matches.find({run.seed, run.data_seed});
    if (found != matches.end() && std::isfinite(run.value) && std::isfinite(found->second->value)) {
      by_seed[run.seed].ours.push_back(run.value);
      by_seed[run.seed].baseline.push_back(found->second->value);
      pairs.diverged_ours += run.diverged;
      pairs.diverged_baseline += found->second->diverged;
    }
  }
  for (const auto& [seed, values] : by_seed) {
    pairs.seeds.push_back(seed);
    pairs.ours.push_back(moments(values.ours).mean);
    pairs.baseline.push_back(moments(values.baseline).mean);
  }
  return pairs;
}

Contrast welch_contrast(const std::string& ours, const Moments& a, const std::string& baseline, const Moments& b,
                        bool less_is_better) {
  Contrast contrast{.ours = ours, .baseline = baseline, .num_ours = a.count, .num_baseline = b.count};
  const double n = static_cast<double>(a.count);
  const double m = static_cast<double>(b.count);
  const double pooled =
      std::sqrt(((n - 1) * a.stddev * a.stddev + (m - 1) * b.stddev * b.stddev) / std::max(1.0, n + m - 2));
  contrast.difference = a.mean - b.mean;
  contrast.effect = effect_of(contrast.difference, pooled, less_is_better);
  contrast.p_value = welch_test(a, b).p_value;
  return contrast;
}

void correct(ContrastFamily& family, bool less_is_better, double level) {
  std::vector<double> p_values;
  for (const Contrast& contrast : family.contrasts) {
    p_values.push_back(contrast.p_value);
  }
  const std::vector<double> adjusted = holm_adjusted(p_values);
  for (std::size_t k = 0; k < adjusted.size(); ++k) {
    Contrast& contrast = family.contrasts[k];
    contrast.adjusted = adjusted[k];
    contrast.outcome = outcome_of(contrast.difference, adjusted[k], less_is_better, level);
  }
}

void add_known(std::vector<PairedContrast>& contrasts, std::vector<PairedContrast*>& known) {
  for (PairedContrast& contrast : contrasts) {
    if (contrast.num_pairs > 0) {
      known.push_back(&contrast);
    }
  }
}

void correct(std::span<PairedContrast* const> contrasts, double PairedContrast::*p_value,
             double PairedContrast::*adjusted) {
  std::vector<double> p_values;
  for (const PairedContrast* contrast : contrasts) {
    p_values.push_back(contrast->*p_value);
  }
  const std::vector<double> corrected = holm_adjusted(p_values);
  for (std::size_t k = 0; k < contrasts.size(); ++k) {
    contrasts[k]->*adjusted = corrected[k];
  }
}

std::optional<double> ContrastFamily::better_than_all(std::string_view ours) const {
  if (std::ranges::find(untested, ours) != untested.end()) {
    return std::nullopt;
  }
  std::optional<double> largest;
  for (const Contrast& contrast : contrasts) {
    if (contrast.ours == ours) {
      if (contrast.outcome != Outcome::kBetter) {
        return std::nullopt;
      }
      largest = std::max(largest.value_or(0), contrast.adjusted);
    }
  }
  return largest;
}

void test_task(TaskComparison& task, const MetricTraits& metric, const CompareOptions& options) {
  const std::vector<MethodPair> pairs = compared_pairs(task, options);
  for (std::size_t after = 0; after <= task.last; ++after) {
    ContrastFamily family{.after = after};
    for (const MethodPair& pair : pairs) {
      const CurvePoint* ours = pair.ours->at(after);
      const CurvePoint* theirs = pair.baseline->at(after);
      if (ours != nullptr && theirs != nullptr && ours->summary.count > 1 && theirs->summary.count > 1) {
        Contrast contrast = welch_contrast(pair.ours->method, ours->summary.moments(), pair.baseline->method,
                                           theirs->summary.moments(), metric.less_is_better);
        contrast.diverged_ours = ours->summary.num_diverged;
        contrast.diverged_baseline = theirs->summary.num_diverged;
        family.contrasts.push_back(std::move(contrast));
      } else {
        family.untested.push_back(pair.ours->method);
      }
    }
    if (!family.contrasts.empty()) {
      correct(family, metric.less_is_better, options.level);
      task.families.push_back(std::move(family));
    }
  }
  for (const MethodPair& pair : pairs) {
    task.by_area.push_back(paired_contrast(pair, pair.ours->areas, pair.baseline->areas, metric.less_is_better));
    task.at_end.push_back(paired_contrast(pair, pair.ours->ends, pair.baseline->ends, metric.less_is_better));
  }
  correct_within(task.by_area, metric.less_is_better, options.level);
  correct_within(task.at_end, metric.less_is_better, options.level);
}

std::string PairedContrast::outcome_text() const {
  if (num_pairs == 0) {
    return "";
  }
  return outcome == Outcome::kTie && !reachable ? "open" : std::string(outcome_name(outcome));
}

std::string_view outcome_name(Outcome outcome) {
  constexpr std::string_view kNames[] = {"better", "worse", "tie"};
  return kNames[static_cast<std::size_t>(outcome)];
}

std::string_view significance_mark(double adjusted_p) {
  return adjusted_p < 0.001 ? "***" : adjusted_p < 0.01 ? "**" : adjusted_p < 0.05 ? "*" : "";
}

}  // namespace dissent
