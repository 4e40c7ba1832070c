// The state of a campaign as a safetensors file. n rows chosen, R rounds, D targets, F models (0 or 1), and one array
// for each field of a record:
//   chosen.round, chosen.row, ...    [n]     I64 for whole numbers, F64 for others
//   chosen.labelled                  [n]     I64: 1 if the targets are known, 2 if the row was dropped
//   chosen.targets                   [n, D]  F64, 0 if they are not; absent if none is told (version 4)
//   rounds.round, rounds.rmse, ...   [R]
//   fitted.round, fitted.rmse, ...   [F]
// and, if people are asked (E rows that are not in the pool, C inputs):
//   chosen.asked, chosen.told        [n]     F64, seconds since 1970, 0 if unknown; absent up to version 0.4
//   extra.inputs, .targets, .told    [E, C], [E, D], [E]  F64; absent if there are none
// Metadata: format, format_version, command (learn or ask), targets, data and model fingerprints, and "settings.NAME"
// for every field of the settings, so that a campaign continues with the settings it began with, whatever the defaults
// are. If the fit chose a kind of model, also settled_model and settled_rows. If people are asked, chosen.why says why
// each row was chosen, as a JSON list of texts, and "copy.FILE" is the digest of each table beside the state. If inputs
// are made from a table's columns, "columns" says how (table/encoding.hpp), and "extra.cells" has what the inputs of
// extra rows are made from, row by row, as a JSON list of texts.
//
// The format version is 2; 3 if there are extra rows, dropped rows or "columns" with more than ids, which programs up
// to version 0.4 would lose; 4 if targets are left out, which programs up to 0.7 would miss. Version 1 can be read too:
// it had one array for all metrics, and kept the options that were typed as "setting FLAG".
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

// A fault in a file is an InputError that names it.
// `copies` are the digests of the tables beside it, if any (see campaign_copies.hpp).
void save_campaign(const std::string& path, const Campaign& campaign, const CopyDigests& copies = {});
// The file in memory, without copies. All its chosen rows wait for their targets: those of a thousand rows of the
// humanoid would take two megabytes.
std::vector<std::byte> bytes_without_targets(const Campaign& campaign);
Campaign load_campaign(const std::string& path);
CopyDigests load_copy_digests(const std::string& path);
Campaign parse_campaign(std::span<const std::byte> bytes, const std::string& source);

namespace campaign_file {

inline constexpr const char* kExtraCells = "extra.cells";

// Parts that all versions have in common. InputErrors leave the source to the caller.
// The default settings up to version 0.2, for states that do not give them.
CampaignSettings settings_of_0_2(std::string_view preset = "default");
std::uint64_t read_number(const SafetensorsFile& file, const std::string& key, int base);
// A column of whole numbers >= 0 that are less than `bound`.
std::vector<std::size_t> load_wholes(const SafetensorsFile& file, const std::string& name, std::size_t count,
                                     std::size_t bound);
std::vector<double> load_numbers(const SafetensorsFile& file, const std::string& name, const Shape& shape);
// Gives chosen rows their targets, if they have them.
void load_targets(const SafetensorsFile& file, Campaign& campaign);
// Gives them the times of asking and telling, and the campaign its extra rows, if there are any.
void load_people(const SafetensorsFile& file, Campaign& campaign);

Campaign read_version_1(const SafetensorsFile& file);

}  // namespace campaign_file
}  // namespace dissent
