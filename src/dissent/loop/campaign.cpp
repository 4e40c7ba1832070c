#include "dissent/loop/campaign.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <utility>

#include "dissent/base/digest.hpp"
#include "dissent/base/error.hpp"

namespace dissent {
namespace {

std::string shown(const Settings& settings, const std::string& name) {
  const auto found = settings.find(name);
  return found == settings.end() ? fmt::format("without {}", name)
         : found->second.empty() ? fmt::format("with {}", name)
                                 : fmt::format("with {} {}", name, found->second);
}

}  // namespace

std::size_t Campaign::num_pending() const {
  return static_cast<std::size_t>(std::ranges::count_if(chosen, [](const ChosenRow& c) { return c.targets.empty(); }));
}

FitSettings fit_settings(const Settings& settings) {
  FitSettings fit;
  for (const auto& [name, value] : settings) {
    if (FitSettings::has(name)) {
      fit.set(name, value);
    }
  }
  return fit;
}

bool same_fit_setting(const std::string& name, const Settings& one, const Settings& other) {
  const auto alone = [&](const Settings& settings) {
    FitSettings fit;
    if (const auto found = settings.find(name); found != settings.end()) {
      fit.set(name, found->second);
    }
    return fit;
  };
  return alone(one) == alone(other);
}

Campaign begin_campaign(const Problem& data, Settings settings) {
  Campaign campaign;
  campaign.settings = std::move(settings);
  campaign.data_fingerprint = fingerprint(data);
  campaign.num_targets = data.target_names.size();
  return campaign;
}

void check_same(const Campaign& campaign, const Settings& settings, const std::string& where) {
  Settings all = campaign.settings;
  all.insert(settings.begin(), settings.end());
  for (const auto& [name, ignored] : all) {
    const std::string begun = shown(campaign.settings, name);
    const std::string now = shown(settings, name);
    const bool same = begun == now || (FitSettings::has(name) && same_fit_setting(name, campaign.settings, settings));
    check(same, "{}: the campaign was begun {} and cannot go on {}; use the same options or another directory", where,
          begun, now);
  }
}

void check_same(const Campaign& campaign, const Problem& data, const std::string& where) {
  check(campaign.num_targets == data.target_names.size() && campaign.data_fingerprint == fingerprint(data),
        "{}: the campaign was begun with other data; give the same tables and columns, or another directory", where);
  std::vector<bool> taken(data.pool.num_rows, false);
  for (const ChosenRow& chosen : campaign.chosen) {
    check(chosen.row < taken.size() && !taken[chosen.row],
          "{}: the campaign has chosen row {} twice or beyond the pool of {}; its state is damaged", where, chosen.row,
          taken.size());
    taken[chosen.row] = true;
  }
}

std::vector<std::size_t> pending(const Campaign& campaign) {
  std::vector<std::size_t> positions;
  for (std::size_t k = 0; k < campaign.chosen.size(); ++k) {
    if (campaign.chosen[k].targets.empty()) {
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
    if (!taken[row]) {
      rows.push_back(row);
    }
  }
  return rows;
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
  return rows;
}

void tell(Campaign& campaign, std::size_t position, std::span<const double> targets) {
  ChosenRow& chosen = campaign.chosen[position];
  check(chosen.targets.empty(), "row {} has its answer already; a row is told once", chosen.row);
  check(targets.size() == campaign.num_targets, "row {} is told {} values; there are {} targets", chosen.row,
        targets.size(), campaign.num_targets);
  for (const double value : targets) {
    check(std::isfinite(value), "row {} is told {}; answers must be finite numbers", chosen.row, value);
  }
  chosen.targets.assign(targets.begin(), targets.end());
  campaign.fitted.reset();
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
