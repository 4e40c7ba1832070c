// Standard output that does not fail in silence: a full disk behind `> file` is an error like any other.
#pragma once

#include <fmt/format.h>

#include <string_view>

namespace dissent::cli {

// Buffered. SystemError when it cannot be written.
void print(std::string_view text);

template <class... Args>
void print_line(fmt::format_string<Args...> format, Args&&... args) {
  print(fmt::format(format, std::forward<Args>(args)...) + "\n");
}

// Once, after the last print(). SystemError when something could not be written.
void flush_output();

}  // namespace dissent::cli
