// What a campaign of asking keeps in its store: its state, and copies of its tables.
#pragma once

#include <string>
#include <vector>

#include "dissent/loop/campaign_store.hpp"
#include "dissent/loop/tables.hpp"
#include "dissent/table/table.hpp"

namespace dissent {

struct KeptCampaign {
  Campaign campaign;
  Problem data;
  Table pool;  // every column but the targets
};

// For reading alone: nothing is held and nothing is written, so that it can be done while others are at work.
// InputError when the campaign is driven otherwise.
KeptCampaign read_kept(const CampaignStore& store);

// The store's copies, in which the targets are the last columns.
CampaignTables kept_tables(const CampaignStore& store, const Campaign& campaign);

// The columns of tables that the inputs come from.
std::vector<std::string> source_columns(const Problem& data);

// A pool's own targets, if it has such columns, are not looked at and not passed on.
Table without_targets(Table table, const std::vector<std::string>& target_names);

}  // namespace dissent
