// Standard output that does not fail silently: a full disk behind `> file` is an error like any other.
#pragma once

#include <fmt/format.h>

#include <nlohmann/json_fwd.hpp>
#include <string_view>

namespace dissent::cli {

// Buffered. SystemError if it cannot be written.
void print(std::string_view text);

template <class... Args>
void print_line(fmt::format_string<Args...> format, Args&&... args) {
  print(fmt::format(format, std::forward<Args>(args)...) + "\n");
}

// What --json prints, indented. Bytes that are not UTF-8 (in a file name) are replaced, since JSON must be.
void print_json(const nlohmann::ordered_json& value);

// Call it after the last print(), and whenever someone may be waiting for the output so far. SystemError if something
// could not be written.
void flush_output();

}  // namespace dissent::cli
