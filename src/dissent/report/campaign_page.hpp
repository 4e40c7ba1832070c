// Where a campaign stands, what it chose and why, and how its models fared.
#pragma once

#include "dissent/report/campaign_view.hpp"
#include "dissent/report/held_out.hpp"
#include "dissent/report/page.hpp"

namespace dissent::report {

// `held_out` is the present model on rows with targets, if there are any.
Page campaign_page(const CampaignView& view, const HeldOut* held_out = nullptr);

}  // namespace dissent::report
