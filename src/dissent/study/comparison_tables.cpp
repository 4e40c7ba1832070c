// Tables of one task: curves by rounds, areas, and the tests paired by seed.
#include "dissent/study/comparison_tables.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "dissent/base/names.hpp"
#include "dissent/study/paper_numbers.hpp"

namespace dissent {
namespace {

constexpr std::size_t kColumnRounds[] = {10, 25, 50, 100};

std::string mean_text(double mean, double stddev) { return fmt::format("{:.3g} ± {:.2g}", mean, stddev); }

std::string number_text(double value, const char* format = "{:.3g}") {
  return std::isnan(value) ? "-" : fmt::format(fmt::runtime(format), value);
}

std::string p_text(double p) { return p < 0.0001 ? "<0.0001" : number_text(p, "{:.2g}"); }

std::string task_name(const TaskComparison& task) { return fmt::format("{}, {}", task.problem, task.model); }

// The method with the best mean after so many rounds.
const MethodCurve* best_method(const TaskComparison& task, std::size_t after, bool less_is_better) {
  const MethodCurve* best = nullptr;
  for (const MethodCurve& curve : task.methods) {
    const CurvePoint* point = curve.at(after);
    if (point == nullptr || point->summary.count == 0) {
      continue;
    }
    const double sign = less_is_better ? 1 : -1;
    if (best == nullptr || sign * point->summary.mean < sign * best->at(after)->summary.mean) {
      best = &curve;
    }
  }
  return best;
}

std::string curve_cell(const Comparison& comparison, const TaskComparison& task, const MethodCurve& curve,
                       std::size_t after) {
  std::string text = "-";
  const CurvePoint* point = curve.at(after);
  if (point != nullptr && point->summary.count > 0) {
    text = point->summary.count > 1 ? mean_text(point->summary.mean, point->summary.stddev)
                                    : number_text(point->summary.mean);
    if (point->summary.count < curve.num_seeds) {
      text += fmt::format(" (n={})", point->summary.count);
    }
    if (point->summary.num_diverged > 0) {
      text += fmt::format(" ({} diverged)", point->summary.num_diverged);
    }
    if (const ContrastFamily* family = task.family(after); family != nullptr && curve.ours) {
      text += significance_mark(family->better_than_all(curve.method).value_or(1));
    }
  }
  if (const PaperPoint* paper = paper_point_of(comparison, task, curve, after)) {
    const std::string_view mark = paper->level > 0 ? significance_mark(0.99 * paper->level) : "";
    text += fmt::format(" [{}{}]", mean_text(paper->mean, paper->stddev), mark);
  }
  return text;
}

// Adds how many diverged, by method, if any did.
template <class Count>
void note_diverged(const TaskComparison& task, std::string_view noun, const Count& count, TextTable& table) {
  std::vector<std::string> parts;
  for (const MethodCurve& curve : task.methods) {
    if (const std::size_t number = count(curve); number > 0) {
      parts.push_back(fmt::format("{} of {}", counted(number, noun), curve.method));
    }
  }
  if (!parts.empty()) {
    table.notes.push_back(fmt::format("Diverged, and count as the worst of the problem: {}.", fmt::join(parts, "; ")));
  }
}

std::size_t diverged_models(const MethodCurve& curve) {
  std::size_t diverged = 0;
  for (const CurvePoint& point : curve.points) {
    diverged += point.summary.num_diverged;
  }
  return diverged;
}

std::size_t diverged_areas(const MethodCurve& curve) { return curve.area.num_diverged; }
std::size_t diverged_ends(const MethodCurve& curve) { return curve.end.num_diverged; }

// Adds that seeds have several data_seeds each, if they do.
void note_data_seeds(const TaskComparison& task, TextTable& table) {
  const bool several = std::ranges::any_of(task.methods, [](const MethodCurve& curve) {
    return curve.areas.size() > curve.area.count && curve.area.count > 0;
  });
  if (several) {
    table.notes.emplace_back("Each seed counts once: the mean over its data seeds.");
  }
}

// Adds how many campaigns have no area yet, or never will.
void note_unfinished(const TaskComparison& task, TextTable& table) {
  std::size_t unfinished = 0;
  std::size_t failed = 0;
  for (const MethodCurve& curve : task.methods) {
    unfinished += curve.num_unfinished;
    failed += curve.num_failed;
  }
  if (unfinished > 0) {
    table.notes.push_back(fmt::format("Left out, before round {}: {}, {} of which failed.", task.last,
                                      counted(unfinished, "campaign"), failed));
  }
}

bool has_paper_numbers(const Comparison& comparison, const TaskComparison& task, std::span<const std::size_t> rounds) {
  return std::ranges::any_of(rounds, [&](std::size_t after) {
    return std::ranges::any_of(task.methods, [&](const MethodCurve& curve) {
      return paper_point_of(comparison, task, curve, after) != nullptr;
    });
  });
}

// What marks and brackets stand for, in any of the tables.
std::vector<std::string> curve_legend(const Comparison& comparison, std::span<const std::size_t> rounds) {
  std::vector<std::string> notes = {
      "*, **, ***: better than every baseline, p below 0.05, 0.01, 0.001 (Welch, Holm within the problem and round)."};
  if (std::ranges::any_of(comparison.tasks,
                          [&](const TaskComparison& task) { return has_paper_numbers(comparison, task, rounds); })) {
    notes.push_back(fmt::format("[]: the numbers and marks of {}.", paper_source()));
    if (!comparison.metric->note.empty()) {
      notes.emplace_back(comparison.metric->note);
    }
  }
  return notes;
}

constexpr const char* kPairedLegend =
    "difference: ours - theirs; effect: in its standard deviations, positive where ours is better; Holm: within this "
    "table; Holm, all: over all problems of the model.";

// Adds notes that hold for all of the tables to the first of them.
void add_legend(const std::vector<std::string>& notes, TextTable& table) {
  table.notes.insert(table.notes.begin(), notes.begin(), notes.end());
}

TextTable curve_table(const Comparison& comparison, const TaskComparison& task, std::span<const std::size_t> rounds) {
  TextTable table{
      .title = fmt::format("{}: {}, mean and standard deviation over seeds", task_name(task), comparison.metric->title),
      .columns = {"method", "seeds"},
      .best = "the best mean"};
  for (const std::size_t after : rounds) {
    table.columns.push_back(fmt::format("after {}", after));
  }
  for (const MethodCurve& curve : task.methods) {
    std::vector<TextCell> row{{curve.method}, {std::to_string(curve.num_seeds)}};
    for (const std::size_t after : rounds) {
      const bool best = best_method(task, after, comparison.metric->less_is_better) == &curve;
      row.push_back({curve_cell(comparison, task, curve, after), best});
    }
    table.rows.push_back(std::move(row));
  }
  note_diverged(task, "model", diverged_models, table);
  return table;
}

TextTable area_table(const Comparison& comparison, const TaskComparison& task) {
  TextTable table{.title = fmt::format("{}: area under the curve of {}, as its mean height over {}", task_name(task),
                                       comparison.metric->title, counted(task.last, "round")),
                  .columns = {"method", "seeds", "mean", "median", "trimmed mean", "interquartile mean"}};
  for (const MethodCurve& curve : task.methods) {
    const RunSummary& area = curve.area;
    table.rows.push_back({{curve.method},
                          {std::to_string(area.count)},
                          {area.count == 0 ? "-" : mean_text(area.mean, area.stddev)},
                          {number_text(area.median)},
                          {number_text(area.trimmed_mean)},
                          {number_text(area.interquartile_mean)}});
  }
  note_data_seeds(task, table);
  note_diverged(task, "run", diverged_areas, table);
  note_unfinished(task, table);
  return table;
}

TextTable paired_table(const TaskComparison& task, std::string_view what,
                       const std::vector<PairedContrast>& contrasts) {
  TextTable table{.title = fmt::format("{}: {}, tests paired by seed", task_name(task), what),
                  .columns = {"ours", "against", "seeds", "difference", "effect", "sign flip p", "Holm", "Holm, all",
                              "Wilcoxon, Holm", "ours is"},
                  .num_labels = 2};
  for (const PairedContrast& contrast : contrasts) {
    table.rows.push_back({{contrast.ours},
                          {contrast.baseline},
                          {std::to_string(contrast.num_pairs)},
                          {number_text(contrast.difference)},
                          {number_text(contrast.effect, "{:.2f}")},
                          {p_text(contrast.sign_flip_p)},
                          {p_text(contrast.sign_flip_adjusted)},
                          {p_text(contrast.sign_flip_overall)},
                          {p_text(contrast.wilcoxon_adjusted)},
                          {contrast.num_pairs == 0 ? "-" : contrast.outcome_text()}});
  }
  return table;
}

}  // namespace

std::vector<std::size_t> shown_rounds(const Comparison& comparison) {
  std::size_t last = 0;
  for (const TaskComparison& task : comparison.tasks) {
    last = std::max(last, task.last);
  }
  std::vector<std::size_t> rounds;
  std::ranges::copy_if(kColumnRounds, std::back_inserter(rounds), [&](std::size_t after) { return after < last; });
  rounds.push_back(last);
  return rounds;
}

std::vector<TextTable> curve_tables(const Comparison& comparison, std::span<const std::size_t> rounds) {
  std::vector<TextTable> tables;
  for (const TaskComparison& task : comparison.tasks) {
    tables.push_back(curve_table(comparison, task, rounds));
  }
  if (!tables.empty()) {
    add_legend(curve_legend(comparison, rounds), tables.front());
  }
  return tables;
}

std::vector<TextTable> paired_tables(const Comparison& comparison) {
  std::vector<TextTable> tables;
  bool first = true;
  for (const TaskComparison& task : comparison.tasks) {
    tables.push_back(area_table(comparison, task));
    if (!task.by_area.empty()) {
      tables.push_back(paired_table(task, fmt::format("area under {}", comparison.metric->title), task.by_area));
      if (std::exchange(first, false)) {
        add_legend({kPairedLegend}, tables.back());
      }
      note_diverged(task, "run", diverged_areas, tables.back());
      tables.push_back(
          paired_table(task, fmt::format("{} after {}", comparison.metric->title, task.last), task.at_end));
      note_diverged(task, "run", diverged_ends, tables.back());
    }
  }
  return tables;
}

}  // namespace dissent
