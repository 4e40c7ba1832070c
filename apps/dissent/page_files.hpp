// Style and scripts of the pages, as they were built into the program.
#pragma once

#include "dissent/report/page_html.hpp"

namespace dissent::cli {

// In a build without them, InputError says how to get one with them.
report::PageFiles page_files();

}  // namespace dissent::cli
