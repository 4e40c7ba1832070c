#include "dissent/report/study_curves.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <map>
#include <tuple>

#include "dissent/base/names.hpp"
#include "dissent/report/chart.hpp"
#include "dissent/report/study_view.hpp"
#include "dissent/statistics/location.hpp"
#include "dissent/study/diverged.hpp"

namespace dissent::report {
namespace {

constexpr std::size_t kMostPlaces = 51;  // of a curve that are drawn
constexpr std::size_t kMostShapes = 9;   // of them with a shape, to tell curves apart

using CurveKey = std::tuple<std::string, std::string, std::string>;    // problem, model, method
using Curve = std::map<std::size_t, std::vector<const RoundRecord*>>;  // by labelled rows
using Curves = std::vector<std::pair<CurveKey, Curve>>;                // in the order of the grid

Curves curves_of(const StudyResults& results) {
  Curves curves;
  std::map<CurveKey, std::size_t> places;
  for (const StudyRun& run : results.runs) {
    const CurveKey key{run.problem, run.model, run.method};
    for (const RoundRecord& record : run.rounds) {
      const auto [place, is_new] = places.try_emplace(key, curves.size());
      if (is_new) {
        curves.emplace_back(key, Curve{});
      }
      curves[place->second].second[record.labelled].push_back(&record);
    }
  }
  return curves;
}

std::string title_of(std::string_view field) {
  static const std::map<std::string_view, std::string> titles{
      {"rmse", "RMSE"},
      {"rmse_paper", "RMSE as in the paper"},
      {"log_likelihood", "Log-likelihood, nats a row"},
      {"chosen_epistemic", "Epistemic uncertainty of the chosen rows, nats"},
      {"expert_share", "Share of expert rows among the chosen"},
      {"fit_seconds", "Seconds to fit and evaluate"},
      {"score_seconds", "Seconds to choose"},
      {"scoring_seconds", "Seconds to score alone"}};
  const auto found = titles.find(field);
  return found == titles.end() ? std::string(field) : found->second;
}

Metrics kind_of(std::string_view field) {
  if (field == "rmse" || field == "rmse_paper" || field == "log_likelihood") {
    return Metrics::kQuality;
  }
  return field.ends_with("seconds") ? Metrics::kTime : Metrics::kChoice;
}

const Field<RoundRecord>& field_named(std::string_view name) {
  return *std::ranges::find(fields<RoundRecord>(), name, &Field<RoundRecord>::name);
}

std::vector<double> finite_values(const std::vector<const RoundRecord*>& records, const Field<RoundRecord>& field) {
  std::vector<double> values;
  for (const RoundRecord* record : records) {
    if (const double value = as_number(field.get(*record)); std::isfinite(value)) {
      values.push_back(value);
    }
  }
  return values;
}

// The k-th of `num_drawn` places spread over `size`, from the first to the last.
std::size_t spread(std::size_t k, std::size_t num_drawn, std::size_t size) {
  return num_drawn < 2 ? 0 : k * (size - 1) / (num_drawn - 1);
}

void add_curve(Grid& grid, const CurveKey& key, const Curve& curve, const std::vector<Heading>& metrics) {
  const std::vector<std::pair<std::size_t, std::vector<const RoundRecord*>>> all(curve.begin(), curve.end());
  const std::size_t num_drawn = std::min(all.size(), kMostPlaces);
  const std::size_t every = (num_drawn + kMostShapes - 1) / kMostShapes;
  for (std::size_t k = 0; k < num_drawn; ++k) {
    const auto& [labelled, records] = all[spread(k, num_drawn, all.size())];
    const bool shaped = k % every == 0 || k + 1 == num_drawn;
    std::vector<Json> row{std::get<0>(key),     std::get<1>(key),
                          std::get<2>(key),     labelled,
                          records.size(),       2 * labelled >= all.front().first + all.back().first ? "yes" : "no",
                          shaped ? "yes" : "no"};
    for (const Heading& metric : metrics) {
      const std::vector<double> values = finite_values(records, field_named(metric.name));
      for (const double p : {0.5, 0.25, 0.75}) {
        row.push_back(values.empty() ? Json() : Json(quantile(values, p)));
      }
    }
    grid.rows.push_back(std::move(row));
  }
}

// "kl 0.31, random 0.4": the last medians for the problem and model of the first curve.
std::string last_medians(const Curves& curves, const Heading& metric) {
  const auto& [problem, model, first] = curves.front().first;
  std::string text = fmt::format("{} on {} ({}), last medians: ", metric.title, problem, model);
  bool any = false;
  for (const auto& [key, curve] : curves) {
    std::vector<double> values;
    for (auto place = curve.rbegin(); place != curve.rend() && values.empty(); ++place) {
      values = finite_values(place->second, field_named(metric.name));
    }
    if (std::get<0>(key) == problem && std::get<1>(key) == model && !values.empty()) {
      text += fmt::format("{}{} {:.4g}", any ? ", " : "", std::get<2>(key), median(values));
      any = true;
    }
  }
  return any ? text + "." : "";
}

Json layers(const std::vector<std::string>& methods) {
  const Json x = axis("labelled", "Labelled rows", {{"axis", {{"tickMinStep", 1}, {"format", "d"}}}});
  Json band{{"x", x}, {"y", axis("low", "")}, {"y2", {{"field", "high"}}}};
  Json line{{"x", x}, {"y", axis("shown", "")}};
  Json point = line;
  add_series(band, "method", methods, Mark::kArea);
  add_series(line, "method", methods, Mark::kLineWithPoints);
  add_series(point, "method", methods, Mark::kPoint);
  const std::vector<Heading> words{
      {"method", "Method"},      {"labelled", "Labelled rows"}, {"seeds", "Campaigns"}, {"shown", "Median"},
      {"low", "Lower quartile"}, {"high", "Upper quartile"},    {"problem", "Problem"}, {"model", "Model"}};
  point["tooltip"] = tooltip(words);
  point["opacity"] = {{"condition", {{"test", "datum.shaped == 'yes'"}, {"value", 1}}}, {"value", 0}};
  return Json::array({{{"mark", {{"type", "area"}, {"opacity", 0.13}}}, {"encoding", band}},
                      {{"mark", {{"type", "line"}, {"strokeWidth", 2}}}, {"encoding", line}},
                      {{"params", Json::array({zoomable()})},
                       {"mark", {{"type", "point"}, {"filled", true}, {"size", 55}}},
                       {"encoding", point}}});
}

// Chooses the metric: its median, lower and upper quartile as `shown`, `low` and `high`.
void add_metric_choice(Chart& chart, const std::vector<Heading>& metrics) {
  std::vector<std::string> titles;
  std::vector<std::string> names;
  for (const Heading& metric : metrics) {
    titles.push_back(metric.title);
    names.push_back(metric.name);
  }
  if (metrics.size() > 1) {
    chart.spec["params"].push_back(choice("metric", "Metric", titles));
    chart.spec["title"] = chosen_title("metric", titles);
  } else {
    chart.spec["title"] = small_title(titles.front());
  }
  for (const auto& [suffix, as] : {std::pair("", "shown"), {"_low", "low"}, {"_high", "high"}}) {
    const std::string field = metrics.size() > 1
                                  ? fmt::format("datum[{}[metric] + '{}']", expression_list(names), suffix)
                                  : fmt::format("datum.{}{}", names.front(), suffix);
    chart.spec["transform"].push_back({{"calculate", field}, {"as", as}});
  }
  chart.spec["transform"].push_back({{"filter", "isValid(datum.shown)"}});
}

bool any_record(const StudyResults& results, const std::function<bool(const RoundRecord&)>& holds) {
  return std::ranges::any_of(results.runs, [&](const StudyRun& run) { return std::ranges::any_of(run.rounds, holds); });
}

}  // namespace

std::vector<Heading> known_metrics(const StudyResults& results, Metrics which) {
  std::vector<Heading> list;
  for (const Field<RoundRecord>& field : fields<RoundRecord>()) {
    const bool asked_for = field.name != "round" && field.name != "labelled" && kind_of(field.name) == which;
    const bool known =
        any_record(results, [&](const RoundRecord& one) { return std::isfinite(as_number(field.get(one))); });
    const bool repeats = field.name == "rmse_paper" &&  // as with one target
                         !any_record(results, [](const RoundRecord& one) { return one.rmse_paper != one.rmse; });
    if (asked_for && known && !repeats) {
      list.push_back({std::string(field.name), title_of(field.name)});
    }
  }
  return list;
}

Chart curve_chart(const StudyResults& all, const std::string& id, const std::string& title,
                  const std::vector<Heading>& metrics) {
  StudyResults results = all;
  std::size_t num_diverged = 0;
  for (const Heading& metric : metrics) {
    num_diverged += kind_of(metric.name) == Metrics::kQuality ? count_as_worst(results, find_metric(metric.name)) : 0;
  }
  const Curves curves = curves_of(results);
  const std::vector<std::string> methods = study_names(results).methods;
  Chart chart{.id = id, .title = title, .caption = ""};
  chart.data.columns = {{"problem", "Problem"},        {"model", "Model"},     {"method", "Method"},
                        {"labelled", "Labelled rows"}, {"seeds", "Campaigns"}, {"late", "Second half"},
                        {"shaped", "Has a shape"}};
  for (const Heading& metric : metrics) {
    chart.data.columns.push_back({metric.name, metric.title + ", median"});
    chart.data.columns.push_back({metric.name + "_low", metric.title + ", lower quartile"});
    chart.data.columns.push_back({metric.name + "_high", metric.title + ", upper quartile"});
  }
  std::size_t longest = 0;
  for (const auto& [key, curve] : curves) {
    add_curve(chart.data, key, curve, metrics);
    longest = std::max(longest, curve.size());
  }
  chart.caption =
      fmt::format("Lines are medians over seeds, bands reach from the lower to the upper quartile. {}{}",
                  last_medians(curves, metrics.front()),
                  longest > kMostPlaces ? fmt::format(" {} of {} rounds are drawn.", kMostPlaces, longest) : "");
  if (num_diverged > 0) {
    chart.caption +=
        fmt::format(" Diverged, and count as the worst of their problem: {}.", counted(num_diverged, "value"));
  }
  chart.spec = chart_spec(chart.caption, layers(methods));
  chart.spec["params"] = Json::array();
  chart.spec["transform"] = Json::array();
  add_filter(chart, "problem", "Problem", texts_of(chart.data, "problem"));
  add_filter(chart, "model", "Model", texts_of(chart.data, "model"));
  add_metric_choice(chart, metrics);
  chart.spec["params"].push_back(choice("part", "Rounds", {"all", "second half"}));
  chart.spec["transform"].push_back({{"filter", "part == 0 || datum.late == 'yes'"}});
  add_boxes(chart, "method", texts_of(chart.data, "method"));
  chart.zoom = {"labelled", "shown"};
  return chart;
}

}  // namespace dissent::report
