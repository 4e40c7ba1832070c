// Checks of what a file or table holds: like check() and fail(), but the error names the source.
//
//     check_in(path, num_rows > 0, "has no rows");   // "data.csv: has no rows"
#pragma once

#include <string>
#include <string_view>
#include <utility>

#include "dissent/base/error.hpp"

namespace dissent {

template <class... Args>
[[noreturn]] void fail_in(std::string_view source, fmt::format_string<Args...> rule, Args&&... args) {
  throw InputError(Fault{.source = std::string(source), .rule = fmt::format(rule, std::forward<Args>(args)...)});
}

// Formats only when the rule is broken.
template <class... Args>
void check_in(std::string_view source, bool holds, fmt::format_string<Args...> rule, Args&&... args) {
  if (!holds) [[unlikely]] {
    fail_in(source, rule, std::forward<Args>(args)...);
  }
}

}  // namespace dissent
