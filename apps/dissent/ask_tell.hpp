// What `ask` and `tell` share: a campaign whose labels come from people or laboratories, over days.
//
// Its directory holds copies of the tables beside the files of every campaign, so that later commands need nothing but
// the directory:
//   labelled.csv  input columns, then targets
//   pool.csv      every column of the pool, so that names and notes reach the people who measure
//   test.csv      as labelled.csv, where one was given
#pragma once

#include <memory>
#include <string>

#include "campaign_options.hpp"
#include "dissent/loop/campaign_directory.hpp"
#include "dissent/table/table.hpp"

namespace dissent::cli {

struct LaboratoryCampaign {
  CampaignDirectory directory;
  Campaign campaign;
  Problem data;
  Table pool;
};

// Opens the campaign, or begins one from the tables. Given options replace those of the campaign from now on; tables
// may be given again if they are the same. Nothing is saved but what begins a campaign.
struct LaboratoryOptions {
  TableOptions tables;
  ChoiceOptions choice;
  bool acquisition_given = false;  // a campaign that exists keeps its own otherwise
  Settings given_fit;
};
LaboratoryCampaign open_laboratory(const std::string& path, const LaboratoryOptions& options);

// What the campaign's settings stand for.
LearnOptions learn_options(const Campaign& campaign);

// A fresh model on all that is labelled: saved beside the state, which is left for the caller to save.
Ensemble refit(LaboratoryCampaign& laboratory, ThreadPool& pool, bool quiet);

}  // namespace dissent::cli
