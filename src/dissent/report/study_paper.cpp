#include "dissent/report/study_paper.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <map>
#include <set>
#include <tuple>

#include "dissent/base/parse.hpp"
#include "dissent/report/chart.hpp"
#include "dissent/report/study_view.hpp"
#include "dissent/statistics/location.hpp"
#include "dissent/study/diverged.hpp"
#include "dissent/study/paper_numbers.hpp"

namespace dissent::report {
namespace {

constexpr std::size_t kMostRounds = 25;  // of a curve beside the paper's, and those that the paper has
constexpr const char* kHere = "this study";
constexpr const char* kThere = "the paper";
constexpr std::size_t kPaperComponents = 5;
constexpr std::string_view kSizesProblem = "hopper";  // of the paper's ensemble sizes

// A number here, and one of the paper; each may be missing.
struct Pair {
  std::vector<double> here = {};
  Json paper = {};
};

// "mc" of "mc:5000"
std::string without_parameter(const std::string& acquisition) { return acquisition.substr(0, acquisition.find(':')); }

template <class Key>
using Pairs = std::map<Key, Pair>;

template <class Key>
TableBlock pairs_table(TableBlock table, const Pairs<Key>& pairs) {
  table.grid.columns.insert(table.grid.columns.end(), {{"here", "Here, median"}, {"count", "Of"}, {"paper", "Paper"}});
  for (const auto& [key, pair] : pairs) {
    std::vector<Json> row;
    std::apply([&](const auto&... parts) { (row.push_back(Json(parts)), ...); }, key);
    row.push_back(pair.here.empty() ? Json() : Json(median(pair.here)));
    row.push_back(pair.here.size());
    row.push_back(pair.paper);
    table.grid.rows.push_back(std::move(row));
  }
  return table;
}

bool has_task(const StudyResults& results, const std::string& problem, const std::string& model) {
  return std::ranges::any_of(results.runs, [&](const StudyRun& run) {
    return run.problem == problem && (model.empty() || run.model == model);
  });
}

TableBlock runtimes(const StudyResults& results) {
  Pairs<std::tuple<std::string, std::string, std::string>> pairs;
  for (const StudyRun& run : results.runs) {
    double seconds = 0;
    for (const RoundRecord& record : run.rounds) {
      seconds += std::isfinite(record.fit_seconds) ? record.fit_seconds : 0;
      seconds += std::isfinite(record.score_seconds) ? record.score_seconds : 0;
    }
    if (run.state == CellState::kDone) {
      pairs[{run.problem, run.model, run.method}].here.push_back(seconds / 60);
    }
  }
  for (const PaperRuntime& paper : paper_runtimes()) {
    for (const StudyRun& run : results.runs) {
      if (run.problem == paper.problem && run.model == paper.model &&
          without_parameter(run.acquisition) == paper.method) {
        pairs[{run.problem, run.model, run.method}].paper = paper.minutes;
      }
    }
  }
  return pairs_table(
      {.id = "runtimes",
       .title = "Minutes of a campaign",
       .note = "Here: to fit and to score, of campaigns that are done, on this study's machines, with its rounds "
               "and training. The paper's are those of its own: 100 rounds.",
       .grid = {.columns = {{"problem", "Problem"}, {"model", "Model"}, {"method", "Method"}}}},
      pairs);
}

// Of campaigns on Hopper whose grid varies the number of components.
TableBlock ensemble_sizes(StudyResults results) {
  const std::size_t num_diverged = count_as_worst(results, find_metric("rmse"));
  Pairs<std::tuple<std::string, std::size_t>> pairs;
  bool varied = false;
  for (const StudyRun& run : results.runs) {
    const auto axis = std::ranges::find(run.axes, "components", &std::pair<std::string, std::string>::first);
    const auto size = axis == run.axes.end() ? std::nullopt : parse_whole(axis->second);
    if (run.problem == kSizesProblem && size && run.state == CellState::kDone && !run.rounds.empty() &&
        std::isfinite(run.rounds.back().rmse)) {  // known at all
      pairs[{without_parameter(run.acquisition), *size}].here.push_back(run.rounds.back().rmse);
      varied = true;
    }
  }
  for (const PaperEnsembleSize& paper : paper_ensemble_sizes()) {
    if (varied) {
      pairs[{paper.method, paper.components}].paper = paper.rmse;
    }
  }
  return pairs_table(
      {.id = "sizes",
       .title = "RMSE on Hopper by ensemble size",
       .note = num_diverged == 0 ? "After the last round."
                                 : "After the last round. Models that diverged count as the worst of the problem.",
       .grid = {.columns = {{"method", "Method"}, {"components", "Components"}}}},
      pairs);
}

TableBlock correlations(const StudyResults& results) {
  Pairs<std::tuple<std::string, std::string, std::string>> pairs;
  for (const Measurement& one : results.measurements) {
    if (one.kind == "spearman") {
      pairs[{one.problem, one.model, one.estimator}].here.push_back(one.value);
    }
  }
  for (const PaperSpearman& paper : paper_spearman()) {
    for (const auto& [estimator, value] : {std::pair("kl", paper.kl), {"bhattacharyya", paper.bhattacharyya}}) {
      if (has_task(results, paper.problem, paper.model) || pairs.contains({paper.problem, paper.model, estimator})) {
        pairs[{paper.problem, paper.model, estimator}].paper = value;
      }
    }
  }
  return pairs_table({.id = "spearman",
                      .title = "Rank correlation with the Monte Carlo estimate",
                      .note = "Spearman's, over the rows of the pool.",
                      .grid = {.columns = {{"problem", "Problem"}, {"model", "Model"}, {"estimator", "Estimator"}}}},
                     pairs);
}

TableBlock matched_samples(const StudyResults& results) {
  Pairs<std::tuple<std::size_t, std::size_t, std::string>> pairs;
  for (const Measurement& one : results.measurements) {
    if (one.kind == "matched_samples") {
      pairs[{one.outputs, one.components, one.estimator}].here.push_back(one.value);
    }
  }
  const bool measured = !pairs.empty();
  for (const PaperMatchedSamples& paper : paper_matched_samples()) {
    if (!measured && has_task(results, paper.problem, "")) {
      pairs.try_emplace({paper.outputs, kPaperComponents, "pairwise"});
    }
    for (auto& [key, pair] : pairs) {
      if (std::get<0>(key) == paper.outputs && std::get<1>(key) == kPaperComponents) {
        pair.paper = paper.samples;
      }
    }
  }
  return pairs_table(
      {.id = "matched",
       .title = "Samples that take the time of a pairwise estimate",
       .note = "Drawn by Monte Carlo in the same time.",
       .grid = {.columns = {{"outputs", "Output columns"}, {"components", "Components"}, {"estimator", "Estimator"}}}},
      pairs);
}

// The paper's points of a method, then those of this study; none if the paper has none.
std::vector<std::vector<Json>> points_of(const Comparison& comparison, const TaskComparison& task,
                                         const MethodCurve& method) {
  std::vector<std::vector<Json>> rows;
  const auto add = [&](std::size_t after, const char* source, double mean, double stddev) {
    rows.push_back({std::string(comparison.metric->title), task.model, task.problem, method.method, after, source, mean,
                    mean - stddev, mean + stddev});
  };
  std::set<std::size_t> in_paper;
  for (const PaperPoint& point : paper_curves()) {
    if (paper_point_of(comparison, task, method, point.after) == &point) {
      add(point.after, kThere, point.mean, point.stddev);
      in_paper.insert(point.after);
    }
  }
  const std::size_t every = method.points.size() / kMostRounds + 1;
  for (std::size_t k = 0; k < method.points.size() && !in_paper.empty(); ++k) {
    const CurvePoint& point = method.points[k];
    if (k % every == 0 || in_paper.contains(point.after)) {
      add(point.after, kHere, point.summary.mean, point.summary.stddev);
    }
  }
  return rows;
}

Json paper_layers(const std::vector<Heading>& columns) {
  const std::vector<std::string> sources{kHere, kThere};
  const Json x = axis("after", "Rounds", {{"axis", {{"tickMinStep", 1}, {"format", "d"}}}});
  Json band{{"x", x}, {"y", axis("low", "")}, {"y2", {{"field", "high"}}}};
  Json mean{{"x", x}, {"y", axis("mean", "")}};
  Json point = mean;
  add_series(band, "source", sources, Mark::kArea);
  add_series(mean, "source", sources, Mark::kLineWithPoints);
  add_series(point, "source", sources, Mark::kPoint);
  point["tooltip"] = tooltip(columns);
  const auto layer = [](const char* source, const Json& mark, const Json& encoding) -> Json {
    return {{"transform", Json::array({{{"filter", fmt::format("datum.source == '{}'", source)}}})},
            {"mark", mark},
            {"encoding", encoding}};
  };
  return Json::array({layer(kHere, {{"type", "area"}, {"opacity", 0.15}}, band),
                      layer(kHere, {{"type", "line"}, {"strokeWidth", 2}}, mean),
                      layer(kThere, {{"type", "rule"}, {"strokeWidth", 2}}, band),
                      {{"params", Json::array({zoomable()})},
                       {"mark", {{"type", "point"}, {"filled", true}, {"size", 60}}},
                       {"encoding", point}}});
}

}  // namespace

std::optional<Chart> paper_chart(const std::vector<Comparison>& comparisons) {
  Chart chart{.id = "paper", .title = "Beside the paper", .caption = ""};
  chart.data.columns = {
      {"metric", "Metric"},          {"model", "Model"},   {"problem", "Problem"}, {"method", "Method"},
      {"after", "Rounds"},           {"source", "Source"}, {"mean", "Mean"},       {"low", "Mean less deviation"},
      {"high", "Mean and deviation"}};
  for (const Comparison& comparison : comparisons) {
    for (const TaskComparison& task : comparison.tasks) {
      for (const MethodCurve& method : task.methods) {
        std::ranges::move(points_of(comparison, task, method), std::back_inserter(chart.data.rows));
      }
    }
  }
  if (chart.data.rows.empty()) {
    return std::nullopt;
  }
  chart.caption = fmt::format(
      "Means over seeds and one standard deviation on each side, here and in the tables of the paper's appendix. {}",
      paper_source());
  chart.spec = chart_spec(chart.caption, paper_layers(chart.data.columns));
  chart.spec["transform"] = Json::array({{{"filter", "isValid(datum.mean)"}}});
  for (const std::size_t k : {2, 1, 0, 3}) {
    const Heading& column = chart.data.columns[k];
    add_filter(chart, column.name, column.title, texts_of(chart.data, column.name));
  }
  chart.zoom = {"after", "mean"};
  return chart;
}

std::vector<TableBlock> paper_tables(const StudyResults& results) {
  std::vector<TableBlock> tables{runtimes(results), ensemble_sizes(results), correlations(results),
                                 matched_samples(results)};
  std::erase_if(tables, [](const TableBlock& table) { return table.grid.rows.empty(); });
  return tables;
}

}  // namespace dissent::report
