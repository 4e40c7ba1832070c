// The files of data/paper, which travel inside the library. Internal.
#pragma once

#include <string_view>

namespace dissent {

// The text of data/paper/NAME.csv; generated at configure time (cmake/embed.cmake).
std::string_view embedded_paper_table(std::string_view name);

}  // namespace dissent
