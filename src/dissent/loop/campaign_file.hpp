// The state of a campaign as a safetensors file. n rows chosen, R rounds, D targets, F models (0 or 1), and one array
// for each field of a record:
//   chosen.round, chosen.row, ...    [n]     I64 for whole numbers, F64 for others
//   chosen.labelled                  [n]     I64: 1 where the targets are known
//   chosen.targets                   [n, D]  F64, 0 where they are not
//   rounds.round, rounds.rmse, ...   [R]
//   fitted.round, fitted.rmse, ...   [F]
// Metadata: format, format_version, command (learn or ask), targets, data and model fingerprints, and "settings.NAME"
// for every field of the settings (and, where the fit chose a kind of model, settled_model and settled_rows), so that a
// campaign goes on with what it was begun with whatever the defaults are. Where people are asked, chosen.why has why
// each row was chosen, as a JSON list of texts. Where inputs are made of a table's columns, "columns" says how
// (table/encoding.hpp).
//
// Version 1 is read as well: it had one array for all metrics, and the options that were typed as "setting FLAG".
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "dissent/array/safetensors.hpp"
#include "dissent/loop/campaign.hpp"

namespace dissent {

// What is wrong with a file is an InputError that names it.
void save_campaign(const std::string& path, const Campaign& campaign);
Campaign load_campaign(const std::string& path);
Campaign parse_campaign(std::span<const std::byte> bytes, const std::string& source);

namespace campaign_file {

// Parts that both versions have in common. InputErrors leave the source to the caller.
// What settings were by default up to version 0.2: of states that do not say.
CampaignSettings settings_of_0_2(std::string_view preset = "default");
std::uint64_t read_number(const SafetensorsFile& file, const std::string& key, int base);
// A column of whole numbers >= 0 that are less than `bound`.
std::vector<std::size_t> load_wholes(const SafetensorsFile& file, const std::string& name, std::size_t count,
                                     std::size_t bound);
std::vector<double> load_numbers(const SafetensorsFile& file, const std::string& name, const Shape& shape);
// Gives chosen rows their targets, where they have them.
void load_targets(const SafetensorsFile& file, Campaign& campaign);

Campaign read_version_1(const SafetensorsFile& file);

}  // namespace campaign_file
}  // namespace dissent
