#include "dissent/report/model_charts.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "dissent/ensemble/metrics.hpp"
#include "dissent/report/chart.hpp"

namespace dissent::report {
namespace {

constexpr std::size_t kMostRecords = 20'000;  // of all targets together
constexpr int kLevels = 19;                   // 5%, 10%, ..., 95%
constexpr double kTwoSided95 = 1.96;          // standard normal
constexpr double kLargeErrors = 0.1;          // share of rows

const std::string kInside = "inside its interval";
const std::string kOutside = "outside";

std::vector<std::size_t> rows_of_targets(const HeldOut& held_out) {
  return drawn_rows(held_out.num_rows,
                    std::min(kMostPoints, std::max<std::size_t>(kMostRecords / held_out.num_targets, 100)));
}

// Adds a control and a filter for the targets, if there are several.
void choose_target(Json& spec, std::vector<std::string> targets, const std::string& all = "") {
  if (targets.size() > 1) {
    if (!all.empty()) {
      targets.insert(targets.begin(), all);
    }
    spec["params"] = Json::array({choice("target", "Target", targets, true)});
    spec["transform"] = Json::array({{{"filter", "datum.target == target"}}});
  }
}

// From one corner of the data to the other.
Json diagonal(std::string_view field) {
  const std::string a(field);
  return {{"transform",
           {{{"aggregate", {{{"op", "min"}, {"field", a}, {"as", "a"}}, {{"op", "max"}, {"field", a}, {"as", "b"}}}}}}},
          {"mark", {{"type", "rule"}, {"strokeDash", {4, 3}}, {"color", "currentColor"}, {"opacity", 0.6}}},
          {"encoding",
           {{"x", {{"field", "a"}, {"type", "quantitative"}}},
            {"x2", {{"field", "b"}}},
            {"y", {{"field", "a"}, {"type", "quantitative"}}},
            {"y2", {{"field", "b"}}}}}};
}

std::string percent(double share) { return fmt::format("{:.1f}%", 100 * share); }

std::string of_targets(const HeldOut& held_out, const std::vector<std::string>& targets) {
  return held_out.num_targets == 1 ? targets[0] : fmt::format("{} targets", held_out.num_targets);
}

}  // namespace

Chart parity_chart(const HeldOut& held_out, const std::vector<std::string>& targets) {
  const std::vector<std::size_t> rows = rows_of_targets(held_out);
  Chart chart{.id = "parity", .title = "Predicted and actual values", .caption = ""};
  chart.data.columns = {{"target", "Target, from 0"}, {"row", "Row, from 0"}, {"actual", "Actual"},
                        {"predicted", "Predicted"},   {"low", "5% quantile"}, {"high", "95% quantile"},
                        {"state", "Actual value is"}};
  for (std::size_t d = 0; d < held_out.num_targets; ++d) {
    for (const std::size_t n : rows) {
      const double actual = held_out.targets[n * held_out.num_targets + d];
      const double low = held_out.low(n, d);
      const double high = held_out.high(n, d);
      chart.data.rows.push_back({d, n, actual, held_out.summary.mean[n * held_out.num_targets + d], low, high,
                                 low <= actual && actual <= high ? kInside : kOutside});
    }
  }
  const Scores all = scores(held_out);
  chart.caption = fmt::format(
      "Each point is a held-out row of {}; its line is the interval that should hold the actual value 9 times in 10. "
      "{} "
      "of the intervals do. On the dashed line predictions are exact. RMSE {:.4g}.{}",
      of_targets(held_out, targets), percent(all.coverage_90), all.rmse, drawn_text(rows.size(), held_out.num_rows));
  const Json x = axis("actual", "Actual");
  Json point{{"x", x}, {"y", axis("predicted", "Predicted")}, {"tooltip", tooltip(chart.data.columns)}};
  Json interval{{"x", x}, {"y", axis("low", "Predicted")}, {"y2", {{"field", "high"}}}};
  const std::vector<Group> groups{{kInside, kBlue, "circle"}, {kOutside, kVermillion, "triangle-up"}};
  add_groups(point, "state", groups);
  interval["color"] = point["color"];
  const double opacity = rows.size() > 300 ? 0.25 : 0.45;
  chart.spec =
      chart_spec(chart.caption, {{{"mark", {{"type", "rule"}, {"opacity", opacity}}}, {"encoding", interval}},
                                 diagonal("actual"),
                                 {{"params", Json::array({zoomable()})},
                                  {"mark", {{"type", "point"}, {"filled", true}, {"size", 48}, {"opacity", 0.8}}},
                                  {"encoding", point}}});
  choose_target(chart.spec, targets);
  chart.zoom = {"actual", "predicted"};
  return chart;
}

Chart calibration_chart(const HeldOut& held_out, const std::vector<std::string>& targets) {
  const std::size_t D = held_out.num_targets;
  Chart chart{.id = "calibration", .title = "Calibration: do the intervals hold what they promise?", .caption = ""};
  chart.data.columns = {{"target", "Target, from 1; 0: all"},
                        {"expected", "Promised share"},
                        {"observed", "Observed share"},
                        {"low", "Chance, from"},
                        {"high", "Chance, to"}};
  for (std::size_t t = 0; t <= (D > 1 ? D : 0); ++t) {
    const std::optional<std::size_t> target = t == 0 ? std::nullopt : std::optional(t - 1);
    const std::vector<double> cdf = values_of(held_out.summary.cdf, D, target);
    for (int level = 1; level <= kLevels; ++level) {
      const double p = level / (kLevels + 1.0);
      // Rows count, not values: the values of one row go together.
      const double margin = kTwoSided95 * std::sqrt(p * (1 - p) / static_cast<double>(held_out.num_rows));
      chart.data.rows.push_back({t, p, coverage(cdf, p), std::max(0.0, p - margin), std::min(1.0, p + margin)});
    }
  }
  const Scores all = scores(held_out);
  chart.caption = fmt::format(
      "A good model stays near the dashed line; above it intervals are too wide, below too narrow. The band is where "
      "19 "
      "of 20 perfect models would be with {} rows. Intervals of 50, 90 and 95% hold {}, {} and {} of the values.",
      held_out.num_rows, percent(all.coverage_50), percent(all.coverage_90), percent(all.coverage_95));
  const Json share{{"scale", {{"domain", {0, 1}}}}, {"axis", {{"format", "%"}}}};
  const Json x = axis("expected", "Promised share of values in the interval", share);
  chart.spec = chart_spec(
      chart.caption,
      {{{"mark", {{"type", "area"}, {"color", kGrey}, {"opacity", 0.3}}},
        {"encoding", {{"x", x}, {"y", axis("low", "Observed share", share)}, {"y2", {{"field", "high"}}}}}},
       diagonal("expected"),
       {{"mark", {{"type", "line"}, {"color", kBlue}, {"point", {{"color", kBlue}, {"size", 40}}}}},
        {"encoding",
         {{"x", x}, {"y", axis("observed", "Observed share", share)}, {"tooltip", tooltip(chart.data.columns)}}}}});
  choose_target(chart.spec, targets, "all targets");
  return chart;
}

Chart residual_chart(const HeldOut& held_out, const std::vector<std::string>& targets) {
  const std::size_t D = held_out.num_targets;
  const std::vector<std::size_t> rows = rows_of_targets(held_out);
  Chart chart{.id = "residuals", .title = "Residuals", .caption = ""};
  chart.data.columns = {{"target", "Target, from 0"},
                        {"row", "Row, from 0"},
                        {"predicted", "Predicted"},
                        {"residual", "Residual"},
                        {"standard", "Residual / predicted stddev"}};
  for (std::size_t d = 0; d < D; ++d) {
    for (const std::size_t n : rows) {
      const double predicted = held_out.summary.mean[n * D + d];
      const double residual = held_out.targets[n * D + d] - predicted;
      chart.data.rows.push_back({d, n, predicted, residual, residual / held_out.summary.stddev[n * D + d]});
    }
  }
  std::size_t far = 0;
  for (std::size_t k = 0; k < held_out.targets.size(); ++k) {
    far += std::abs(held_out.targets[k] - held_out.summary.mean[k]) > 3 * held_out.summary.stddev[k] ? 1 : 0;
  }
  chart.caption = fmt::format(
      "Actual minus predicted value. A pattern here is something the model has not learned. {} of {} values lie beyond "
      "three predicted standard deviations.{}",
      far, held_out.targets.size(), drawn_text(rows.size(), held_out.num_rows));
  chart.spec =
      chart_spec(chart.caption,
                 {line_at(0),
                  {{"params", Json::array({zoomable()})},
                   {"mark", {{"type", "point"}, {"filled", true}, {"size", 40}, {"opacity", 0.6}, {"color", kBlue}}},
                   {"encoding",
                    {{"x", axis("predicted", "Predicted")},
                     {"y", axis("shown", "")},
                     {"tooltip", tooltip(chart.data.columns)}}}}});
  choose_target(chart.spec, targets);
  const Json units = choice("measure", "In units of", {"the target", "the predicted stddev"});
  chart.spec["params"].push_back(units);
  for (const Json& step : chosen_field("measure", {"residual", "standard"})) {
    chart.spec["transform"].push_back(step);
  }
  chart.spec["title"] = chosen_title("measure", {"Residual", "Residual / predicted standard deviation"});
  chart.zoom = {"predicted", "shown"};
  return chart;
}

Chart uncertainty_chart(const HeldOut& held_out) {
  const std::vector<std::size_t> rows = drawn_rows(held_out.num_rows);
  const std::vector<double> errors = row_errors(held_out);
  std::vector<double> sorted = errors;
  std::ranges::sort(sorted);
  const auto first_large = static_cast<std::size_t>((1 - kLargeErrors) * static_cast<double>(sorted.size()));
  const double large = sorted[std::min(first_large, sorted.size() - 1)];
  const std::vector<Group> groups{{"error among the largest tenth", kVermillion, "triangle-up"},
                                  {"smaller error", kBlue, "circle"}};
  Chart chart{.id = "uncertainty", .title = "Epistemic against aleatoric uncertainty", .caption = ""};
  chart.data.columns = {{"row", "Row, from 0"},
                        {"aleatoric", "Aleatoric, nats"},
                        {"epistemic", "Epistemic, nats"},
                        {"error", "Error / RMSE"},
                        {"state", "Group"}};
  for (const std::size_t n : rows) {
    chart.data.rows.push_back({n, held_out.uncertainty.aleatoric[n], held_out.uncertainty.epistemic[n], errors[n],
                               groups[errors[n] >= large ? 0 : 1].name});
  }
  const double rank = held_out.num_rows > 1 ? spearman(held_out.uncertainty.epistemic, errors) : std::nan("");
  chart.caption = fmt::format(
      "Epistemic uncertainty is what more rows could teach the model, aleatoric what they could not. {}{}",
      std::isnan(rank) ? "" : fmt::format("Rank correlation of epistemic uncertainty and error: {:.2f}.", rank),
      drawn_text(rows.size(), held_out.num_rows));
  Json point{{"x", axis("aleatoric", "Aleatoric, nats")},
             {"y", axis("epistemic", "Epistemic, nats")},
             {"tooltip", tooltip(chart.data.columns)}};
  add_groups(point, "state", groups);
  const Json points{{"params", Json::array({zoomable()})},
                    {"mark", {{"type", "point"}, {"filled", true}, {"size", 52}, {"opacity", 0.7}}},
                    {"encoding", point}};
  chart.spec = chart_spec(chart.caption, Json::array({points}));
  chart.zoom = {"aleatoric", "epistemic"};
  return chart;
}

}  // namespace dissent::report
