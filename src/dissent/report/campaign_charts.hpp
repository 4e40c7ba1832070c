// The pictures of a campaign.
#pragma once

#include <vector>

#include "dissent/loop/campaign.hpp"
#include "dissent/report/campaign_view.hpp"
#include "dissent/report/page.hpp"

namespace dissent::report {

// Every model of the campaign that was measured or has chosen, including the present one.
std::vector<RoundRecord> models(const Campaign& campaign);

// RMSE and log-likelihood on the test rows, if there are any, and the chosen rows' uncertainty, by labelled rows.
Chart learning_chart(const Campaign& campaign);

// How many rows the rounds chose, without those that nobody asked for.
std::size_t num_asked(const Campaign& campaign);

// Score, epistemic and aleatoric uncertainty of the rows that each round chose.
Chart chosen_chart(const Campaign& campaign);

// Where labelled, chosen, waiting, dropped and extra rows lie among those of the pool. The view must have inputs.
Chart map_chart(const CampaignView& view);

}  // namespace dissent::report
