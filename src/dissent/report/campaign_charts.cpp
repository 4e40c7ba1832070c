#include "dissent/report/campaign_charts.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iterator>

#include "dissent/base/names.hpp"
#include "dissent/report/campaign_states.hpp"
#include "dissent/report/chart.hpp"
#include "dissent/report/pool_map.hpp"

namespace dissent::report {
namespace {

const Json kWholeNumbers{{"axis", {{"tickMinStep", 1}, {"format", "d"}}}};

// "0.91 with 30 rows, 0.42 with 80": the first and the last model for which it is known.
std::string first_and_last(const std::vector<RoundRecord>& models, double RoundRecord::*metric) {
  std::vector<const RoundRecord*> known;
  for (const RoundRecord& record : models) {
    if (std::isfinite(record.*metric)) {
      known.push_back(&record);
    }
  }
  if (known.empty()) {
    return "not known";
  }
  const auto part = [&](const RoundRecord& record) {
    return fmt::format("{:.4g} with {}", record.*metric, counted(record.labelled, "labelled row"));
  };
  return part(*known.front()) + (known.size() > 1 ? ", " + part(*known.back()) : "");
}

void add_choice(Chart& chart, const char* name, const std::string& label, const std::vector<Heading>& of) {
  std::vector<std::string> fields;
  std::vector<std::string> titles;
  for (const Heading& heading : of) {
    fields.push_back(heading.name);
    titles.push_back(heading.title);
  }
  chart.spec["params"].push_back(choice(name, label, titles));
  chart.spec["transform"] = chosen_field(name, fields);
  chart.spec["title"] = chosen_title(name, titles);
}

struct Place {
  std::vector<double> inputs;  // [rows][C]
  std::vector<std::vector<Json>> cells;

