// The two tests that most claims about runs are judged by, and how runs fall short of the paper's.
#include <algorithm>
#include <cmath>
#include <map>

#include "dissent/base/names.hpp"
#include "dissent/statistics/significance.hpp"
#include "dissent/study/claims_parts.hpp"
#include "dissent/study/paper_numbers.hpp"

namespace dissent {
namespace {

constexpr double kConfidence = 0.90;  // both ends: each is a one-sided test at the level

}  // namespace

Finding ratio_finding(const std::string& where, const MethodCurve& ours, const MethodCurve& theirs,
                      std::vector<RunValue> MethodCurve::*runs) {
  const PairedValues pairs = paired_values(ours.*runs, theirs.*runs);
  std::vector<double> ratios;
  for (std::size_t k = 0; k < pairs.ours.size(); ++k) {
    if (pairs.ours[k] > 0 && pairs.baseline[k] > 0) {
      ratios.push_back(std::log(pairs.ours[k] / pairs.baseline[k]));
    }
  }
  Finding finding{.where = fmt::format("{}: {} against {}", where, ours.method, theirs.method),
                  .num_seeds = ratios.size(),
                  .diverged_ours = pairs.diverged_ours,
                  .diverged_theirs = pairs.diverged_baseline};
  if (ratios.size() < 2) {
    finding.says = fmt::format("{} in common", counted(ratios.size(), "seed"));
    return finding;
  }
  const Interval interval = mean_interval(ratios, kConfidence);
  finding.verdict = interval.high < std::log(kMargin)  ? Verdict::kHolds
                    : interval.low > std::log(kMargin) ? Verdict::kFails
                                                       : Verdict::kOpen;
  finding.says = fmt::format("{:.3f} times, 90% interval {:.3f} to {:.3f}", std::exp(interval.estimate),
                             std::exp(interval.low), std::exp(interval.high));
  return finding;
}

std::string short_runs(const StudyEvidence& study, const TaskComparison& task) {
  if (task.last == 0) {
    return "";  // none has begun
  }
  std::vector<std::string> parts;
  if (task.last < kPaperRounds) {
    parts.push_back(fmt::format("{} of {} rounds", task.last, kPaperRounds));
  }
  std::size_t epochs = kPaperEpochs;
  for (const StudyRun& run : study.results->runs) {
    if (run.problem == task.problem && run.model == task.model && run.epochs > 0) {
      epochs = std::min(epochs, run.epochs);
    }
  }
  if (epochs < kPaperEpochs) {
    parts.push_back(fmt::format("{} of {} epochs", epochs, kPaperEpochs));
  }
  return parts.empty() ? "" : fmt::format("{}{}", study.label, fmt::join(parts, ", "));
}

std::string short_measurements(const StudyEvidence& study, std::string_view kind) {
  std::map<std::string, std::size_t> most;  // by problem
  for (const Measurement& measured : study.results->measurements) {
    if (measured.kind == kind && measured.samples > 0) {
      most[measured.problem] = std::max(most[measured.problem], measured.samples);
    }
  }
  std::size_t fewest = kPaperSamples;
  for (const auto& [problem, samples] : most) {
    fewest = std::min(fewest, samples);
  }
  return fewest == kPaperSamples
             ? ""
             : fmt::format("{}quick measurements, {} of {} samples", study.label, fewest, kPaperSamples);
}

Findings sign_flip_findings(const std::vector<Difference>& differences, bool less_is_better) {
  std::vector<double> p_values;
  for (const Difference& difference : differences) {
    const std::vector<double> values = difference.pairs.differences();
    p_values.push_back(values.empty() ? 1.0 : sign_flip_test(values).p_value);
  }
  const std::vector<double> adjusted = holm_adjusted(p_values);
  Findings findings;
  for (std::size_t k = 0; k < differences.size(); ++k) {
    const PairedValues& pairs = differences[k].pairs;
    const std::vector<double> values = pairs.differences();
    Finding finding{.where = differences[k].where,
                    .num_seeds = values.size(),
                    .diverged_ours = pairs.diverged_ours,
                    .diverged_theirs = pairs.diverged_baseline,
                    .note = differences[k].note};
    if (values.size() < 2) {
      finding.says = fmt::format("{} in common", counted(values.size(), "seed"));
      findings.push_back(std::move(finding));
      continue;
    }
    const Moments spread = moments(values);
    if (adjusted[k] < kLevel) {
      finding.verdict = (spread.mean < 0) == less_is_better ? Verdict::kHolds : Verdict::kFails;
    }
    const double better = less_is_better ? -spread.mean : spread.mean;
    finding.says =
        fmt::format("{} by {:.3g}, {:.2f} standard deviations, adjusted p {:.2g}", better < 0 ? "worse" : "better",
                    std::abs(better), spread.mean == 0 ? 0.0 : std::abs(better) / spread.stddev, adjusted[k]);
    findings.push_back(std::move(finding));
  }
  return findings;
}

}  // namespace dissent
