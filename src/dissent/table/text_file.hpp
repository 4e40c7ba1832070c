// The text of a table: from a plain file, one packed by gzip, or standard input.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace dissent {

// The name of standard input where a table is read, and of standard output where one is written.
inline constexpr const char* kStandardStream = "-";

// Text that gzip packed, one part or several. InputError for data that is damaged, cut short or larger than
// `most_bytes` when unpacked: it is held in memory, and a small file may claim to be endless.
std::string unpack_gzip(std::span<const std::byte> packed, const std::string& source,
                        std::uint64_t most_bytes = std::uint64_t{1} << 32);

// Text as gzip packs it, the same bytes for the same text.
std::string pack_gzip(std::string_view text);

// Whether bytes begin like those of gzip.
bool is_gzip(std::span<const std::byte> bytes);

// All of standard input, unpacked if need be. InputError if it comes from a keyboard.
std::string read_standard_input();

}  // namespace dissent
