// Claims that are judged by measurements of estimators: seconds, ranks, bias.
#include <algorithm>
#include <cmath>
#include <functional>
#include <map>

#include "dissent/base/names.hpp"
#include "dissent/statistics/significance.hpp"
#include "dissent/study/claims_parts.hpp"

namespace dissent {
namespace {

constexpr double kConfidence = 0.90;
constexpr std::string_view kPairwise[] = {"kl", "bhattacharyya"};

bool is_pairwise(const std::string& estimator) {
  return std::ranges::find(kPairwise, estimator) != std::end(kPairwise);
}

bool is_monte_carlo(const std::string& estimator) { return estimator.substr(0, estimator.find(':')) == "mc"; }

// Values measured at one place, by seed; several with one seed are averaged.
using BySeed = std::map<std::uint64_t, std::vector<double>>;

std::vector<double> seed_means(const BySeed& values) {
  std::vector<double> means;
  for (const auto& [seed, several] : values) {
    means.push_back(moments(several).mean);
  }
  return means;
}

enum class Wanted { kAbove, kBelow };

// Whether the whole interval of the mean lies on the wanted side of the limit.
Finding side_finding(const std::string& where, const std::vector<double>& values, Wanted wanted, double limit,
                     const std::function<std::string(const Interval& interval)>& say) {
  Finding finding{.where = where, .num_seeds = values.size()};
  if (values.size() < 2) {
    finding.says = fmt::format("measured with {}", counted(values.size(), "seed"));
    return finding;
  }
  const Interval interval = mean_interval(values, kConfidence);
  const bool above = interval.low >= limit;
  const bool below = interval.high <= limit;
  if (above || below) {
    finding.verdict = above == (wanted == Wanted::kAbove) ? Verdict::kHolds : Verdict::kFails;
  }
  finding.says = say(interval);
  return finding;
}

std::string outputs_text(const Measurement& measurement) {
  const std::string problem = measurement.problem.empty() ? "" : measurement.problem + ", ";
  const std::string model = measurement.model.empty() ? "" : measurement.model + ", ";
  return fmt::format("{}{}{}, {}", model, problem, counted(measurement.outputs, "output"),
                     counted(measurement.components, "component"));
}

// Values of one kind by place, in the order they were measured.
struct Place {
  std::string name;
  BySeed values = {};
  std::size_t num_unknown = 0;  // values that are not finite
};

Place& place_of(std::vector<Place>& places, const std::string& name) {
  const auto found = std::ranges::find(places, name, &Place::name);
  return found == places.end() ? places.emplace_back(Place{.name = name}) : *found;
}

// Monte Carlo is judged by its largest number of samples.
std::map<std::pair<std::string, std::uint64_t>, double> sampling_seconds(const StudyResults& results) {
  std::map<std::pair<std::string, std::uint64_t>, std::pair<std::size_t, double>> most;
  for (const Measurement& measured : results.measurements) {
    if (measured.kind == "seconds" && is_monte_carlo(measured.estimator)) {
      auto& [samples, seconds] = most[{outputs_text(measured), measured.seed}];
      if (measured.samples >= samples) {
        samples = measured.samples;
        seconds = measured.value;
      }
    }
  }
  std::map<std::pair<std::string, std::uint64_t>, double> result;
  for (const auto& [key, value] : most) {
    result[key] = value.second;
  }
  return result;
}

using Says = std::string(const Interval& interval);

// What the mean over seeds says at each place; `visit(study, add)` calls add(where, seed, value) for each value.
// Measurements of the kind `sampled` tell how many samples were drawn.
template <class Visit>
Findings findings_by_place(Evidence evidence, std::string_view sampled, Wanted wanted, double limit, Says* says,
                           const Visit& visit) {
  Findings findings;
  for (const StudyEvidence& study : evidence) {
    std::vector<Place> places;
    visit(study, [&](const std::string& where, std::uint64_t seed, double value) {
      Place& place = place_of(places, study.label + where);
      if (std::isfinite(value)) {
        place.values[seed].push_back(value);
      } else {
        ++place.num_unknown;
      }
    });
    for (const Place& place : places) {
      findings.push_back(side_finding(place.name, seed_means(place.values), wanted, limit, says));
      findings.back().note = short_measurements(study, sampled);
      if (place.num_unknown > 0) {  // the others do not speak for them
        findings.back().verdict = Verdict::kOpen;
        findings.back().says += fmt::format("; {} not finite", counted(place.num_unknown, "value"));
      }
    }
  }
  return findings;
}

std::string model_text(const Measurement& measured) {
  return fmt::format("{}, {}: {}", measured.model, measured.problem, measured.estimator);
}

std::string shape_text(const Measurement& measured) {
  return fmt::format("{}: {}", outputs_text(measured), measured.estimator);
}

}  // namespace

Findings cheaper_than_samples(Evidence evidence) {
  const auto says = [](const Interval& interval) {
    return fmt::format("{:.3g} times cheaper, 90% interval {:.3g} to {:.3g}", std::exp(interval.estimate),
                       std::exp(interval.low), std::exp(interval.high));
  };
  return findings_by_place(evidence, "seconds", Wanted::kAbove, std::log(kCheaper), says,
                           [](const StudyEvidence& study, const auto& add) {
                             const auto sampling = sampling_seconds(*study.results);
                             for (const Measurement& measured : study.results->measurements) {
                               const auto found = sampling.find({outputs_text(measured), measured.seed});
                               if (measured.kind == "seconds" && is_pairwise(measured.estimator) &&
                                   found != sampling.end() && measured.value > 0 && found->second > 0) {
                                 add(shape_text(measured), measured.seed, std::log(found->second / measured.value));
                               }
                             }
                           });
}

Findings rank_like_samples(Evidence evidence) {
  const auto says = [](const Interval& interval) {
    return fmt::format("{:.4f}, 90% interval {:.4f} to {:.4f}", interval.estimate, interval.low, interval.high);
  };
  return findings_by_place(evidence, "spearman", Wanted::kAbove, kRankLimit, says,
                           [](const StudyEvidence& study, const auto& add) {
                             for (const Measurement& measured : study.results->measurements) {
                               if (measured.kind == "spearman" && is_pairwise(measured.estimator)) {
                                 add(model_text(measured), measured.seed, measured.value);
                               }
                             }
                           });
}

Findings few_samples_in_the_time(Evidence evidence) {
  const auto says = [](const Interval& interval) {
    return fmt::format("{:.3g} samples, 90% interval {:.3g} to {:.3g}", interval.estimate, interval.low, interval.high);
  };
  return findings_by_place(evidence, "seconds", Wanted::kBelow, kFewSamples, says,
                           [](const StudyEvidence& study, const auto& add) {
                             for (const Measurement& measured : study.results->measurements) {
                               if (measured.kind == "matched_samples" && measured.outputs >= kManyOutputs) {
                                 add(shape_text(measured), measured.seed, measured.value);
                               }
                             }
                           });
}

Findings small_bias(Evidence evidence) {
  const auto says = [](const Interval& interval) {
    return fmt::format("{:.3g} of ln M, 90% interval {:.3g} to {:.3g}", interval.estimate, interval.low, interval.high);
  };
  return findings_by_place(
      evidence, "spearman", Wanted::kBelow, kBiasShare, says, [](const StudyEvidence& study, const auto& add) {
        for (const Measurement& measured : study.results->measurements) {
          if (measured.kind == "bias" && is_pairwise(measured.estimator) && measured.components > 1) {
            const double most = std::log(static_cast<double>(measured.components));
            add(model_text(measured), measured.seed, std::abs(measured.value) / most);
          }
        }
      });
}

}  // namespace dissent
