#include "dissent/report/study_page.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <span>
#include <utility>

#include "dissent/base/names.hpp"
#include "dissent/report/study_curves.hpp"
#include "dissent/report/study_measures.hpp"
#include "dissent/report/study_overall.hpp"
#include "dissent/report/study_paper.hpp"
#include "dissent/report/study_runs.hpp"
#include "dissent/report/study_tables.hpp"
#include "dissent/report/study_view.hpp"
#include "dissent/study/claims.hpp"
#include "dissent/study/comparison.hpp"
#include "dissent/study/sources.hpp"

namespace dissent::report {
namespace {

template <class Kind>
void add(Section& section, std::optional<Kind> block) {
  if (block) {
    section.blocks.emplace_back(std::move(*block));
  }
}

template <class Kind>
void add(Section& section, std::vector<Kind> blocks) {
  for (Kind& block : blocks) {
    section.blocks.emplace_back(std::move(block));
  }
}

void add(Page& page, Section section) {
  if (!section.blocks.empty()) {
    page.sections.push_back(std::move(section));
  }
}

std::vector<Comparison> compare_all(const StudyResults& results) {
  std::vector<Comparison> comparisons;
  const std::vector<Heading> known = known_metrics(results, Metrics::kQuality);
  for (const Heading& metric : known) {
    CompareOptions options;
    options.metric = metric.name;
    comparisons.push_back(compare(results, options));
  }
  return comparisons;
}

Section verdicts(const std::vector<JudgedClaim>& claims) {
  Section section{"verdicts-section", "Verdicts"};
  add(section, std::optional(verdict_table(claims)));
  add(section, finding_table(claims));
  return section;
}

Section curves(const StudyResults& results) {
  Section section{"curves-section", "Learning curves"};
  if (const std::vector<Heading> quality = known_metrics(results, Metrics::kQuality); !quality.empty()) {
    add(section, std::optional(curve_chart(results, "curves", "Quality by labelled rows", quality)));
  }
  if (const std::vector<Heading> choices = known_metrics(results, Metrics::kChoice); !choices.empty()) {
    add(section, std::optional(curve_chart(results, "choices", "What rounds choose", choices)));
  }
  return section;
}

Section overall(const std::vector<Comparison>& comparisons) {
  Section section{"overall-section", "Over all problems"};
  add(section, score_chart(comparisons));
  add(section, profile_chart(comparisons));
  add(section, improvement_chart(comparisons));
  add(section, outcome_chart(comparisons));
  add(section, wins_table(comparisons));
  for (const std::string& sentence : power_sentences(comparisons)) {
    section.blocks.emplace_back(Paragraph{sentence});
  }
  return section;
}

Section side_studies(const StudyResults& results) {
  Section section{"side-section", "Time and side studies"};
  if (const std::vector<Heading> times = known_metrics(results, Metrics::kTime); !times.empty()) {
    add(section, std::optional(curve_chart(results, "seconds", "Seconds of a round", times)));
  }
  add(section, picture_chart(results.measurements));
  for (const char* kind : {"epistemic", "seconds", "bias"}) {
    add(section, sweep_chart(results.measurements, kind));
  }
  add(section, paper_tables(results));
  add(section, measurement_table(results.measurements));
  return section;
}

std::string subtitle(const StudyResults& results) {
  const StudyNames names = study_names(results);
  return fmt::format("{}: {} on {}. From {}.", counted(results.runs.size(), "campaign"),
                     counted(names.methods.size(), "method"), counted(names.problems.size(), "problem"),
                     results.source);
}

}  // namespace

Page study_page(const StudyResults& results) { return study_page(std::span(&results, 1)); }

Page study_page(std::span<const StudyResults> studies) {
  const StudyResults results = pooled(studies);
  Page page{.title = (studies.size() > 1 ? "Studies " : "Study ") + results.study, .subtitle = subtitle(results)};
  const std::vector<Comparison> comparisons = compare_all(results);
  add(page, Section{"standing", "Where it stands", {run_numbers(results)}});
  const std::vector<JudgedClaim> claims = judge_claims(studies);
  const bool decided =
      std::ranges::any_of(claims, [](const JudgedClaim& claim) { return claim.verdict != Verdict::kOpen; });
  if (decided) {
    add(page, verdicts(claims));
  }
  Section main{"main-section", "Results"};
  add(main, main_tables(comparisons));
  add(main, paper_chart(comparisons));
  add(main, paper_tests(results));
  add(page, std::move(main));
  add(page, curves(results));
  add(page, overall(comparisons));
  add(page, side_studies(results));
  if (!decided && concern_claims(studies)) {  // there is better to look at first
    add(page, verdicts(claims));
  }
  Section where{"where-section", "Where and when"};
  add(where, timeline_chart(results));
  add(where, std::optional(runs_table(results)));
  add(page, std::move(where));
  return page;
}

}  // namespace dissent::report
