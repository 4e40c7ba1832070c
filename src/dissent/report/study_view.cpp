#include "dissent/report/study_view.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>

#include "dissent/report/chart.hpp"

namespace dissent::report {
namespace {

constexpr std::array kColours{kBlue, kVermillion, kGreen, kPurple, kOrange, kSkyBlue, kGrey};
constexpr std::array kShapes{"circle", "square", "triangle-up", "diamond", "cross", "triangle-down"};

// Solid, dashed, dotted, dash-dotted, long-dashed.
const Json kDashes = Json::array({{1, 0}, {6, 3}, {2, 2}, {8, 3, 2, 3}, {12, 4}});

// The k-th look: series beyond the first seven have the same colours with other dashes and shapes.
std::size_t look(std::size_t k, std::size_t num_looks) { return (k + k / kColours.size()) % num_looks; }

void append(Json& spec, const char* key, Json value) {
  if (!spec.contains(key)) {
    spec[key] = Json::array();
  }
  spec[key].push_back(std::move(value));
}

}  // namespace

std::vector<std::string> distinct(const std::vector<std::string>& names) {
  std::vector<std::string> list;
  for (const std::string& name : names) {
    if (std::ranges::find(list, name) == list.end()) {
      list.push_back(name);
    }
  }
  return list;
}

std::vector<std::string> texts_of(const Grid& grid, std::string_view column) {
  const auto place = std::ranges::find(grid.columns, column, &Heading::name) - grid.columns.begin();
  std::vector<std::string> list;
  for (const auto& row : grid.rows) {
    list.push_back(row[static_cast<std::size_t>(place)].get<std::string>());
  }
  return distinct(list);
}

StudyNames study_names(const StudyResults& results) {
  const auto all = [&](std::string StudyRun::*field) {
    std::vector<std::string> names;
    for (const StudyRun& run : results.runs) {
      names.push_back(run.*field);
    }
    return distinct(names);
  };
  return {all(&StudyRun::problem), all(&StudyRun::model), all(&StudyRun::method)};
}

void add_series(Json& encoding, std::string_view field, const std::vector<std::string>& names, Mark mark) {
  Json colours = Json::array();
  Json shapes = Json::array();
  Json dashes = Json::array();
  for (std::size_t k = 0; k < names.size(); ++k) {
    colours.push_back(kColours[k % kColours.size()]);
    shapes.push_back(kShapes[look(k, kShapes.size())]);
    dashes.push_back(kDashes[look(k, kDashes.size())]);
  }
  Json legend{{"symbolOpacity", 1}, {"symbolSize", 90}, {"columns", {{"expr", "width < 500 ? 2 : 4"}}}};
  if (mark != Mark::kLine) {
    legend["symbolStrokeWidth"] = 0;  // the outline of a filled shape, which dashes would fray
  }
  const auto channel = [&](const Json& range) -> Json {
    return {{"field", field},
            {"type", "nominal"},
            {"title", nullptr},
            {"scale", {{"domain", names}, {"range", range}}},
            {"legend", legend}};
  };
  encoding["color"] = channel(colours);
  if (mark == Mark::kLine || mark == Mark::kLineWithPoints) {
    encoding["strokeDash"] = channel(dashes);
  } else if (mark == Mark::kPoint) {
    encoding["shape"] = channel(shapes);
  }
}

Json names_axis(std::string_view field, const std::vector<std::string>& names) {
  return {{"field", field},
          {"type", "nominal"},
          {"title", nullptr},
          {"scale", {{"domain", names}}},
          {"axis", {{"labelLimit", 170}, {"grid", true}}}};
}

Json small_title(const std::string& text) {
  return {{"text", text}, {"anchor", "start"}, {"fontSize", 12}, {"fontWeight", "normal"}};
}

std::string expression_list(const std::vector<std::string>& names) {
  return Json(names).dump(-1, ' ', true, Json::error_handler_t::replace);
}

void add_filter(Chart& chart, std::string_view field, const std::string& label, const std::vector<std::string>& names) {
  if (names.size() < 2) {
    return;
  }
  const std::string parameter = fmt::format("of_{}", field);
  append(chart.spec, "params", choice(parameter, label, names));
  append(chart.spec, "transform",
         {{"filter", fmt::format("datum.{} == {}[{}]", field, expression_list(names), parameter)}});
}

void add_boxes(Chart& chart, std::string_view field, const std::vector<std::string>& names) {
  if (names.size() < 2) {
    return;
  }
  std::vector<std::string> ticked;
  for (std::size_t k = 0; k < names.size(); ++k) {
    ticked.push_back(fmt::format("with_{}", k));
    append(chart.spec, "params",
           {{"name", ticked.back()}, {"value", true}, {"bind", {{"input", "checkbox"}, {"name", names[k]}}}});
  }
  append(
      chart.spec, "transform",
      {{"filter", fmt::format("[{}][indexof({}, datum.{})]", fmt::join(ticked, ", "), expression_list(names), field)}});
}

}  // namespace dissent::report
