// A comparison as records: every number that was computed, for programs.
#include <algorithm>
#include <cmath>

#include "dissent/study/comparison_tables.hpp"
#include "dissent/study/paper_numbers.hpp"
#include "dissent/table/csv.hpp"

namespace dissent {
namespace {

Value whole(std::size_t count) { return static_cast<std::uint64_t>(count); }

template <class... Cells>
std::vector<Value> record(Cells&&... cells) {
  return {Value(std::forward<Cells>(cells))...};
}

std::vector<Value> joined(std::vector<Value> first, const std::vector<Value>& second) {
  first.insert(first.end(), second.begin(), second.end());
  return first;
}

std::vector<Value> summary_values(const RunSummary& summary) {
  return record(whole(summary.count), whole(summary.num_diverged), summary.mean, summary.stddev, summary.median,
                summary.trimmed_mean, summary.interquartile_mean);
}

std::vector<Value> interval_values(const Interval& interval) {
  return record(interval.estimate, interval.low, interval.high);
}

std::vector<Value> paper_values(const Comparison& comparison, const TaskComparison& task, const MethodCurve& curve,
                                std::size_t after) {
  const PaperPoint* paper = paper_point_of(comparison, task, curve, after);
  return paper == nullptr ? record(std::monostate(), std::monostate()) : record(paper->mean, paper->stddev);
}

// The largest adjusted p, if a method of ours is better than every baseline.
Value highlight(const TaskComparison& task, const MethodCurve& curve, std::size_t after) {
  const ContrastFamily* family = curve.ours ? task.family(after) : nullptr;
  const std::optional<double> p = family == nullptr ? std::nullopt : family->better_than_all(curve.method);
  return p ? Value(*p) : Value();
}

void add_task(const Comparison& comparison, const TaskComparison& task, RecordTable& curves, RecordTable& contrasts,
              RecordTable& areas) {
  const std::vector<Value> where = record(task.problem, task.model);
  for (const MethodCurve& curve : task.methods) {
    for (const CurvePoint& point : curve.points) {
      std::vector<Value> row = joined(where, record(curve.method, whole(point.after), point.labelled));
      row = joined(joined(row, summary_values(point.summary)), paper_values(comparison, task, curve, point.after));
      row.push_back(highlight(task, curve, point.after));
      curves.rows.push_back(std::move(row));
    }
    const std::vector<Value> left_out = record(whole(curve.num_unfinished), whole(curve.num_failed));
    areas.rows.push_back(
        joined(joined(joined(where, record(curve.method, whole(task.last))), summary_values(curve.area)), left_out));
  }
  for (const ContrastFamily& family : task.families) {
    for (const Contrast& contrast : family.contrasts) {
      contrasts.rows.push_back(
          joined(where, record(whole(family.after), contrast.ours, contrast.baseline, whole(contrast.num_ours),
                               whole(contrast.num_baseline), whole(contrast.diverged_ours),
                               whole(contrast.diverged_baseline), contrast.difference, contrast.effect,
                               contrast.p_value, contrast.adjusted, std::string(outcome_name(contrast.outcome)))));
    }
  }
}

void add_paired(const TaskComparison& task, const char* what, const std::vector<PairedContrast>& contrasts,
                RecordTable& table) {
  for (const PairedContrast& contrast : contrasts) {
    table.rows.push_back(
        record(task.problem, task.model, std::string(what), contrast.ours, contrast.baseline, whole(contrast.num_pairs),
               whole(contrast.diverged_ours), whole(contrast.diverged_baseline), contrast.difference, contrast.effect,
               contrast.sign_flip_p, contrast.sign_flip_adjusted, contrast.sign_flip_overall, contrast.wilcoxon_p,
               contrast.wilcoxon_adjusted, contrast.wilcoxon_overall, contrast.outcome_text()));
  }
}

void add_model(const ModelComparison& model, RecordTable& scores, RecordTable& profiles, RecordTable& wins,
               RecordTable& power) {
  for (const OverallMethod& method : model.methods) {
    scores.rows.push_back(
        joined(record(model.model, method.method, whole(method.num_runs)), interval_values(method.score)));
    for (std::size_t k = 0; k < model.thresholds.size(); ++k) {
      profiles.rows.push_back(record(model.model, method.method, model.thresholds[k], method.profile[k]));
    }
  }
  for (const OverallContrast& contrast : model.contrasts) {
    wins.rows.push_back(joined(record(model.model, contrast.ours, contrast.baseline, whole(contrast.num_problems),
                                      whole(contrast.wins), whole(contrast.ties), whole(contrast.losses)),
                               interval_values(contrast.improvement)));
  }
  for (const Power& scope : model.power) {
    power.rows.push_back(record(model.model, scope.scope, whole(scope.num_pairs), whole(scope.num_tests), scope.least_p,
                                scope.needed_p, scope.reachable, whole(scope.pairs_needed), scope.effect,
                                scope.sentence));
  }
}

void add_claims(std::span<const JudgedClaim> claims, RecordTable& verdicts, RecordTable& findings) {
  for (const JudgedClaim& claim : claims) {
    verdicts.rows.push_back(record(claim.name, claim.claim, claim.of_paper, claim.rule, claim.test,
                                   std::string(verdict_name(claim.verdict)), whole(claim.num_seeds),
                                   whole(claim.num_diverged()), claim.note));
    for (const Finding& finding : claim.findings) {
      findings.rows.push_back(record(claim.name, finding.where, std::string(verdict_name(finding.verdict)),
                                     finding.says, whole(finding.num_seeds), whole(finding.diverged_ours),
                                     whole(finding.diverged_theirs)));
    }
  }
}

// Empty tables with their columns, in the order of record_names().
std::vector<RecordTable> empty_tables() {
  return {
      {"curves",
       {"problem", "model", "method", "after", "labelled", "seeds", "diverged", "mean", "stddev", "median",
        "trimmed_mean", "interquartile_mean", "paper_mean", "paper_stddev", "better_than_all_p"}},
      {"contrasts",
       {"problem", "model", "after", "ours", "baseline", "seeds_ours", "seeds_baseline", "diverged_ours",
        "diverged_baseline", "difference", "effect", "welch_p", "welch_adjusted", "outcome"}},
      {"areas",
       {"problem", "model", "method", "last", "seeds", "diverged", "mean", "stddev", "median", "trimmed_mean",
        "interquartile_mean", "unfinished", "failed"}},
      {"paired",
       {"problem", "model", "of", "ours", "baseline", "pairs", "diverged_ours", "diverged_baseline", "difference",
        "effect", "sign_flip_p", "sign_flip_adjusted", "sign_flip_overall", "wilcoxon_p", "wilcoxon_adjusted",
        "wilcoxon_overall", "outcome"}},
      {"scores", {"model", "method", "runs", "score", "low", "high"}},
      {"profiles", {"model", "method", "threshold", "share"}},
      {"wins",
       {"model", "ours", "baseline", "problems", "wins", "ties", "losses", "probability_of_improvement", "low",
        "high"}},
      {"power",
       {"model", "scope", "pairs", "tests", "least_p", "needed_p", "reachable", "pairs_needed", "detectable_effect",
        "sentence"}},
      {"verdicts", {"name", "claim", "of_paper", "rule", "test", "verdict", "seeds", "diverged", "note"}},
      {"findings", {"claim", "where", "verdict", "found", "seeds", "diverged_ours", "diverged_theirs"}},
  };
}

}  // namespace

const std::vector<std::string>& record_names() {
  static const std::vector<std::string> names = [] {
    std::vector<std::string> list;
    for (const RecordTable& table : empty_tables()) {
      list.push_back(table.name);
    }
    return list;
  }();
  return names;
}

std::vector<RecordTable> record_tables(const Comparison& comparison, std::span<const JudgedClaim> claims) {
  std::vector<RecordTable> tables = empty_tables();
  const auto table = [&](std::string_view name) -> RecordTable& {
    return *std::ranges::find(tables, name, &RecordTable::name);
  };
  for (const TaskComparison& task : comparison.tasks) {
    add_task(comparison, task, table("curves"), table("contrasts"), table("areas"));
    add_paired(task, "area", task.by_area, table("paired"));
    add_paired(task, "end", task.at_end, table("paired"));
  }
  for (const ModelComparison& model : comparison.models) {
    add_model(model, table("scores"), table("profiles"), table("wins"), table("power"));
  }
  add_claims(claims, table("verdicts"), table("findings"));
  return tables;
}

RecordTable record_table(std::span<const Comparison> comparisons, std::span<const JudgedClaim> claims,
                         std::string_view name) {
  RecordTable whole{.name = std::string(name), .columns = {}};
  const auto add = [&](const std::string& study, const std::vector<RecordTable>& tables) {
    const RecordTable& table = *std::ranges::find(tables, name, &RecordTable::name);
    whole.columns = table.columns;
    for (const std::vector<Value>& row : table.rows) {
      whole.rows.push_back(joined(record(study), row));
    }
  };
  std::vector<std::string> studies;
  for (const Comparison& comparison : comparisons) {
    studies.push_back(comparison.study);
    add(comparison.study, record_tables(comparison, {}));
  }
  add(fmt::format("{}", fmt::join(studies, ", ")), record_tables({}, claims));
  whole.columns.insert(whole.columns.begin(), "study");
  return whole;
}

std::string format_csv(const RecordTable& table) {
  CsvText text(table.name, table.columns);
  for (const std::vector<Value>& row : table.rows) {
    for (const Value& value : row) {
      const double* number = std::get_if<double>(&value);
      if (std::holds_alternative<std::monostate>(value) || (number != nullptr && std::isnan(*number))) {
        text.missing();
      } else if (number != nullptr) {
        text.field(*number);
      } else {
        text.field(to_text(value));
      }
    }
    text.end_row();
  }
  return text.text();
}

}  // namespace dissent
