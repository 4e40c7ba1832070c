#include "dissent/report/study_tables.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "dissent/base/names.hpp"
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
  const PaperPoint* paper = paper_point_of(comparison, task, method, task.last);
  return {task.problem,
          method.method,
          method.end.mean,
          method.end.stddev,
          p ? std::string(significance_mark(*p)) : "",
          rank > 0 ? Json(rank) : Json(),
          paper != nullptr ? Json(paper->mean) : Json(),
          paper != nullptr ? Json(paper->stddev) : Json(),
          paper != nullptr ? mark_of_level(paper->level) : "",
          method.end.median,
          method.end.count,
          task.last};
}

bool is_empty_column(const Grid& grid, std::size_t column) {
  return std::ranges::all_of(grid.rows, [&](const auto& row) {
    return row[column].is_null() || (row[column].is_number() && !std::isfinite(row[column].template get<double>())) ||
           (row[column].is_string() && row[column].template get_ref<const std::string&>().empty());
  });
}

constexpr std::size_t kFirstOfPaper = 6;  // of the columns below
constexpr std::size_t kNumOfPaper = 3;

// Leaves out the paper's columns if they are empty. Returns whether it did.
bool drop_paper(Grid& grid) {
  if (!is_empty_column(grid, kFirstOfPaper)) {
    return false;
  }
  const auto drop = [](auto& list) {
    const auto first = list.begin() + kFirstOfPaper;
    list.erase(first, first + kNumOfPaper);
  };
  drop(grid.columns);
  std::ranges::for_each(grid.rows, drop);
  return true;
}

TableBlock main_table(const Comparison& comparison, const std::string& model, std::size_t number_of_table) {
  TableBlock table{.id = fmt::format("main-{}-{}", comparison.metric->name, number_of_table),
                   .title = fmt::format("{} with {}", comparison.metric->title, model)};
  std::ranges::replace(table.id, '_', '-');
  table.grid.columns = {{"problem", "Problem"},
                        {"method", "Method"},
                        {"mean", "Mean"},
                        {"stddev", "Deviation"},
                        {"mark", "Mark"},
                        {"rank", "Rank"},
                        {"paper_mean", "Paper, mean"},
                        {"paper_stddev", "Paper, deviation"},
                        {"paper_mark", "Paper, mark"},
                        {"median", "Median"},
                        {"campaigns", "Campaigns"},
                        {"rounds", "Rounds"}};
  for (const TaskComparison& task : comparison.tasks) {
    if (task.model == model) {
      for (const MethodCurve& method : task.methods) {
        table.grid.rows.push_back(main_row(comparison, task, method));
      }
    }
  }
  std::size_t num_diverged = 0;
  for (const TaskComparison& task : comparison.tasks) {
    for (const MethodCurve& method : task.methods) {
      num_diverged += task.model == model ? method.end.num_diverged : 0;
    }
  }
  const bool alone = drop_paper(table.grid);
  table.note = fmt::format(
      "After the last round, over campaigns that came so far; {} is better. *, ** and ***: better than every baseline "
      "at "
      "5%, 1% and 0.1%, by Welch's test corrected by Holm within the problem.",
      comparison.metric->less_is_better ? "less" : "more");
  if (num_diverged > 0) {
    table.note +=
        fmt::format(" Diverged, and count as the worst of their problem: {}.", counted(num_diverged, "campaign"));
  }
  if (!alone && !comparison.metric->note.empty()) {
    table.note += fmt::format(" {}", comparison.metric->note);
  }
  return table;
}

}  // namespace

TableBlock verdict_table(const std::vector<JudgedClaim>& claims) {
  TableBlock table{.id = "verdicts", .title = "Claims and verdicts"};
  table.note = "Each rule was written down before the campaigns ran.";
  if (const std::string note = diverged_note(claims); !note.empty()) {
    table.note += " " + note;
  }
  if (const std::string note = short_note(claims); !note.empty()) {
    table.note += " " + note;
  }
  table.grid.columns = {{"claim", "Claim"}, {"verdict", "Verdict"},       {"note", "Rests on"},
                        {"seeds", "Seeds"}, {"rule", "How it is judged"}, {"by", "Claimed by"}};
  for (const JudgedClaim& claim : claims) {
    table.grid.rows.push_back({claim.claim, std::string(verdict_name(claim.verdict)), claim.note, claim.num_seeds,
                               fmt::format("{} ({}.)", claim.rule, claim.test),
                               claim.of_paper ? "the paper" : "this project"});
  }
  return table;
}

std::optional<TableBlock> finding_table(const std::vector<JudgedClaim>& claims) {
  TableBlock table{.id = "findings", .title = "What the verdicts rest on"};
  table.grid.columns = {
      {"claim", "Claim"}, {"where", "Where"}, {"verdict", "Verdict"}, {"says", "What was found"}, {"seeds", "Seeds"}};
  for (const JudgedClaim& claim : claims) {
    for (const Finding& finding : claim.findings) {
      if (finding.num_seeds == 0 && finding.verdict == Verdict::kOpen) {
        continue;  // nothing was run there
      }
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
      if (!is_empty_column(table.grid, 2)) {
        tables.push_back(std::move(table));
      }
    }
  }
  return tables;
}

}  // namespace dissent::report
