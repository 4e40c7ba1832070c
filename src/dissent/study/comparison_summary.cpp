// Tables over all problems: scores, wins and losses, power, verdicts.
#include <cmath>

#include "dissent/base/names.hpp"
#include "dissent/study/comparison_tables.hpp"

namespace dissent {
namespace {

std::string interval_text(const Interval& interval) {
  return std::isnan(interval.low)
             ? fmt::format("{:.3f}", interval.estimate)
             : fmt::format("{:.3f} ({:.3f} to {:.3f})", interval.estimate, interval.low, interval.high);
}

void note_diverged(const ModelComparison& model, TextTable& table) {
  if (model.num_diverged > 0) {
    table.notes.push_back(
        fmt::format("Diverged, and count as the worst of their problem: {}.", counted(model.num_diverged, "run")));
  }
}

TextTable score_table(const Comparison& comparison, const ModelComparison& model) {
  const bool ratio = comparison.metric->less_is_better;
  TextTable table{
      .title = fmt::format("{}: {} over {}", model.model, comparison.metric->title, fmt::join(model.problems, ", ")),
      .columns = {"method", "runs", ratio ? "area / random's" : "share of methods that are better"}};
  for (const OverallMethod& method : model.methods) {
    table.rows.push_back({{method.method}, {std::to_string(method.num_runs)}, {interval_text(method.score)}});
  }
  table.notes.push_back(fmt::format(
      "Interquartile mean over runs, each against {} with the same seed (less is better), with its 95% stratified "
      "bootstrap interval. Problems that every method has.",
      ratio ? "random" : "all other methods"));
  note_diverged(model, table);
  return table;
}

TextTable win_table(const Comparison& comparison, const ModelComparison& model) {
  TextTable table{.title = fmt::format("{}: {}, problem by problem", model.model, comparison.metric->title),
                  .columns = {"ours", "against", "problems", "win", "tie", "loss", "probability of improvement"},
                  .num_labels = 2};
  for (const OverallContrast& contrast : model.contrasts) {
    table.rows.push_back({{contrast.ours},
                          {contrast.baseline},
                          {std::to_string(contrast.num_problems)},
                          {std::to_string(contrast.wins)},
                          {std::to_string(contrast.ties)},
                          {std::to_string(contrast.losses)},
                          {contrast.num_problems == 0 ? "-" : interval_text(contrast.improvement)}});
  }
  table.notes.emplace_back(
      "A win or a loss is a sign flip test on areas with p below 0.05 after Holm's correction "
      "within the problem; all else is a tie.");
  note_diverged(model, table);
  return table;
}

}  // namespace

std::vector<TextTable> overall_tables(const Comparison& comparison) {
  std::vector<TextTable> tables;
  for (const ModelComparison& model : comparison.models) {
    if (!model.methods.empty()) {
      tables.push_back(score_table(comparison, model));
    }
    if (!model.contrasts.empty()) {
      tables.push_back(win_table(comparison, model));
    }
    if (!model.power.empty()) {
      TextTable power{.title = fmt::format("{}: what so many seeds can show", model.model), .columns = {}};
      for (const Power& scope : model.power) {
        power.notes.push_back(scope.sentence);
      }
      tables.push_back(std::move(power));
    }
  }
  return tables;
}

std::vector<TextTable> claim_tables(std::span<const JudgedClaim> claims) {
  TextTable verdicts{.title = "Verdicts", .columns = {"claim", "verdict", "test", "seeds"}, .num_labels = 3};
  TextTable findings{
      .title = "What they rest on", .columns = {"claim", "where", "verdict", "found", "seeds"}, .num_labels = 4};
  for (const JudgedClaim& claim : claims) {
    verdicts.rows.push_back(
        {{fmt::format("{}: {}", claim.name, claim.claim)},
         {fmt::format("{}{}", verdict_name(claim.verdict), claim.note.empty() ? "" : ", short runs")},
         {claim.test},
         {claim.findings.empty() ? "-" : std::to_string(claim.num_seeds)}});
    for (const Finding& finding : claim.findings) {
      findings.rows.push_back({{claim.name},
                               {finding.where},
                               {std::string(verdict_name(finding.verdict))},
                               {finding.says},
                               {std::to_string(finding.num_seeds)}});
    }
  }
  verdicts.notes.push_back(fmt::format("No verdict rests on fewer than {} seeds.", kLeastSeeds));
  if (const std::string note = diverged_note(claims); !note.empty()) {
    verdicts.notes.push_back(note);
  }
  if (const std::string note = short_note(claims); !note.empty()) {
    verdicts.notes.push_back(note);
  }
  std::vector<TextTable> tables = {std::move(verdicts)};
  if (!findings.rows.empty()) {
    tables.push_back(std::move(findings));
  }
  return tables;
}

}  // namespace dissent
