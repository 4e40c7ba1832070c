// A campaign as one JSON object (export.hpp).
#include "dissent/loop/export.hpp"
#include "dissent/loop/kept_campaign.hpp"
#include "dissent/loop/status.hpp"

namespace dissent {
namespace {

Json rows_json(const Table& table) {
  Json rows = Json::array();
  for (std::size_t row = 0; row < table.num_rows; ++row) {
    Json object = Json::object();
    for (const Column& column : table.columns) {
      object[column.name] = column.is_missing(row) ? Json()
                            : column.is_text()     ? Json(column.text[row])
                                                   : Json(column.values[row]);
    }
    rows.push_back(std::move(object));
  }
  return rows;
}

}  // namespace

Json exported_json(const Campaign& campaign, const Problem& data, const Table& pool) {
  Json settings = Json::object();
  for (const Field<CampaignSettings>& field : fields<CampaignSettings>()) {
    settings[std::string(field.name)] = to_json(field.get(campaign.settings));
  }
  Json rounds = Json::array();
  for (const RoundRecord& record : measured_models(campaign)) {
    rounds.push_back(record_json(record));
  }
  Json pending_rows = Json::array();
  Json dropped = Json::array();
  for (const ChosenRow& chosen : campaign.chosen) {
    if (chosen.is_pending() || chosen.dropped) {
      (chosen.dropped ? dropped : pending_rows).push_back(chosen.row);
    }
  }
  return {{"command", driver_name(campaign.driver)},
          {"inputs", source_columns(data)},
          {"targets", data.target_names},
          {"settings", settings},
          {"rounds", rounds},
          {"rows", rows_json(exported_rows(campaign, data, pool))},
          {"pending", pending_rows},
          {"dropped", dropped}};
}

}  // namespace dissent
