#include "dissent/report/campaign_page.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <iterator>
#include <span>
#include <utility>

#include "dissent/base/names.hpp"
#include "dissent/report/campaign_charts.hpp"
#include "dissent/report/model_page.hpp"
#include "dissent/table/own_columns.hpp"

namespace dissent::report {
namespace {

constexpr std::size_t kMostColumns = 12;  // of the pool, in a table of rows

KeyNumbers key_numbers(const CampaignView& view) {
  const Campaign& campaign = view.campaign;
  const CampaignStatus& status = view.status;
  const std::string told =
      fmt::format("{} since the start{}", status.told,
                  status.extra > 0 ? fmt::format(", {} of them not of the pool", status.extra) : "");
  KeyNumbers numbers{{{"Rounds", fmt::format("{}", campaign.rounds.size()), ""}}};
  numbers.list.push_back({"Labelled rows", status.given ? fmt::format("{}", status.labelled()) : "not known", told});
  numbers.list.push_back({"Waiting", fmt::format("{}", status.waiting.size()), "for their labels"});
  if (!status.dropped.empty()) {
    numbers.list.push_back({"Dropped", fmt::format("{}", status.dropped.size()), "without a label"});
  }
  if (status.pool) {
    const bool narrowed = status.may_come && *status.may_come != *status.left;
    numbers.list.push_back(
        {"Left in the pool", fmt::format("{}", *status.left),
         fmt::format("of {}{}", *status.pool, narrowed ? fmt::format("; {} may be chosen", *status.may_come) : "")});
  }
  const std::vector<RoundRecord> list = models(campaign);
  if (!list.empty() && std::isfinite(list.back().rmse)) {
    numbers.list.push_back({"RMSE", fmt::format("{:.4g}", list.back().rmse), "of the last model, on the test rows"});
    numbers.list.push_back({"Log-likelihood", fmt::format("{:.4g}", list.back().log_likelihood), "nats per row"});
  }
  return numbers;
}

TableBlock rounds_table(const Campaign& campaign) {
  TableBlock table{.id = "rounds", .title = "Models by round"};
  table.note = "The model of each round, before it chose. A last line without choice is the present model.";
  for (const Field<RoundRecord>& field : fields<RoundRecord>()) {
    table.grid.columns.push_back({std::string(field.name), std::string(field.name)});
  }
  for (const RoundRecord& record : models(campaign)) {
    std::vector<Json> row;
    for (const Field<RoundRecord>& field : fields<RoundRecord>()) {
      const Value value = field.get(record);
      const auto* whole = std::get_if<std::uint64_t>(&value);
      row.push_back(whole != nullptr ? Json(*whole) : Json(as_number(value)));
    }
    table.grid.rows.push_back(std::move(row));
  }
  return table;
}

Json cell_json(const Column& column, std::size_t row) {
  if (column.is_missing(row)) {
    return {};
  }
  return column.is_text() ? Json(column.text[row]) : Json(column.values[row]);
}

// Headings of ours give way to the user's columns, as in the table to fill in.
std::vector<Heading> waiting_headings(std::span<const Column> columns) {
  std::vector<std::string> theirs;
  for (const Column& column : columns) {
    theirs.push_back(column.name);
  }
  std::vector<Heading> headings;
  for (const auto& [name, title] : {std::pair("row", "Row, from 0"),
                                    {"round", "Round"},
                                    {"why", "Why"},
                                    {"score", "Score"},
                                    {"epistemic", "Epistemic, nats"},
                                    {"aleatoric", "Aleatoric, nats"}}) {
    headings.push_back({own_column(name, theirs), title});
  }
  for (const std::string& name : theirs) {
    headings.push_back({name, name});
  }
  return headings;
}

TableBlock waiting_table(const CampaignView& view) {
  TableBlock table{.id = "waiting", .title = "Rows that wait for their labels"};
  const Table& rows = view.chosen_columns;
  const std::span<const Column> shown = std::span(rows.columns).first(std::min(rows.columns.size(), kMostColumns));
  table.grid.columns = waiting_headings(shown);
  for (const std::size_t k : pending(view.campaign)) {
    const ChosenRow& row = view.campaign.chosen[k];
    std::vector<Json> cells{row.row, row.round, row.why, row.score, row.epistemic, row.aleatoric};
    for (const Column& column : shown) {
      cells.push_back(k < rows.num_rows ? cell_json(column, k) : Json());
    }
    table.grid.rows.push_back(std::move(cells));
  }
  if (shown.size() < rows.columns.size()) {
    table.note = fmt::format("With the first {} of {} columns of the pool.", shown.size(), rows.columns.size());
  }
  return table;
}

TableBlock settings_table(const Campaign& campaign) {
  TableBlock table{.id = "settings", .title = "All settings"};
  table.grid.columns = {{"setting", "Setting"}, {"value", "Value"}};
  for (const Field<CampaignSettings>& field : fields<CampaignSettings>()) {
    if (const std::string text = to_text(field.get(campaign.settings)); !text.empty()) {
      table.grid.rows.push_back({std::string(field.name), text});
    }
  }
  return table;
}

std::string subtitle(const Campaign& campaign) {
  const Model model = campaign.settled ? campaign.settled->model : campaign.settings.fit.ensemble.model;
  return fmt::format(
      "{}, rows chosen by {}, model {}, seed {}",
      campaign.driver == Driver::kAsk ? "Labels come from people" : "Labels come from a table or an oracle",
      campaign.settings.acquisition.text(), model_name(model), campaign.settings.fit.ensemble.seed);
}

}  // namespace

Page campaign_page(const CampaignView& view, const HeldOut* held_out) {
  const Campaign& campaign = view.campaign;
  const std::string name = std::filesystem::path(view.name).lexically_normal().filename().string();
  Page page{.title = "Campaign " + (name.empty() ? view.name : name), .subtitle = subtitle(campaign)};
  Section standing{"standing", "Where it stands", {key_numbers(view)}};
  if (!models(campaign).empty()) {
    standing.blocks.emplace_back(learning_chart(campaign));
  }
  page.sections.push_back(std::move(standing));
  if (num_asked(campaign) > 0) {
    page.sections.push_back({"chosen-section", "Chosen rows", {chosen_chart(campaign)}});
  }
  if (!view.pool.empty() || !view.chosen.empty()) {
    page.sections.push_back({"map-section", "Map", {map_chart(view)}});
  }
  if (!view.status.waiting.empty()) {
    page.sections.push_back({"waiting-section", "Waiting rows", {waiting_table(view)}});
  }
  page.sections.push_back({"rounds-section", "Rounds", {rounds_table(campaign)}});
  if (view.model && held_out != nullptr) {
    std::vector<Section> sections = held_out_sections(*view.model, *held_out);
    std::ranges::move(sections, std::back_inserter(page.sections));
  }
  if (view.model) {
    page.sections.push_back(model_section(*view.model, held_out));
  }
  page.sections.push_back({"settings-section", "Settings", {settings_table(campaign)}});
  return page;
}

}  // namespace dissent::report
