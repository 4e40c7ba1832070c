// Copies of the tables that a campaign begins with, in its directory: written once, and recognised by their digests.
//
// A campaign continues from its copies only, so a changed copy would change what is chosen, or what people are told to
// measure. The state keeps the digest of each, by file name.
#pragma once

#include <array>
#include <map>
#include <string>

#include "dissent/loop/tables.hpp"

namespace dissent {

inline constexpr std::array kCopyFiles{"labelled.csv", "pool.csv", "test.csv", "aim.csv"};

using CopyDigests = std::map<std::string, std::string>;

// Returns their digests. InputError if they would replace anything but themselves.
CopyDigests save_copies(const std::string& directory, const CampaignTables& tables);

// InputError for a copy that was changed, removed or added. Campaigns of earlier versions have no digests: any copies
// will do that give the campaign's data.
CampaignTables load_copies(const std::string& directory, const CopyDigests& digests);

}  // namespace dissent
