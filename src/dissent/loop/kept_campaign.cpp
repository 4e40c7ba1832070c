#include "dissent/loop/kept_campaign.hpp"

#include <algorithm>
#include <utility>

#include "dissent/base/check_in.hpp"

namespace dissent {

Table without_targets(Table table, const std::vector<std::string>& target_names) {
  std::erase_if(table.columns, [&](const Column& column) {
    return std::ranges::find(target_names, column.name) != target_names.end();
  });
  return table;
}

std::vector<std::string> source_columns(const Problem& data) {
  return data.encoding.columns.empty() ? data.input_names : data.encoding.sources();
}

CampaignTables kept_tables(const CampaignStore& store, const Campaign& campaign) {
  CampaignTables tables = store.load_data();
  const std::vector<Column>& columns = tables.labelled->columns;
  check_in(tables.labelled->source, columns.size() > campaign.num_targets,
           "has {} columns; the campaign has {} targets", columns.size(), campaign.num_targets);
  for (std::size_t k = 0; k < columns.size(); ++k) {
    const bool is_input = k + campaign.num_targets < columns.size();
    (is_input ? tables.columns.inputs : tables.columns.targets).push_back(columns[k].name);
  }
  return tables;
}

KeptCampaign read_kept(const CampaignStore& store) {
  Campaign campaign = store.load();
  check_in(store.name(), campaign.driver == Driver::kAsk,
           "the campaign was begun by learn, which keeps no copies of its tables");
  const CampaignTables tables = kept_tables(store, campaign);
  Problem data = make_problem(tables, false, campaign.settings, campaign.encoding);
  check_same(campaign, data, store.name());
  Table pool = without_targets(*tables.pool, data.target_names);
  return {std::move(campaign), std::move(data), std::move(pool)};
}

}  // namespace dissent
