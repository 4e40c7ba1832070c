#include "dissent/loop/campaign.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <utility>

#include "dissent/base/digest.hpp"
#include "dissent/base/error.hpp"

namespace dissent {
namespace {

// "`epochs` = 50", as a rule writes it. A switch keeps its own name: the flag that an edge has for it may say the
// opposite.
std::string shown(const Field<CampaignSettings>& field, const CampaignSettings& settings) {
  if (field.type == FieldType::kSwitch) {
    return fmt::format("{} {}", field.name, std::get<bool>(field.get(settings)) ? "on" : "off");
  }
  const std::string text = to_text(field.get(settings));
  return text.empty() ? fmt::format("no `{}`", field.name) : fmt::format("`{}` = {}", field.name, text);
}

}  // namespace

std::size_t Campaign::num_pending() const {
  return static_cast<std::size_t>(std::ranges::count_if(chosen, &ChosenRow::is_pending));
}

std::size_t Campaign::num_dropped() const {
  return static_cast<std::size_t>(std::ranges::count_if(chosen, &ChosenRow::dropped));
}

std::size_t Campaign::num_told() const { return chosen.size() - num_pending() - num_dropped() + extra.size(); }

std::string_view driver_name(Driver driver) { return driver == Driver::kLearn ? "learn" : "ask"; }

Campaign begin_campaign(const Problem& data, CampaignSettings settings, Driver driver) {
  Campaign campaign;
  campaign.driver = driver;
  campaign.settings = std::move(settings);
  campaign.data_fingerprint = fingerprint(data);
  campaign.num_targets = data.target_names.size();
  campaign.encoding = data.encoding;
  return campaign;
}

void check_same(const Campaign& campaign, const CampaignSettings& settings, const std::string& where) {
  if (const Field<CampaignSettings>* field = first_difference(campaign.settings, settings)) {
    throw InputError(Fault{.source = where,
                           .rule = fmt::format("the campaign was begun with {} and cannot go on with {}; use the same "
                                               "options, or begin another campaign",
                                               shown(*field, campaign.settings), shown(*field, settings))});
  }
}

void check_same(const Campaign& campaign, const Problem& data, const std::string& where) {
  in_source(where, [&] {
    check(campaign.num_targets == data.target_names.size() && campaign.data_fingerprint == fingerprint(data),
          "the campaign was begun with other data; give the same tables and columns, or begin another");
    std::vector<bool> taken(data.pool.num_rows, false);
    for (const ChosenRow& chosen : campaign.chosen) {
      check(chosen.row < taken.size() && !taken[chosen.row],
            "the campaign has chosen row {} twice or beyond the pool of {}; its state is damaged", chosen.row,
            taken.size());
      taken[chosen.row] = true;
    }
    check(campaign.extra.inputs.size() == campaign.extra.size() * data.input_names.size(),
          "the campaign has {} input values for {} rows beside the pool; its state is damaged",
          campaign.extra.inputs.size(), campaign.extra.size());
  });
}

std::vector<std::size_t> pending(const Campaign& campaign) {
  std::vector<std::size_t> positions;
  for (std::size_t k = 0; k < campaign.chosen.size(); ++k) {
    if (campaign.chosen[k].is_pending()) {
      positions.push_back(k);
    }
  }
  return positions;
}

std::vector<std::size_t> open_rows(const Campaign& campaign, const Problem& data) {
  std::vector<bool> taken(data.pool.num_rows, false);
  for (const ChosenRow& chosen : campaign.chosen) {
    taken[chosen.row] = true;
  }
  std::vector<std::size_t> rows;
  rows.reserve(data.pool.num_rows - campaign.chosen.size());
  for (std::size_t row = 0; row < data.pool.num_rows; ++row) {
    if (!taken[row] && (data.left_out.empty() || data.left_out[row] == 0)) {
      rows.push_back(row);
    }
  }
  return rows;
}

std::size_t num_left(const Campaign& campaign, const Problem& data) {
  return data.pool.num_rows - campaign.chosen.size();
}

std::vector<RoundRecord> measured_models(const Campaign& campaign) {
  std::vector<RoundRecord> records = campaign.rounds;
  if (campaign.driver == Driver::kLearn && campaign.fitted && campaign.num_pending() == 0) {
    RoundRecord& last = records.emplace_back(*campaign.fitted);
    last.chosen_epistemic = last.score_seconds = std::numeric_limits<double>::quiet_NaN();
  }
  return records;
}

ProblemRows labelled_rows(const Campaign& campaign, const Problem& data) {
  ProblemRows rows = data.train;
  const std::size_t C = data.input_names.size();
  for (const ChosenRow& chosen : campaign.chosen) {
    if (!chosen.targets.empty()) {
      const std::span<const double> inputs = std::span(data.pool.inputs).subspan(chosen.row * C, C);
      rows.inputs.insert(rows.inputs.end(), inputs.begin(), inputs.end());
      rows.targets.insert(rows.targets.end(), chosen.targets.begin(), chosen.targets.end());
      ++rows.num_rows;
    }
  }
  const ExtraRows& extra = campaign.extra;
  rows.inputs.insert(rows.inputs.end(), extra.inputs.begin(), extra.inputs.end());
  rows.targets.insert(rows.targets.end(), extra.targets.begin(), extra.targets.end());
  rows.num_rows += extra.size();
  return rows;
}

std::size_t place_of(Campaign& campaign, std::size_t row) {
  const auto found = std::ranges::find(campaign.chosen, row, &ChosenRow::row);
  if (found != campaign.chosen.end()) {
    return static_cast<std::size_t>(found - campaign.chosen.begin());
  }
  constexpr double kUnknown = std::numeric_limits<double>::quiet_NaN();
  campaign.chosen.push_back({row, 0, kUnknown, kUnknown, kUnknown, {}});
  return campaign.chosen.size() - 1;
}

void drop(Campaign& campaign, std::size_t position, Retell retell) {
  ChosenRow& chosen = campaign.chosen[position];
  check(!chosen.dropped, "row {} was dropped already", chosen.row);
  check(chosen.targets.empty() || retell == Retell::kAllowed,
        "row {} has its answer already; add `correct` to drop it all the same", chosen.row);
  if (!chosen.targets.empty()) {
    campaign.fitted.reset();
    campaign.model_fingerprint = 0;
  }
  chosen.targets.clear();
  chosen.dropped = true;
}

void tell(Campaign& campaign, std::size_t position, std::span<const double> targets, Retell retell) {
  ChosenRow& chosen = campaign.chosen[position];
  check(chosen.targets.empty() || retell == Retell::kAllowed,
        "row {} has its answer already; a row is told once, unless `correct` replaces it", chosen.row);
  check(!chosen.dropped || retell == Retell::kAllowed,
        "row {} was dropped; `correct` takes it back and gives it an answer", chosen.row);
  check(targets.size() == campaign.num_targets, "row {} is told {} values; there are {} targets", chosen.row,
        targets.size(), campaign.num_targets);
  for (const double value : targets) {
    check(std::isfinite(value), "row {} is told {}; answers must be finite numbers", chosen.row, value);
  }
  chosen.targets.assign(targets.begin(), targets.end());
  chosen.dropped = false;
  campaign.fitted.reset();
  campaign.model_fingerprint = 0;
}

std::uint64_t fingerprint(const Problem& data) {
  Digest hash;
  hash.add(data.input_names);
  hash.add(data.target_names);
  for (const ProblemRows* rows : {&data.train, &data.pool, &data.test}) {
    hash.add_word(rows->num_rows);
    hash.add(rows->inputs);
    hash.add(rows->targets);
  }
  if (data.aim.num_rows > 0) {
    hash.add_word(data.aim.num_rows);
    hash.add(data.aim.inputs);
  }
  if (!data.cost.empty()) {
    hash.add(data.cost);
  }
  for (const std::uint8_t is_left_out : data.left_out) {
    hash.add_word(is_left_out);
  }
  return hash.value();
}

std::uint64_t fingerprint(std::span<const float> values) {
  Digest hash;
  for (const float value : values) {
    hash.add_word(std::bit_cast<std::uint32_t>(value));
  }
  return hash.value();
}

}  // namespace dissent