  void add(std::span<const double> row, std::vector<Json> described) {
    inputs.insert(inputs.end(), row.begin(), row.end());
    cells.push_back(std::move(described));
  }
};

// Rows to draw, the ones of interest last, so that they lie on top: where, number, round and state.
Place places(const CampaignView& view) {
  const std::size_t C = view.num_inputs();
  const std::size_t num_chosen = view.chosen.size() / C;
  std::vector<std::uint8_t> taken(view.pool.size() / C);
  for (const ChosenRow& chosen : view.campaign.chosen) {
    if (chosen.row < taken.size()) {
      taken[chosen.row] = 1;
    }
  }
  Place place;
  const auto row_of = [C](const std::vector<double>& matrix, std::size_t row) {
    return std::span(matrix).subspan(row * C, C);
  };
  for (const std::size_t row : drawn_rows(taken.size())) {
    if (taken[row] == 0) {
      place.add(row_of(view.pool, row), {row, 0, kPool});
    }
  }
  for (const std::size_t row : drawn_rows(view.start.size() / C)) {
    place.add(row_of(view.start, row), {nullptr, 0, kStart});
  }
  const std::vector<double>& extra = view.campaign.extra.inputs;
  for (const std::size_t row : drawn_rows(extra.size() / C)) {
    place.add(row_of(extra, row), {nullptr, 0, kExtra});
  }
  for (const bool waiting : {false, true}) {
    for (const std::size_t k : drawn_rows(num_chosen)) {
      const ChosenRow& chosen = view.campaign.chosen[k];
      if (chosen.is_pending() == waiting) {
        place.add(row_of(view.chosen, k), {chosen.row, chosen.round, state_of(chosen)});
      }
    }
  }
  return place;
}

std::string map_caption(const CampaignView& view, const PoolMap& map) {
  std::string text =
      fmt::format("{} labelled since the start, {} waiting, {} dropped.", counted(view.status.told, "row"),
                  view.status.waiting.size(), view.status.dropped.size());
  if (view.num_inputs() > 2) {
    text += fmt::format(" The two principal components show {:.0f}% of the variance of {} scaled input columns.",
                        100 * map.explained, view.num_inputs());
  } else if (view.num_inputs() == 1) {
    text += " Rows that no round chose lie at round 0.";
  }
  if (view.pool.empty()) {
    text += " The campaign keeps no copy of its pool, so only chosen rows are drawn.";
  }
  return text +
         drawn_text(std::min(view.pool.size() / view.num_inputs(), kMostPoints), view.pool.size() / view.num_inputs());
}

}  // namespace

std::vector<RoundRecord> models(const Campaign& campaign) {
  std::vector<RoundRecord> list = measured_models(campaign);
  const bool newer = campaign.fitted && (list.empty() || campaign.fitted->labelled > list.back().labelled);
  if (newer) {
    list.push_back(*campaign.fitted);
    list.back().chosen_epistemic = std::nan("");  // it has not chosen yet
    list.back().score_seconds = std::nan("");
  }
  return list;
}

Chart learning_chart(const Campaign& campaign) {
  const std::vector<RoundRecord> list = models(campaign);
  const bool measured = std::ranges::any_of(list, [](const RoundRecord& record) { return std::isfinite(record.rmse); });
  Chart chart{.id = "learning", .title = "Learning curve", .caption = ""};
  chart.data.columns = {{"round", "Round"},
                        {"labelled", "Labelled rows"},
                        {"rmse", "RMSE"},
                        {"log_likelihood", "Log-likelihood"},
                        {"chosen_epistemic", "Mean epistemic of the chosen rows, nats"}};
  for (const RoundRecord& record : list) {
    chart.data.rows.push_back(
        {record.round, record.labelled, record.rmse, record.log_likelihood, record.chosen_epistemic});
  }
  if (measured) {
    chart.caption =
        fmt::format("On the test rows. RMSE: {}. Log-likelihood: {}.", first_and_last(list, &RoundRecord::rmse),
                    first_and_last(list, &RoundRecord::log_likelihood));
  } else {
    chart.caption = fmt::format(
        "There are no test rows, so nothing tells how good the models are; what is left to learn falls with the "
        "uncertainty of the rows chosen. Mean epistemic uncertainty: {}.",
        first_and_last(list, &RoundRecord::chosen_epistemic));
  }
  const Json place{{"x", axis("labelled", "Labelled rows", kWholeNumbers)},
                   {"y", axis("shown", "")},
                   {"tooltip", tooltip(chart.data.columns)}};
  chart.spec = chart_spec(chart.caption,
                          Json::array({{{"mark", {{"type", "line"}, {"color", kBlue}}}, {"encoding", place}},
                                       {{"params", Json::array({zoomable()})},
                                        {"mark", {{"type", "point"}, {"filled", true}, {"color", kBlue}, {"size", 45}}},
                                        {"encoding", place}}}));
  const std::vector<Heading> metrics(chart.data.columns.begin() + (measured ? 2 : 4), chart.data.columns.end());
  add_choice(chart, "metric", "Metric", metrics);
  chart.zoom = {"labelled", "shown"};
  return chart;
}

std::size_t num_asked(const Campaign& campaign) {
  return static_cast<std::size_t>(
      std::ranges::count_if(campaign.chosen, [](const ChosenRow& chosen) { return chosen.round > 0; }));
}

Chart chosen_chart(const Campaign& campaign) {
  std::vector<ChosenRow> asked;
  std::ranges::copy_if(campaign.chosen, std::back_inserter(asked),
                       [](const ChosenRow& chosen) { return chosen.round > 0; });
  const std::vector<std::size_t> rows = drawn_rows(asked.size());
  Chart chart{.id = "chosen", .title = "Chosen rows by round", .caption = ""};
  chart.data.columns = {{"round", "Round"},
                        {"row", "Row of the pool, from 0"},
                        {"score", "Score"},
                        {"epistemic", "Epistemic uncertainty, nats"},
                        {"aleatoric", "Aleatoric uncertainty, nats"},
                        {"state", "State"},
                        {"why", "Why"}};
  for (const std::size_t k : rows) {
    const ChosenRow& row = asked[k];
    chart.data.rows.push_back({row.round, row.row, row.score, row.epistemic, row.aleatoric, state_of(row), row.why});
  }
  chart.caption = fmt::format("{} chosen in {}, by {}; the line joins the medians. {} of them {} for a label.{}",
                              counted(asked.size(), "row"), counted(campaign.rounds.size(), "round"),
                              campaign.settings.acquisition.text(), campaign.num_pending(),
                              campaign.num_pending() == 1 ? "waits" : "wait", drawn_text(rows.size(), asked.size()));
  const Json x = axis("round", "Round", kWholeNumbers);
  Json point{{"x", x}, {"y", axis("shown", "")}, {"tooltip", tooltip(chart.data.columns)}};
  add_groups(point, "state", groups_of(chart.data.rows, 5));
  chart.spec = chart_spec(
      chart.caption,
      Json::array({{{"mark", {{"type", "line"}, {"color", "currentColor"}, {"opacity", 0.6}, {"strokeWidth", 1.5}}},
                    {"encoding", {{"x", x}, {"y", axis("shown", "", {{"aggregate", "median"}})}}}},
                   {{"params", Json::array({zoomable()})},
                    {"mark", {{"type", "point"}, {"filled", true}, {"size", 60}, {"opacity", 0.7}}},
                    {"encoding", point}}}));
  add_choice(chart, "quantity", "Show", {chart.data.columns[2], chart.data.columns[3], chart.data.columns[4]});
  chart.zoom = {"round", "shown"};
  return chart;
}

Chart map_chart(const CampaignView& view) {
  Place place = places(view);
  const PoolMap map = map_rows(place.inputs, view.input_names);
  Chart chart{.id = "map", .title = "Map of the pool", .caption = map_caption(view, map)};
  const bool line = map.y.empty();
  chart.data.columns = {{"x", map.x_title},
                        {"y", line ? "Round" : map.y_title},
                        {"row", "Row of the pool, from 0"},
                        {"round", "Chosen in round"},
                        {"state", "State"}};
  for (std::size_t k = 0; k < place.cells.size(); ++k) {
    const Json y = line ? place.cells[k][1] : Json(map.y[k]);
    chart.data.rows.push_back({map.x[k], y, place.cells[k][0], place.cells[k][1], place.cells[k][2]});
  }
  Json point{{"x", axis("x", map.x_title)},
             {"y", axis("y", chart.data.columns[1].title)},
             {"tooltip", tooltip(chart.data.columns)}};
  add_groups(point, "state", groups_of(chart.data.rows, 4));
  // Rows of the pool are many and small, and lie below the others.
  const auto layer = [&](const char* condition, int size, double opacity) -> Json {
    return {{"transform", Json::array({{{"filter", fmt::format("datum.state {} '{}'", condition, kPool)}}})},
            {"mark", {{"type", "point"}, {"filled", true}, {"size", size}, {"opacity", opacity}}},
            {"encoding", point}};
  };
  Json others = layer("!=", 75, 0.9);
  others["params"] = Json::array({zoomable()});
  chart.spec = chart_spec(chart.caption, Json::array({layer("==", 22, 0.5), others}));
  chart.zoom = {"x", "y"};
  return chart;
}

}  // namespace dissent::report
