#include "dissent/report/study_tables.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "dissent/base/names.hpp"
#include "dissent/report/study_paper.hpp"
#include "dissent/report/study_view.hpp"
#include "dissent/study/paper_numbers.hpp"

namespace dissent::report {
namespace {

std::string mark_of_level(double level) { return level > 0 ? std::string(significance_mark(level / 2)) : ""; }

// From 1, by the means; 0 without one.
std::size_t rank_of(const TaskComparison& task, const MethodCurve& method, bool less_is_better) {
  if (!std::isfinite(method.end.mean)) {
    return 0;
  }
  return 1 + static_cast<std::size_t>(std::ranges::count_if(task.methods, [&](const MethodCurve& other) {
           return less_is_better ? other.end.mean < method.end.mean : other.end.mean > method.end.mean;
         }));
}

std::vector<Json> main_row(const Comparison& comparison, const TaskComparison& task, const MethodCurve& method) {
  const ContrastFamily* family = task.family(task.last);
  const std::optional<double> p = family != nullptr ? family->better_than_all(method.method) : std::nullopt;
  const std::size_t rank = rank_of(task, method, comparison.metric->less_is_better);
  std::vector<Json> row{task.problem,
                        method.method,
                        task.last,
                        method.end.count,
                        method.end.mean,
                        method.end.stddev,
                        method.end.median,
                        rank > 0 ? Json(rank) : Json(),
                        p ? std::string(significance_mark(*p)) : ""};
  const PaperPoint* paper = paper_point(comparison, task, method, task.last);
  row.push_back(paper != nullptr ? Json(paper->mean) : Json());
  row.push_back(paper != nullptr ? Json(paper->stddev) : Json());
  row.push_back(paper != nullptr ? mark_of_level(paper->level) : "");
  return row;
}

bool is_empty_column(const Grid& grid, std::size_t column) {
  return std::ranges::all_of(grid.rows, [&](const auto& row) {
    return row[column].is_null() || (row[column].is_number() && !std::isfinite(row[column].template get<double>())) ||
           (row[column].is_string() && row[column].template get_ref<const std::string&>().empty());
  });
}

// Without the columns from `first` on, if none of them has anything in it.
void drop_empty(Grid& grid, std::size_t first) {
  for (std::size_t k = first; k < grid.columns.size(); ++k) {
    if (!is_empty_column(grid, k)) {
      return;
    }
  }
  grid.columns.resize(first);
  for (auto& row : grid.rows) {
    row.resize(first);
  }
}

TableBlock main_table(const Comparison& comparison, const std::string& model, std::size_t number_of_table) {
  TableBlock table{.id = fmt::format("main-{}-{}", comparison.metric->name, number_of_table),
                   .title = fmt::format("{} with {}", comparison.metric->title, model)};
  std::ranges::replace(table.id, '_', '-');
  table.grid.columns = {{"problem", "Problem"},
                        {"method", "Method"},
                        {"rounds", "Rounds"},
                        {"campaigns", "Campaigns"},
                        {"mean", "Mean"},
                        {"stddev", "Deviation"},
                        {"median", "Median"},
                        {"rank", "Rank"},
                        {"mark", "Mark"},
                        {"paper_mean", "Paper, mean"},
                        {"paper_stddev", "Paper, deviation"},
                        {"paper_mark", "Paper, mark"}};
  for (const TaskComparison& task : comparison.tasks) {
    if (task.model == model) {
      for (const MethodCurve& method : task.methods) {
        table.grid.rows.push_back(main_row(comparison, task, method));
      }
    }
  }
  drop_empty(table.grid, 9);
  table.note = fmt::format(
      "After the last round, over campaigns that came so far; {} is better. *, ** and ***: better than every baseline "
      "at "
      "5%, 1% and 0.1%, by Welch's test corrected by Holm within the problem.",
      comparison.metric->less_is_better ? "less" : "more");
  if (table.grid.columns.size() > 9 && !comparison.metric->note.empty()) {
    table.note += fmt::format(" The paper's numbers: {}.", comparison.metric->note);
  }
  return table;
}

}  // namespace

TableBlock verdict_table(const std::vector<JudgedClaim>& claims) {
  TableBlock table{.id = "verdicts", .title = "Claims and verdicts"};
  table.note = "Each rule was written down before the campaigns ran.";
  table.grid.columns = {{"claim", "Claim"}, {"verdict", "Verdict"}, {"seeds", "Seeds"},
                        {"by", "Of"},       {"rule", "Rule"},       {"test", "Test"}};
  for (const JudgedClaim& claim : claims) {
    const bool decided = claim.verdict != Verdict::kOpen;
    table.grid.rows.push_back({claim.claim, std::string(verdict_name(claim.verdict)),
                               decided ? Json(claim.num_seeds) : Json(), claim.of_paper ? "the paper" : "this project",
                               claim.rule, claim.test});
  }
  return table;
}

std::optional<TableBlock> finding_table(const std::vector<JudgedClaim>& claims) {
  TableBlock table{.id = "findings", .title = "What the verdicts rest on"};
  table.grid.columns = {
      {"claim", "Claim"}, {"where", "Where"}, {"verdict", "Verdict"}, {"says", "What was found"}, {"seeds", "Seeds"}};
  for (const JudgedClaim& claim : claims) {
    for (const Finding& finding : claim.findings) {
      table.grid.rows.push_back(
          {claim.name, finding.where, std::string(verdict_name(finding.verdict)), finding.says, finding.num_seeds});
    }
  }
  return table.grid.rows.empty() ? std::nullopt : std::optional(std::move(table));
}

std::vector<TableBlock> main_tables(const std::vector<Comparison>& comparisons) {
  std::vector<TableBlock> tables;
  for (const Comparison& comparison : comparisons) {
    std::vector<std::string> models;
    for (const TaskComparison& task : comparison.tasks) {
      models.push_back(task.model);
    }
    models = distinct(models);
    for (std::size_t k = 0; k < models.size(); ++k) {
      TableBlock table = main_table(comparison, models[k], k + 1);
      if (!is_empty_column(table.grid, 4)) {
        tables.push_back(std::move(table));
      }
    }
  }
  return tables;
}

}  // namespace dissent::report
