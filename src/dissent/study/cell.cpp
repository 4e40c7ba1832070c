#include "dissent/study/cell.hpp"

#include <utility>

#include "dissent/base/value_json.hpp"

namespace dissent {

CampaignSettings Cell::campaign_settings() const {
  CampaignSettings result = changed_settings(CampaignSettings(), settings);
  result.check_values();
  check_candidates(result.candidates, result.batch);
  check_uses(result.acquisition, !aim.empty(), !result.cost.empty());
  return result;
}

std::string Cell::describe() const {
  Json json;
  json["axes"] = Json::array();
  for (const auto& [axis, value] : axes) {
    json["axes"].push_back({axis, value});
  }
  json.update({{"problem", problem}, {"rounds", rounds}, {"data_seed", data_seed}, {"aim", aim}});
  if (pool_policy != PoolPolicy::kMixed) {
    json["pool_policy"] = pool_policy_name(pool_policy);
  }
  if (table) {
    json["table"] = {{"file", table->file},
                     {"targets", table->targets},
                     {"inputs", table->inputs},
                     {"labelled", table->labelled},
                     {"test", table->test}};
    if (!table->content.empty()) {
      json["table"]["content"] = table->content;
    }
  }
  for (const auto& [name, value] : settings) {
    json["settings"][name] = to_json(value);
  }
  return json.dump();
}

std::vector<std::pair<std::string, std::string>> described_axes(const std::string& description) {
  const Json json = Json::parse(description);
  return json.at("axes").get<std::vector<std::pair<std::string, std::string>>>();
}

}  // namespace dissent
