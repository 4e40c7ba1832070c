#include "dissent/report/study_overall.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <cmath>
#include <functional>

#include "dissent/base/names.hpp"
#include "dissent/report/chart.hpp"
#include "dissent/report/study_view.hpp"

namespace dissent::report {
namespace {

constexpr int kStep = 30;  // pixels of a line of names
const Heading kMetric{"metric", "Metric"};
const Heading kModel{"model", "Model"};

using ModelVisitor = std::function<void(const std::string& metric, const ModelComparison& model)>;
void for_each_model(const std::vector<Comparison>& comparisons, const ModelVisitor& visit) {
  for (const Comparison& comparison : comparisons) {
    for (const ModelComparison& model : comparison.models) {
      visit(std::string(comparison.metric->title), model);
    }
  }
}

// Gives the chart its layers, and lists that choose metric and model.
void finish(Chart& chart, Json layers) {
  chart.spec = chart_spec(chart.caption, std::move(layers));
  add_filter(chart, "metric", "Metric", texts_of(chart.data, "metric"));
  add_filter(chart, "model", "Model", texts_of(chart.data, "model"));
}

// An interval with its estimate, a line for each name.
Json interval_layers(const std::string& estimate, const std::string& names_field, const std::vector<std::string>& names,
                     const std::vector<Heading>& columns) {
  const Json y = names_axis(names_field, names);
  const Json words = tooltip(columns);
  return Json::array(
      {{{"mark", {{"type", "rule"}, {"color", kBlue}, {"strokeWidth", 3}, {"opacity", 0.5}}},
        {"encoding", {{"x", axis("low", "")}, {"x2", {{"field", "high"}}}, {"y", y}, {"tooltip", words}}}},
       {{"mark", {{"type", "point"}, {"filled", true}, {"color", kBlue}, {"size", 80}}},
        {"encoding", {{"x", axis(estimate, "")}, {"y", y}, {"tooltip", words}}}}});
}

Json upright_line(double x) {
  return {{"data", {{"values", Json::array({Json::object()})}}},
          {"mark", {{"type", "rule"}, {"strokeDash", {4, 3}}, {"color", "currentColor"}, {"opacity", 0.6}}},
          {"encoding", {{"x", {{"datum", x}, {"type", "quantitative"}}}}}};
}

std::string diverged_words(const std::vector<Comparison>& comparisons) {
  std::vector<std::string> parts;
  for_each_model(comparisons, [&](const std::string& metric, const ModelComparison& model) {
    if (model.num_diverged > 0) {
      parts.push_back(fmt::format("{} with {} by {}", counted(model.num_diverged, "campaign"), model.model, metric));
    }
  });
  return parts.empty() ? ""
                       : fmt::format(" Diverged, and count as the worst of their problem: {}.", fmt::join(parts, ", "));
}

}  // namespace

std::optional<Chart> score_chart(const std::vector<Comparison>& comparisons) {
  Chart chart{.id = "scores", .title = "Score over all problems", .caption = ""};
  chart.data.columns = {kMetric,
                        kModel,
                        {"method", "Method"},
                        {"runs", "Campaigns"},
                        {"score", "Interquartile mean"},
                        {"low", "Lower end of 95%"},
                        {"high", "Upper end of 95%"}};
  std::string first;
  for_each_model(comparisons, [&](const std::string& metric, const ModelComparison& model) {
    for (const OverallMethod& method : model.methods) {
      if (method.num_runs > 0 && std::isfinite(method.score.estimate)) {
        chart.data.rows.push_back({metric, model.model, method.method, method.num_runs, method.score.estimate,
                                   method.score.low, method.score.high});
      }
    }
    if (first.empty() && !model.problems.empty()) {
      first = fmt::format(" Of {} with {}: {}.", counted(model.problems.size(), "problem"), model.model,
                          fmt::join(model.problems, ", "));
    }
  });
  if (chart.data.rows.empty()) {
    return std::nullopt;
  }
  chart.caption =
      "Less is better. A campaign's score is the area under its curve divided by that of random with the same seed; of "
      "a log-likelihood, the share of the other methods that are better with the same seed. Points are interquartile "
      "means of all campaigns, lines their 95% stratified bootstrap intervals." +
      first + diverged_words(comparisons);
  const std::vector<std::string> names = texts_of(chart.data, "method");
  finish(chart, interval_layers("score", "method", names, chart.data.columns));
  chart.spec["height"] = height_of(names, kStep);
  return chart;
}

std::optional<Chart> profile_chart(const std::vector<Comparison>& comparisons) {
  Chart chart{.id = "profiles", .title = "Performance profiles", .caption = ""};
  chart.data.columns = {kMetric, kModel, {"method", "Method"}, {"threshold", "Score"}, {"share", "Share of campaigns"}};
  for_each_model(comparisons, [&](const std::string& metric, const ModelComparison& model) {
    for (const OverallMethod& method : model.methods) {
      for (std::size_t k = 0; k < method.profile.size(); ++k) {
        chart.data.rows.push_back({metric, model.model, method.method, model.thresholds[k], method.profile[k]});
      }
    }
  });
  if (chart.data.rows.empty()) {
    return std::nullopt;
  }
  chart.caption =
      "Share of campaigns whose score is no larger than the one below: the higher a line, the better. Lines that cross "
      "say that neither method is better throughout.";
  const std::vector<std::string> methods = texts_of(chart.data, "method");
  Json line{{"x", axis("threshold", "Score")},
            {"y", axis("share", "Share of campaigns", {{"scale", {{"domain", {0, 1}}}}})},
            {"tooltip", tooltip(chart.data.columns)}};
  add_series(line, "method", methods, Mark::kLine);
  finish(chart, Json::array({{{"params", Json::array({zoomable()})},
                              {"mark", {{"type", "line"}, {"strokeWidth", 2}, {"interpolate", "step-after"}}},
                              {"encoding", line}}}));
  add_boxes(chart, "method", methods);
  chart.zoom = {"threshold", "share"};
  return chart;
}

std::optional<Chart> improvement_chart(const std::vector<Comparison>& comparisons) {
  Chart chart{.id = "improvement", .title = "Probability of improvement", .caption = ""};
  chart.data.columns = {kMetric,
                        kModel,
                        {"pair", "Methods"},
                        {"problems", "Problems"},
                        {"probability", "Probability"},
                        {"low", "Lower end of 95%"},
                        {"high", "Upper end of 95%"}};
  for_each_model(comparisons, [&](const std::string& metric, const ModelComparison& model) {
    for (const OverallContrast& contrast : model.contrasts) {
      if (std::isfinite(contrast.improvement.estimate) && contrast.num_problems > 0) {
        chart.data.rows.push_back({metric, model.model, fmt::format("{} over {}", contrast.ours, contrast.baseline),
                                   contrast.num_problems, contrast.improvement.estimate, contrast.improvement.low,
                                   contrast.improvement.high});
      }
    }
  });
  if (chart.data.rows.empty()) {
    return std::nullopt;
  }
  chart.caption =
      "How probable it is that a campaign of the first method is better than one of the second, as the mean over the "
      "problems that both have, with 95% bootstrap intervals. Half is chance.";
  const std::vector<std::string> pairs = texts_of(chart.data, "pair");
  Json layers = interval_layers("probability", "pair", pairs, chart.data.columns);
  layers.insert(layers.begin(), upright_line(0.5));
  for (std::size_t k = 1; k < layers.size(); ++k) {
    layers[k]["encoding"]["x"]["scale"] = {{"domain", {0, 1}}};
  }
  finish(chart, std::move(layers));
  chart.spec["height"] = height_of(pairs, kStep);
  return chart;
}

std::optional<Chart> outcome_chart(const std::vector<Comparison>& comparisons) {
  Chart chart{.id = "outcomes", .title = "Where ours is better", .caption = ""};
  chart.data.columns = {kMetric,
                        kModel,
                        {"problem", "Problem"},
                        {"ours", "Ours"},
                        {"baseline", "Baseline"},
                        {"outcome", "Outcome"},
                        {"effect", "Effect, standard deviations"},
                        {"pairs", "Pairs"},
                        {"difference", "Mean difference"},
                        {"sign_flip", "Sign flip, Holm"},
                        {"wilcoxon", "Wilcoxon, Holm"},
                        {"sign_flip_overall", "Sign flip, Holm over all problems"},
                        {"wilcoxon_overall", "Wilcoxon, Holm over all problems"}};
  std::size_t better = 0;
  for (const Comparison& comparison : comparisons) {
    for (const TaskComparison& task : comparison.tasks) {
      for (const PairedContrast& contrast : task.by_area) {
        if (contrast.num_pairs == 0) {
          continue;  // nothing to tell
        }
        better += contrast.outcome == Outcome::kBetter;
        chart.data.rows.push_back({std::string(comparison.metric->title), task.model, task.problem, contrast.ours,
                                   contrast.baseline, std::string(outcome_name(contrast.outcome)), contrast.effect,
                                   contrast.num_pairs, contrast.difference, contrast.sign_flip_adjusted,
                                   contrast.wilcoxon_adjusted, contrast.sign_flip_overall, contrast.wilcoxon_overall});
      }
    }
  }
  if (chart.data.rows.empty()) {
    return std::nullopt;
  }
  chart.caption = fmt::format(
      "Areas under the curve, paired by seed. The numbers are effects in standard deviations of the differences; "
      "positive ones are for ours. Better and worse are by the sign flip test at 5%, corrected by Holm within the "
      "problem: {} of {} contrasts are better.{}",
      better, chart.data.rows.size(), diverged_words(comparisons));
  const std::vector<std::string> problems = texts_of(chart.data, "problem");
  const std::vector<std::string> baselines = texts_of(chart.data, "baseline");
  Json x = names_axis("baseline", baselines);
  x["axis"]["labelAngle"] = baselines.size() > 3 ? -35 : 0;
  const Json place{{"x", x}, {"y", names_axis("problem", problems)}, {"tooltip", tooltip(chart.data.columns)}};
  Json shape = place;
  add_groups(shape, "outcome",
             {{"better", kGreen, "triangle-up"}, {"tie", kGrey, "circle"}, {"worse", kVermillion, "triangle-down"}});
  Json text = place;
  text["text"] = {{"field", "effect"}, {"type", "quantitative"}, {"format", "+.2f"}};
  finish(chart,
         Json::array(
             {{{"mark", {{"type", "point"}, {"filled", true}, {"size", 150}, {"yOffset", -8}}}, {"encoding", shape}},
              {{"mark", {{"type", "text"}, {"yOffset", 10}, {"fontSize", 11}, {"color", "currentColor"}}},
               {"encoding", text}}}));
  add_filter(chart, "ours", "Ours", texts_of(chart.data, "ours"));
  chart.spec["height"] = height_of(problems, 46);
  return chart;
}

std::optional<TableBlock> wins_table(const std::vector<Comparison>& comparisons) {
  TableBlock table{.id = "wins", .title = "Problems won, tied and lost"};
  table.note =
      "By the sign flip test on areas under the curve, paired by seed and corrected by Holm within the problem.";
  table.grid.columns = {kMetric,         kModel,           {"ours", "Ours"},  {"baseline", "Baseline"},
                        {"wins", "Won"}, {"ties", "Tied"}, {"losses", "Lost"}};
  for_each_model(comparisons, [&](const std::string& metric, const ModelComparison& model) {
    for (const OverallContrast& contrast : model.contrasts) {
      table.grid.rows.push_back(
          {metric, model.model, contrast.ours, contrast.baseline, contrast.wins, contrast.ties, contrast.losses});
    }
  });
  return table.grid.rows.empty() ? std::nullopt : std::optional(std::move(table));
}

std::vector<std::string> power_sentences(const std::vector<Comparison>& comparisons) {
  std::vector<std::string> sentences;
  for_each_model(comparisons, [&](const std::string&, const ModelComparison& model) {
    for (const Power& power : model.power) {
      if (!power.sentence.empty()) {
        sentences.push_back(power.sentence);
        sentences.back().front() = static_cast<char>(std::toupper(static_cast<unsigned char>(power.sentence.front())));
      }
    }
  });
  return distinct(sentences);
}

}  // namespace dissent::report
