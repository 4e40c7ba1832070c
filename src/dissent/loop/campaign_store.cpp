#include "dissent/loop/campaign_store.hpp"

#include "dissent/base/error.hpp"
#include "dissent/loop/candidates.hpp"

namespace dissent {

Campaign resume_campaign(CampaignStore& store, Driver driver) {
  store.hold();
  Campaign campaign = store.load();
  in_source(store.name(), [&] {
    check(campaign.driver == driver || driver == Driver::kAsk,
          "the campaign was begun by ask; go on with ask and tell");
    check(campaign.driver == driver, "the campaign was begun by learn, and only learn can go on with it");
  });
  return campaign;
}

CampaignSettings settings_for(const CampaignStore& store, const Values& given) {
  CampaignSettings settings = changed_settings(store.begun() ? store.load().settings : CampaignSettings(), given);
  check_given(settings.fit.ensemble.model, given);
  return settings;
}

Campaign open_campaign(CampaignStore& store, const Problem& data, const CampaignSettings& settings) {
  settings.check_values();
  check_candidates(settings.candidates, settings.batch);
  check_uses(settings.acquisition, data.aim.num_rows > 0, !data.cost.empty());
  check_batch(data, settings.batch);
  store.hold();
  if (store.begun()) {
    Campaign campaign = resume_campaign(store, Driver::kLearn);
    check_same(campaign, settings, store.name());
    check_same(campaign, data, store.name());
    return campaign;
  }
  Campaign campaign = begin_campaign(data, settings);
  store.save(campaign);
  return campaign;
}

}  // namespace dissent
