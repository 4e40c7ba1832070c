// Pages of studies, for the commands that write or show them.
#pragma once

#include <string>
#include <vector>

#include "dissent/report/page.hpp"

namespace dissent::cli {

// One page for all sources. `studies` names those to show; empty: the only one of each store. InputError in a build
// without studies.
report::Page study_report(const std::vector<std::string>& sources, const std::vector<std::string>& studies);

}  // namespace dissent::cli
