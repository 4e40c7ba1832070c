// What a campaign that asks people keeps in its store: its state, and copies of its tables.
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

// For reading only: nothing is held or written, so it works while others are at work. InputError if the campaign has
// another driver.
KeptCampaign read_kept(const CampaignStore& store);

// The store's copies, in which the targets are the last columns.
CampaignTables kept_tables(const CampaignStore& store, const Campaign& campaign);

// The columns of tables that the inputs come from.
std::vector<std::string> source_columns(const Problem& data);

// The table without its target columns: a pool's own targets, if any, are neither looked at nor passed on.
Table without_targets(Table table, const std::vector<std::string>& target_names);

}  // namespace dissent
