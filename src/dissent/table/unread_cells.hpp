// Cells that say a number or a time to people, but not to a reader of tables: 12.3 mm, <0.5, 14:05, 1-Feb-2024.
#pragma once

#include <string_view>

namespace dissent {

// A number, with or without a sign before it and a unit after it. A single capital letter right after it, as in 304L,
// is not a unit.
bool is_measurement(std::string_view text);

// A date or a time of day as people write it, whether or not parse_date() reads it.
bool looks_like_time(std::string_view text);

}  // namespace dissent
