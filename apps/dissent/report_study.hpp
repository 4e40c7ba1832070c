// Pages of studies, for the commands that write or show them.
#pragma once

#include <string>
#include <vector>

#include "dissent/report/page.hpp"

namespace dissent::cli {

// Whether a source is a study rather than a model or a campaign: a store by its URL or its file, or a table of results.
bool names_study(const std::string& source);

// The file that is read, for checks that nothing overwrites it; empty for a server.
std::string study_file(const std::string& source);

// One page of all sources. `studies` are names of those to show; empty: the only one of each store. InputError in a
// build without studies.
report::Page study_report(const std::vector<std::string>& sources, const std::vector<std::string>& studies);

}  // namespace dissent::cli
