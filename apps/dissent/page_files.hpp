// Style and scripts of the pages, as they were built into the program.
#pragma once

#include "dissent/report/page_html.hpp"

namespace dissent::cli {

// InputError in a build without them, which says how to get one with.
report::PageFiles page_files();

}  // namespace dissent::cli
