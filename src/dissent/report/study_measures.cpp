#include "dissent/report/study_measures.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <functional>
#include <map>
#include <set>
#include <tuple>

#include "dissent/report/chart.hpp"
#include "dissent/report/study_view.hpp"
#include "dissent/statistics/location.hpp"

namespace dissent::report {
namespace {

// What a side study may vary.
struct Axis {
  const char* title;
  std::function<double(const Measurement&)> at;
};

const std::vector<Axis>& sweep_axes() {
  static const std::vector<Axis> axes{
      {"Output columns", [](const Measurement& one) { return static_cast<double>(one.outputs); }},
      {"Components", [](const Measurement& one) { return static_cast<double>(one.components); }},
      {"Samples", [](const Measurement& one) { return static_cast<double>(one.samples); }},
      {"Input", [](const Measurement& one) { return one.at; }}};
  return axes;
}

struct SweepText {
  const char* title;
  const char* unit;
  const char* caption;
};

const SweepText& sweep_text(const std::string& kind) {
  static const std::map<std::string, SweepText> texts{
      {"seconds", {"Time per estimator", "Seconds for one row", "Medians over seeds. Less is better."}},
      {"bias",
       {"Bias of estimators", "Bias, nats",
        "The estimate minus the true value, on problems with one input; medians over seeds. Zero is right."}},
      {"epistemic",
       {"Epistemic uncertainty by the input", "Epistemic uncertainty, nats",
        "Of the models above. It should be large where data is scarce, and small where data is noisy but plentiful."}}};
  return texts.at(kind);
}

bool has_its_place(const std::string& kind) {
  static const std::set<std::string> kinds{"seconds",   "bias",     "data",           "sample",
                                           "epistemic", "spearman", "matched_samples"};
  return kinds.contains(kind);
}

std::vector<const Measurement*> of_kind(const std::vector<Measurement>& all, const std::string& kind) {
  std::vector<const Measurement*> list;
  for (const Measurement& one : all) {
    if (one.kind == kind) {
      list.push_back(&one);
    }
  }
  return list;
}

constexpr std::size_t kSamples = 2;  // of the axes above

// "mc:1000", or "mc" if the samples vary.
std::string series_name(const Measurement& one, std::size_t varied) {
  if (one.estimator == "quadrature") {
    return "true value";
  }
  const std::string name = one.estimator.substr(0, one.estimator.find(':'));
  return one.samples == 0 ? one.estimator : varied == kSamples ? name : fmt::format("{}:{}", name, one.samples);
}

// What is held fixed while axis `varied` varies: the values of the other axes, except samples, which make a series.
std::vector<double> held(const Measurement& one, std::size_t varied) {
  std::vector<double> values;
  for (std::size_t k = 0; k < sweep_axes().size(); ++k) {
    if (k != varied && k != kSamples) {
      values.push_back(sweep_axes()[k].at(one));
    }
  }
  return values;
}

struct Sweep {
  std::size_t varied = 0;
  std::vector<const Measurement*> list = {};
};

// For each axis, and each problem and model, the largest set of measurements that differ in it while the others are
// held fixed.
std::vector<Sweep> sweeps_of(const std::vector<const Measurement*>& all) {
  std::vector<Sweep> sweeps;
  for (std::size_t axis = 0; axis < sweep_axes().size(); ++axis) {
    using Task = std::pair<std::string, std::string>;
    std::map<Task, std::map<std::vector<double>, std::vector<const Measurement*>>> sets;
    std::vector<Task> order;  // as they were measured
    for (const Measurement* one : all) {
      if (axis != kSamples || one->samples > 0) {
        auto& set = sets[{one->problem, one->model}];
        if (set.empty()) {
          order.emplace_back(one->problem, one->model);
        }
        set[held(*one, axis)].push_back(one);
      }
    }
    const auto num_places = [&](const std::vector<const Measurement*>& list) {
      std::set<double> places;
      for (const Measurement* one : list) {
        places.insert(sweep_axes()[axis].at(*one));
      }
      return places.size();
    };
    Sweep sweep{axis, {}};
    for (const Task& task : order) {
      const auto& by_held = sets[task];
      const auto best = std::ranges::max_element(by_held, {}, [&](const auto& set) { return num_places(set.second); });
      if (num_places(best->second) > 1) {
        sweep.list.insert(sweep.list.end(), best->second.begin(), best->second.end());
      }
    }
    if (!sweep.list.empty()) {
      sweeps.push_back(std::move(sweep));
    }
  }
  return sweeps;
}

// The median over seeds at each place of each line.
void add_sweep(Grid& grid, const Sweep& sweep) {
  using Key = std::tuple<std::string, std::string, std::string, double>;
  std::map<Key, std::vector<double>> values;
  std::vector<Key> order;
  for (const Measurement* one : sweep.list) {
    const Key key{one->problem, one->model, series_name(*one, sweep.varied), sweep_axes()[sweep.varied].at(*one)};
    std::vector<double>& list = values[key];
    if (list.empty()) {
      order.push_back(key);
    }
    list.push_back(one->value);
  }
  for (const Key& key : order) {
    const auto& [problem, model, series, at] = key;
    grid.rows.push_back(
        {sweep_axes()[sweep.varied].title, problem, model, series, at, median(values[key]), values[key].size()});
  }
}

void add_filters(Chart& chart) {
  add_filter(chart, "problem", "Problem", texts_of(chart.data, "problem"));
  add_filter(chart, "model", "Model", texts_of(chart.data, "model"));
}

bool all_positive(const Grid& grid, std::size_t column) {
  return std::ranges::all_of(grid.rows, [&](const auto& row) { return row[column].template get<double>() > 0; });
}

}  // namespace

std::optional<Chart> sweep_chart(const std::vector<Measurement>& measurements, const std::string& kind) {
  const std::vector<Sweep> sweeps = sweeps_of(of_kind(measurements, kind));
  if (sweeps.empty()) {
    return std::nullopt;
  }
  const bool times = kind == "seconds";
  const SweepText& text = sweep_text(kind);
  Chart chart{.id = "measured-" + kind, .title = text.title, .caption = ""};
  chart.data.columns = {{"varied", "Varied"}, {"problem", "Problem"}, {"model", "Model"},       {"series", "Estimator"},
                        {"at", "At"},         {"value", text.unit},   {"count", "Measurements"}};
  for (const Sweep& sweep : sweeps) {
    add_sweep(chart.data, sweep);
  }
  const std::vector<std::string> series = texts_of(chart.data, "series");
  chart.caption = text.caption;
  // Only powers of ten, as 10µ or 1k.
  const Json log = {{"scale", {{"type", "log"}, {"padding", 10}, {"nice", false}}},
                    {"axis", {{"format", "~s"}, {"tickCount", 4}}}};
  const Json plain = Json::object();
  Json place{{"x", axis("at", "", times && all_positive(chart.data, 4) ? log : plain)},
             {"y", axis("value", chart.data.columns[5].title, times && all_positive(chart.data, 5) ? log : plain)},
             {"tooltip", tooltip(chart.data.columns)}};
  Json line = place;
  add_series(line, "series", series, Mark::kLineWithPoints);
  add_series(place, "series", series, Mark::kPoint);
  Json layers = Json::array({{{"mark", {{"type", "line"}, {"strokeWidth", 2}}}, {"encoding", line}},
                             {{"mark", {{"type", "point"}, {"filled", true}, {"size", 55}}}, {"encoding", place}}});
  if (kind == "bias") {
    layers.insert(layers.begin(), line_at(0));
  }
  chart.spec = chart_spec(chart.caption, std::move(layers));
  add_filter(chart, "varied", "Over", texts_of(chart.data, "varied"));
  add_filters(chart);
  add_boxes(chart, "series", series);
  chart.spec["layer"].back()["encoding"]["x"]["title"] = texts_of(chart.data, "varied").size() == 1
                                                             ? Json(texts_of(chart.data, "varied").front())
                                                             : Json("What is varied");
  return chart;
}

std::optional<Chart> picture_chart(const std::vector<Measurement>& measurements) {
  Chart chart{.id = "pictures", .title = "Data and samples", .caption = ""};
  chart.data.columns = {{"what", "What"}, {"problem", "Problem"}, {"model", "Model"}, {"x", "Input"}, {"y", "Output"}};
  const std::vector<const Measurement*> samples = of_kind(measurements, "sample");
  std::vector<std::string> models;
  for (const Measurement* one : samples) {
    models.push_back(one->model);
    chart.data.rows.push_back({"drawn by the model", one->problem, one->model, one->at, one->value});
  }
  models = distinct(models);
  for (const Measurement* one : of_kind(measurements, "data")) {  // the same for every model, unless it names one
    for (const std::string& model : one->model.empty() && !models.empty() ? models : std::vector{one->model}) {
      chart.data.rows.push_back({"data", one->problem, model, one->at, one->value});
    }
  }
  if (chart.data.rows.empty()) {
    return std::nullopt;
  }
  chart.caption = "Problems with one input: the rows that a model was fitted to, and rows that it draws.";
  Json point{{"x", axis("x", "Input")}, {"y", axis("y", "Output")}, {"tooltip", tooltip(chart.data.columns)}};
  add_groups(point, "what", {{"data", kVermillion, "triangle-up"}, {"drawn by the model", kSkyBlue, "circle"}});
  chart.spec = chart_spec(chart.caption,
                          Json::array({{{"params", Json::array({zoomable()})},
                                        {"mark", {{"type", "point"}, {"filled", true}, {"size", 22}, {"opacity", 0.6}}},
                                        {"encoding", point}}}));
  add_filters(chart);
  chart.zoom = {"x", "y"};
  return chart;
}

std::optional<TableBlock> measurement_table(const std::vector<Measurement>& measurements) {
  TableBlock table{.id = "measurements", .title = "Other measurements"};
  table.grid.columns = {{"kind", "Kind"},
                        {"problem", "Problem"},
                        {"model", "Model"},
                        {"estimator", "Estimator"},
                        {"outputs", "Output columns"},
                        {"components", "Components"},
                        {"samples", "Samples"},
                        {"count", "Measurements"},
                        {"median", "Median"},
                        {"least", "Least"},
                        {"most", "Largest"}};
  using Key = std::tuple<std::string, std::string, std::string, std::string, std::size_t, std::size_t, std::size_t>;
  std::map<Key, std::vector<double>> values;
  for (const Measurement& one : measurements) {
    if (!has_its_place(one.kind)) {
      values[{one.kind, one.problem, one.model, one.estimator, one.outputs, one.components, one.samples}].push_back(
          one.value);
    }
  }
  const auto known = [](std::size_t count) { return count > 0 ? Json(count) : Json(); };
  for (const auto& [key, list] : values) {
    const auto& [kind, problem, model, estimator, outputs, components, samples] = key;
    table.grid.rows.push_back({kind, problem, model, estimator, known(outputs), known(components), known(samples),
                               list.size(), median(list), std::ranges::min(list), std::ranges::max(list)});
  }
  return values.empty() ? std::nullopt : std::optional(std::move(table));
}

}  // namespace dissent::report
