// What the formats of text tables share. Internal.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "dissent/table/text_table.hpp"

namespace dissent {

// Visible characters: bytes that continue a character of UTF-8 do not count.
std::size_t width_of(std::string_view text);
// The width of the widest cell or heading of each column.
std::vector<std::size_t> column_widths(const TextTable& table);
// Replaces line breaks and control characters, which would break a row apart, with spaces.
std::string one_line(std::string_view text);
// The notes, and what bold stands for, in formats that have it.
std::vector<std::string> notes_of(const TextTable& table);

std::string as_latex(const TextTable& table);

}  // namespace dissent
