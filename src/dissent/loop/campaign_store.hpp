// Where a campaign is kept between its steps, and how it is opened there. A directory is one such place (see
// campaign_directory.hpp); a step needs only this interface.
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
  // Keeps others out until this object ends, and makes the place if there is none. Call it before writing anything; a
  // second call only checks that the place is still held. InputError if another process is at work here, or if there is
  // no campaign but something else that one would replace.
  virtual void hold() = 0;

  virtual Campaign load() const = 0;                   // InputError for a damaged state
  virtual void save(const Campaign& campaign) = 0;     // whole or not at all
  virtual void save_model(const Ensemble& model) = 0;  // in place of the one before
  // None if it is missing, damaged, or not the one of `fingerprint`: then it must be fitted again.
  virtual std::optional<Ensemble> load_model(std::uint64_t fingerprint) const = 0;

  // Copies of the tables that a campaign begins with, for campaigns that continue without the originals. InputError if
  // they would replace anything but themselves.
  virtual void save_data(const CampaignTables& tables) = 0;
  virtual CampaignTables load_data() const = 0;

  // Removes the campaign that is here, and the place if hold() made it.
  virtual void clear() = 0;

  // Writes tables that repeat the state for other programs; if that fails, the next step writes them again.
  virtual void write_tables(const Campaign& campaign, const Problem& data) = 0;
};

// The campaign that is here, or a new one, saved. InputError, before anything is touched, if the settings are invalid,
// the pool has fewer rows than a batch, or the campaign here is another one: with another driver, or begun with other
// settings or data.
Campaign open_campaign(CampaignStore& store, const Problem& data, const CampaignSettings& settings);

// The settings of the campaign that is here, or of a new one, with the given ones in place of their own. So a setting
// that is not given stays as it was when the campaign was begun, whatever the default of a later version.
CampaignSettings settings_for(const CampaignStore& store, const Values& given);

// The campaign that is here, held. InputError if it has another driver.
Campaign resume_campaign(CampaignStore& store, Driver driver);

}  // namespace dissent
