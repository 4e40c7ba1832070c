#include "dissent/report/chart.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <numeric>
#include <span>

#include "dissent/base/random.hpp"

namespace dissent::report {
namespace {

constexpr int kHeight = 320;
constexpr std::size_t kMostButtons = 4;  // more choices become a drop-down list

}  // namespace

std::vector<std::size_t> drawn_rows(std::size_t num_rows, std::size_t most) {
  std::vector<std::size_t> rows(num_rows);
  std::iota(rows.begin(), rows.end(), std::size_t{0});
  if (num_rows > most) {
    Stream stream(0, Purpose::kSample);
    stream.shuffle(std::span(rows));
    rows.resize(most);
    std::ranges::sort(rows);
  }
  return rows;
}

std::string drawn_text(std::size_t num_drawn, std::size_t num_rows) {
  return num_drawn == num_rows ? "" : fmt::format(" {} of {} rows are drawn, taken at random.", num_drawn, num_rows);
}

Json chart_spec(const std::string& description, Json layers) {
  return {{"$schema", "https://vega.github.io/schema/vega-lite/v6.json"},
          {"description", description},
          {"width", "container"},
          {"height", kHeight},
          {"autosize", {{"type", "fit-x"}, {"contains", "padding"}}},
          {"background", nullptr},
          {"data", {{"name", "rows"}}},
          {"layer", std::move(layers)}};
}

Json axis(std::string_view field, const std::string& title, const Json& more) {
  Json encoding{
      {"field", field}, {"type", "quantitative"}, {"title", title}, {"scale", {{"zero", false}, {"padding", 10}}}};
  encoding.update(more);
  return encoding;
}

void add_groups(Json& encoding, std::string_view field, const std::vector<Group>& groups) {
  Json names = Json::array();
  Json colours = Json::array();
  Json shapes = Json::array();
  for (const Group& group : groups) {
    names.push_back(group.name);
    colours.push_back(group.colour);
    shapes.push_back(group.shape);
  }
  const auto channel = [&](const Json& range) -> Json {
    return {{"field", field},
            {"type", "nominal"},
            {"title", nullptr},
            {"scale", {{"domain", names}, {"range", range}}},
            {"legend", {{"symbolOpacity", 1}, {"symbolSize", 90}, {"columns", 2}}}};  // fits a phone
  };
  encoding["color"] = channel(colours);
  encoding["shape"] = channel(shapes);
}

Json tooltip(const std::vector<Heading>& columns) {
  Json list = Json::array();
  for (const Heading& heading : columns) {
    list.push_back({{"field", heading.name}, {"title", heading.title}});
  }
  return list;
}

Json choice(std::string_view name, const std::string& label, const std::vector<std::string>& options, bool as_list) {
  Json numbers = Json::array();
  for (std::size_t k = 0; k < options.size(); ++k) {
    numbers.push_back(k);
  }
  return {{"name", name},
          {"value", 0},
          {"bind",
           {{"input", as_list || options.size() > kMostButtons ? "select" : "radio"},
            {"name", label},
            {"options", numbers},
            {"labels", options}}}};
}

Json chosen_field(std::string_view name, const std::vector<std::string>& fields) {
  std::vector<std::string> values;
  for (const std::string& field : fields) {
    values.push_back("datum." + field);
  }
  return {{{"calculate", fmt::format("[{}][{}]", fmt::join(values, ", "), name)}, {"as", "shown"}},
          {{"filter", "isValid(datum.shown)"}}};
}

Json chosen_title(std::string_view name, const std::vector<std::string>& titles) {
  return {{"text", {{"expr", fmt::format("{}[{}]", Json(titles).dump(), name)}}},
          {"anchor", "start"},
          {"fontSize", 12},
          {"fontWeight", "normal"}};
}

// Without Ctrl the wheel scrolls the page, and so does a finger.
Json zoomable() {
  return {{"name", "zoom"},
          {"select",
           {{"type", "interval"},
            {"zoom", "wheel![event.ctrlKey || event.metaKey]"},
            {"translate", "[pointerdown[event.pointerType != 'touch'], window:pointerup] > window:pointermove!"}}},
          {"bind", "scales"}};
}

Json line_at(double y) {
  return {{"data", {{"values", Json::array({Json::object()})}}},
          {"mark", {{"type", "rule"}, {"strokeDash", {4, 3}}, {"color", "currentColor"}, {"opacity", 0.6}}},
          {"encoding", {{"y", {{"datum", y}, {"type", "quantitative"}, {"axis", {{"grid", true}}}}}}}};
}

}  // namespace dissent::report
