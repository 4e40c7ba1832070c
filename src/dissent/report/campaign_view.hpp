// A campaign's directory as a report sees it: read but never held or changed, so that the campaign may be at work
// meanwhile.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "dissent/ensemble/ensemble.hpp"
#include "dissent/loop/campaign.hpp"
#include "dissent/loop/status.hpp"
#include "dissent/table/table.hpp"

namespace dissent::report {

struct CampaignView {
  std::string name;  // the directory
  Campaign campaign;
  CampaignStatus status = {};                 // as `dissent status` has it
  std::vector<std::string> input_names = {};  // C of them, as its models see them: numbers, without gaps
  std::vector<double> start = {};             // [rows][C] labelled from the beginning; empty: not known
  std::vector<double> pool = {};              // [rows][C]; empty: not known
  std::vector<double> chosen = {};            // [campaign.chosen, or fewer][C]
  Table chosen_columns = {};                  // the same rows with the columns of the user's table
  std::optional<Table> test = {};
  std::optional<Ensemble> model = {};  // of the present labels

  std::size_t num_inputs() const { return input_names.size(); }
};

// A campaign of `learn` keeps no copy of its pool: `pool` may give it. InputError if there is no campaign, the pool
// lacks a column or a chosen row, or it is given for a campaign that keeps its own.
CampaignView read_campaign(const std::string& directory, const std::optional<Table>& pool = {});

}  // namespace dissent::report
