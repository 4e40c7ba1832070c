#include "dissent/study/cell.hpp"

#include <fmt/format.h>

#include <set>
#include <utility>

#include "dissent/base/value_json.hpp"

namespace dissent {
namespace {

// The entries of a description by name, including those of settings and of a table.
std::map<std::string, Json> entries_of(const std::string& description) {
  std::map<std::string, Json> entries;
  const Json json = Json::parse(description);
  for (const auto& [name, value] : json.items()) {
    if (name == "settings" || name == "table") {
      for (const auto& [inner, content] : value.items()) {
        entries[name == "table" ? "table." + inner : inner] = content;
      }
    } else {
      entries[name] = value;
    }
  }
  return entries;
}

}  // namespace

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

std::string description_changes(const std::string& known, const std::string& given) {
  const std::map<std::string, Json> before = entries_of(known);
  const std::map<std::string, Json> after = entries_of(given);
  const auto shown = [](const std::map<std::string, Json>& entries, const std::string& name) {
    const auto found = entries.find(name);
    return found == entries.end() ? "not given" : found->second.dump();
  };
  std::set<std::string> names;
  for (const auto* entries : {&before, &after}) {
    for (const auto& [name, value] : *entries) {
      names.insert(name);
    }
  }
  std::string text;
  for (const std::string& name : names) {
    if (shown(before, name) != shown(after, name)) {
      text += text.empty() ? "" : ", ";
      text += name == "table.content"
                  ? "the content of its file"
                  : fmt::format("{} is {} there, {} in the grid", name, shown(before, name), shown(after, name));
    }
  }
  return text;
}

std::vector<std::pair<std::string, std::string>> described_axes(const std::string& description) {
  const Json json = Json::parse(description);
  return json.at("axes").get<std::vector<std::pair<std::string, std::string>>>();
}

}  // namespace dissent
