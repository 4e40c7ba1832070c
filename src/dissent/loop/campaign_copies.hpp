// Copies of the tables that a campaign begins with, in its directory: written once, and known again by their digests.
//
// A campaign goes on with its copies alone, so that a copy that was changed would change what is chosen, or what people
// are told to measure. The digest of each is kept in the state, by the name of its file.
#pragma once

#include <array>
#include <map>
#include <string>

#include "dissent/loop/tables.hpp"

namespace dissent {

inline constexpr std::array kCopyFiles{"labelled.csv", "pool.csv", "test.csv", "aim.csv"};

using CopyDigests = std::map<std::string, std::string>;

// Their digests. InputError when they would replace anything but themselves.
CopyDigests save_copies(const std::string& directory, const CampaignTables& tables);

// InputError for a copy that was changed, removed or added. Campaigns of earlier versions have no digests: any copies
// will do that make the data the campaign knows.
CampaignTables load_copies(const std::string& directory, const CopyDigests& digests);

}  // namespace dissent
