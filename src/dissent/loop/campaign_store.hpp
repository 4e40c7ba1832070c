// Where a campaign is kept between its steps, and how it is opened there. A directory is one such place (see
// campaign_directory.hpp); a step needs nothing but this interface.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "dissent/ensemble/ensemble.hpp"
#include "dissent/loop/campaign.hpp"
#include "dissent/loop/tables.hpp"

namespace dissent {

class CampaignStore {
 public:
  virtual ~CampaignStore() = default;

  virtual std::string name() const = 0;  // of the place, for messages

  virtual bool begun() const = 0;  // whether a campaign is here
  // Keeps others out until this object ends, and makes the place where there is none. To be called before anything is
  // written; a second call does nothing. InputError when another process is at work here, and when there is no campaign
  // but something of others that one would replace.
  virtual void hold() = 0;

  virtual Campaign load() const = 0;                   // InputError for a damaged state
  virtual void save(const Campaign& campaign) = 0;     // whole or not at all
  virtual void save_model(const Ensemble& model) = 0;  // in place of the one before
  // None when it is missing, damaged, or another than that of `fingerprint`: it must be fitted again then.
  virtual std::optional<Ensemble> load_model(std::uint64_t fingerprint) const = 0;

  // Copies of the tables that a campaign begins with, for those that go on without the originals. InputError when they
  // would replace anything but themselves.
  virtual void save_data(const CampaignTables& tables) = 0;
  virtual CampaignTables load_data() const = 0;

  // Removes the campaign that is here, and the place if hold() made it.
  virtual void clear() = 0;

  // What repeats the state for other programs to read; written again at the next step if it fails.
  virtual void write_tables(const Campaign& campaign, const Problem& data) = 0;
};

// The campaign that is here, or a new one, saved. InputError, before anything is touched, when the settings cannot be
// or the pool has fewer rows than a batch, and when the campaign here is another one: driven otherwise, or begun with
// other settings or data.
Campaign open_campaign(CampaignStore& store, const Problem& data, const CampaignSettings& settings);

// The settings of the campaign that is here, or of a new one, with those that are given in place of their own. So what
// is not said stays as it was when the campaign was begun, whatever a later version takes by default.
CampaignSettings settings_for(const CampaignStore& store, const Values& given);

// The campaign that is here, held. InputError when it is driven otherwise.
Campaign resume_campaign(CampaignStore& store, Driver driver);

}  // namespace dissent
