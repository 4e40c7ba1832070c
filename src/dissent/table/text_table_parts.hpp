// What the formats of text tables share. Internal.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "dissent/table/text_table.hpp"

namespace dissent {

// Characters as they are seen: bytes that go on a character of UTF-8 do not count.
std::size_t width_of(std::string_view text);
// Of the widest cell or heading of each column.
std::vector<std::size_t> column_widths(const TextTable& table);
// Line breaks and control characters would break a row apart.
std::string one_line(std::string_view text);
// With what bold stands for, in formats that have it.
std::vector<std::string> notes_of(const TextTable& table);

std::string as_latex(const TextTable& table);

}  // namespace dissent
