// Claims that are judged by the runs of campaigns.
#include <algorithm>
#include <cmath>
#include <iterator>

#include "dissent/base/names.hpp"
#include "dissent/study/claims_parts.hpp"
#include "dissent/study/paper_numbers.hpp"

namespace dissent {
namespace {

constexpr std::string_view kLowDimension[] = {"hetero", "bimodal", "pendulum", "hopper"};
constexpr std::string_view kPairwise[] = {"kl", "bhattacharyya"};
constexpr std::string_view kBaselines[] = {"random", "batchbald", "badge", "bait", "mc"};

std::vector<std::string> models_of(Evidence evidence) {
  std::vector<std::string> models;
  for (const StudyEvidence& study : evidence) {
    for (const ModelComparison& model : study.rmse.models) {
      if (std::ranges::find(models, model.model) == models.end()) {
        models.push_back(model.model);
      }
    }
  }
  return models;
}

std::string place(const StudyEvidence& study, const TaskComparison& task) {
  return fmt::format("{}{}, {}", study.label, task.model, task.problem);
}

// What a finding of ours was tried on, which is its note.
std::string tried_on(const TaskComparison& task) {
  return fmt::format("{} ({})", task.problem, counted(task.last, "round"));
}

Finding missing(const std::string& where) { return {.where = where, .says = "there are no runs"}; }

// Compares each method with its counterpart by areas under RMSE curves, wherever both exist.
template <class Counterpart>
Findings area_findings(Evidence evidence, const Counterpart& counterpart) {
  std::vector<Difference> differences;
  for (const StudyEvidence& study : evidence) {
    for (const TaskComparison& task : study.rmse.tasks) {
      for (const MethodCurve& curve : task.methods) {
        if (const MethodCurve* other = counterpart(task, curve)) {
          differences.push_back({fmt::format("{}: {} against {}", place(study, task), curve.method, other->method),
                                 paired_values(curve.areas, other->areas), tried_on(task)});
        }
      }
    }
  }
  return sign_flip_findings(differences, true);
}

// Whether a variant has an axis: as the only one, "candidates=1000", or as one of several.
bool has_axis(std::string_view variant, std::string_view axis) {
  return fmt::format(", {}", variant).find(fmt::format(", {}=", axis)) != std::string::npos;
}

std::string replaced(std::string text, std::string_view from, std::string_view to) {
  const std::size_t at = text.find(from);
  return at == std::string::npos ? std::string() : text.replace(at, from.size(), to);
}

// The test of these methods; with a p-value of 1 if it has no runs.
Contrast welch_of(const TaskComparison& task, std::string_view ours, std::string_view baseline) {
  const MethodCurve* a = task.find_acquisition(ours);
  const MethodCurve* b = task.find_acquisition(baseline);
  const ContrastFamily* family = task.family(task.last);
  if (a != nullptr && b != nullptr && family != nullptr) {
    for (const Contrast& contrast : family->contrasts) {
      if (contrast.ours == a->method && contrast.baseline == b->method) {
        return contrast;
      }
    }
  }
  return {.ours = std::string(ours), .baseline = std::string(baseline)};
}

// enough: whether there are so many runs that a tie decides.
Finding welch_finding(const StudyEvidence& study, const TaskComparison& task, const Contrast& contrast, bool enough) {
  Finding finding{.where = fmt::format("{}: {} against {}", place(study, task), acquisition_name(contrast.ours),
                                       acquisition_name(contrast.baseline)),
                  .note = short_runs(study, task)};
  const MethodCurve* a = task.find(contrast.ours);
  const MethodCurve* b = task.find(contrast.baseline);
  if (a == nullptr || b == nullptr || contrast.num_ours == 0) {
    finding.says = "there are no runs, or only one";
    return finding;
  }
  finding.num_seeds = std::min(contrast.num_ours, contrast.num_baseline);
  finding.diverged_ours = contrast.diverged_ours;
  finding.diverged_theirs = contrast.diverged_baseline;
  finding.verdict = contrast.outcome == Outcome::kBetter            ? Verdict::kHolds
                    : contrast.outcome == Outcome::kWorse || enough ? Verdict::kFails
                                                                    : Verdict::kOpen;
  finding.says =
      fmt::format("{:.3g} against {:.3g}, {:.2f} standard deviations {}, adjusted p {:.2g}", a->end.mean, b->end.mean,
                  std::abs(contrast.effect), contrast.effect < 0 ? "worse" : "better", contrast.adjusted);
  return finding;
}

// Whether Welch's test separates both of ours from every baseline. Holm corrects over all of these tests. One without
// runs counts as p = 1, so what is better or worse without it stays so when its runs come; a tie may not. So a tie is
// open until each test has all seeds of the paper.
Findings welch_findings(const StudyEvidence& study, const TaskComparison& task) {
  ContrastFamily all{.after = task.last};
  for (const std::string_view ours : kPairwise) {
    for (const std::string_view baseline : kBaselines) {
      all.contrasts.push_back(welch_of(task, ours, baseline));
    }
  }
  correct(all, true, kLevel);
  const bool enough = std::ranges::all_of(all.contrasts, [](const Contrast& contrast) {
    return std::min(contrast.num_ours, contrast.num_baseline) >= kPaperSeeds;
  });
  Findings findings;
  for (const Contrast& contrast : all.contrasts) {
    findings.push_back(welch_finding(study, task, contrast, enough));
  }
  return findings;
}

}  // namespace

Findings match_in_low_dimension(Evidence evidence) {
  Findings findings;
  for (const std::string& model : models_of(evidence)) {
    for (const std::string_view problem : kLowDimension) {
      for (const std::string_view ours : kPairwise) {
        const std::size_t before = findings.size();
        for (const StudyEvidence& study : evidence) {
          const TaskComparison* task = study.rmse.find(problem, model);
          const MethodCurve* a = task == nullptr ? nullptr : task->find_acquisition(ours);
          const MethodCurve* b = task == nullptr ? nullptr : task->find_acquisition("mc");
          if (a != nullptr && b != nullptr) {
            findings.push_back(ratio_finding(place(study, *task), *a, *b, &MethodCurve::areas));
            findings.back().note = short_runs(study, *task);
          }
        }
        if (findings.size() == before) {
          findings.push_back(missing(fmt::format("{}, {}: {} against mc", model, problem, ours)));
        }
      }
    }
  }
  return findings;
}

// A study of only some methods decides nothing beside one of them all; nor does one that varies more than methods.
Findings beat_all_on_humanoid(Evidence evidence) {
  const auto has_all = [](const TaskComparison& task) {
    const auto has = [&](std::string_view method) { return task.find_acquisition(method) != nullptr; };
    return task.problem == "humanoid" && std::ranges::all_of(kPairwise, has) && std::ranges::all_of(kBaselines, has);
  };
  const auto is_plain = [](const TaskComparison& task) {
    return std::ranges::all_of(task.methods, &std::string::empty, &MethodCurve::variant);
  };
  const bool any_has_all = std::ranges::any_of(
      evidence, [&](const StudyEvidence& study) { return std::ranges::any_of(study.rmse.tasks, has_all); });
  Findings findings;
  for (const StudyEvidence& study : evidence) {
    for (const TaskComparison& task : study.rmse.tasks) {
      if (task.problem == "humanoid" && is_plain(task) && (has_all(task) || !any_has_all)) {
        std::ranges::move(welch_findings(study, task), std::back_inserter(findings));
      }
    }
  }
  return findings;
}

Findings five_components_suffice(Evidence evidence) {
  Findings findings;
  for (const StudyEvidence& study : evidence) {
    for (const TaskComparison& task : study.rmse.tasks) {
      for (const std::string_view ours : kPairwise) {
        const MethodCurve* five = task.find_acquisition(ours, "components=5");
        const MethodCurve* ten = task.find_acquisition(ours, "components=10");
        if (task.problem == "hopper" && five != nullptr && ten != nullptr) {
          findings.push_back(ratio_finding(place(study, task), *five, *ten, &MethodCurve::ends));
          findings.back().note = short_runs(study, task);
        }
      }
    }
  }
  return findings;
}

Findings flows_beat_pne(Evidence evidence) {
  std::vector<Difference> differences;
  for (const StudyEvidence& study : evidence) {
    const TaskComparison* flows = study.log_likelihood.find("bimodal", "flow");
    for (const StudyEvidence& other : evidence) {
      const TaskComparison* networks = other.log_likelihood.find("bimodal", "pne");
      if (flows == nullptr || networks == nullptr || flows->last != networks->last) {
        continue;
      }
      const std::string of_flows = short_runs(study, *flows);
      const std::string note = of_flows.empty() ? short_runs(other, *networks) : of_flows;
      for (const MethodCurve& curve : flows->methods) {
        if (const MethodCurve* match = networks->find(curve.method)) {
          differences.push_back({fmt::format("bimodal: {}, flow against pne", curve.method),
                                 paired_values(curve.ends, match->ends), note});
        }
      }
    }
  }
  return sign_flip_findings(differences, false);
}

Findings deficit_beats_value(Evidence evidence) {
  return area_findings(evidence, [](const TaskComparison& task, const MethodCurve& curve) {
    const std::string other = replaced(curve.method, "ranking=deficit", "ranking=value");
    return other.empty() ? nullptr : task.find(other);
  });
}

Findings joint_beats_single(Evidence evidence) {
  return area_findings(evidence, [](const TaskComparison& task, const MethodCurve& curve) {
    const bool joint = curve.acquisition == "kl-joint" || curve.acquisition == "bhattacharyya-joint";
    return joint ? task.find(replaced(curve.method, "-joint", "")) : nullptr;
  });
}

Findings aim_beats_none(Evidence evidence) {
  return area_findings(evidence, [](const TaskComparison& task, const MethodCurve& curve) {
    const bool aimed = curve.acquisition == "aim" || curve.acquisition == "kl-aim";
    return aimed ? task.find_acquisition("kl", curve.variant) : nullptr;
  });
}

Findings match_with_equal_candidates(Evidence evidence) {
  Findings findings;
  for (const StudyEvidence& study : evidence) {
    for (const TaskComparison& task : study.rmse.tasks) {
      for (const MethodCurve& curve : task.methods) {
        const bool pairwise = std::ranges::find(kPairwise, curve.acquisition) != std::end(kPairwise);
        const MethodCurve* mc = task.find_acquisition("mc", curve.variant);
        if (pairwise && has_axis(curve.variant, "candidates") && mc != nullptr) {
          findings.push_back(ratio_finding(place(study, task), curve, *mc, &MethodCurve::areas));
          findings.back().note = tried_on(task);
        }
      }
    }
  }
  return findings;
}

}  // namespace dissent
