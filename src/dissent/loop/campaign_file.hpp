// The state of a campaign as a safetensors file. n rows chosen, R rounds, D targets, F models (0 or 1), and one array
// for each field of a record:
//   chosen.round, chosen.row, ...    [n]     I64 for whole numbers, F64 for others
//   chosen.labelled                  [n]     I64: 1 where the targets are known, 2 where the row was dropped
//   chosen.targets                   [n, D]  F64, 0 where they are not; absent where none is told (version 4)
//   rounds.round, rounds.rmse, ...   [R]
//   fitted.round, fitted.rmse, ...   [F]
// and where people are asked, E rows that are not of the pool, C inputs:
//   chosen.asked, chosen.told        [n]     F64, seconds since 1970, 0 where unknown; absent up to version 0.4
//   extra.inputs, .targets, .told    [E, C], [E, D], [E]  F64; absent where there are none
// Metadata: format, format_version, command (learn or ask), targets, data and model fingerprints, and "settings.NAME"
// for every field of the settings (and, where the fit chose a kind of model, settled_model and settled_rows), so that a
// campaign goes on with what it was begun with whatever the defaults are. Where people are asked, chosen.why has why
// each row was chosen, as a JSON list of texts, and "copy.FILE" the digest of each table beside the state. Where inputs
// are made of a table's columns, "columns" says how (table/encoding.hpp), and "extra.cells" has what those of extra
// rows are made of, row by row, as a JSON list of texts.
//
// The format version is 2; 3 where there are extra rows, rows dropped or "columns", which programs up to version 0.4
// would lose; 4 where targets are left out, which programs up to 0.7 would miss. Version 1 is read as well: it had one
// array for all metrics, and the options that were typed as "setting FLAG".
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "dissent/array/safetensors.hpp"
#include "dissent/loop/campaign.hpp"
#include "dissent/loop/campaign_copies.hpp"

namespace dissent {

// What is wrong with a file is an InputError that names it.
// `copies` are the digests of the tables beside it, if any (see campaign_copies.hpp).
void save_campaign(const std::string& path, const Campaign& campaign, const CopyDigests& copies = {});
// The file in memory, without copies. All chosen rows wait for their targets in it: those of a thousand rows of the
// humanoid are two megabytes.
std::vector<std::byte> bytes_without_targets(const Campaign& campaign);
Campaign load_campaign(const std::string& path);
CopyDigests load_copy_digests(const std::string& path);
Campaign parse_campaign(std::span<const std::byte> bytes, const std::string& source);

namespace campaign_file {

inline constexpr const char* kExtraCells = "extra.cells";

// Parts that all versions have in common. InputErrors leave the source to the caller.
// What settings were by default up to version 0.2: of states that do not say.
CampaignSettings settings_of_0_2(std::string_view preset = "default");
std::uint64_t read_number(const SafetensorsFile& file, const std::string& key, int base);
// A column of whole numbers >= 0 that are less than `bound`.
std::vector<std::size_t> load_wholes(const SafetensorsFile& file, const std::string& name, std::size_t count,
                                     std::size_t bound);
std::vector<double> load_numbers(const SafetensorsFile& file, const std::string& name, const Shape& shape);
// Gives chosen rows their targets, where they have them.
void load_targets(const SafetensorsFile& file, Campaign& campaign);
// Gives them the times of asking and telling, and the campaign its extra rows, where there are such.
void load_people(const SafetensorsFile& file, Campaign& campaign);

Campaign read_version_1(const SafetensorsFile& file);

}  // namespace campaign_file
}  // namespace dissent
