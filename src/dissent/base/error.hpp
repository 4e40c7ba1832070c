// The exception family of the project, and the one way to raise it.
//
// InputError:  the caller gave something that breaks a stated rule (a bad file, shape, name or value). Exit code 2.
// SystemError: the machine let us down (disk full, no permission, out of memory). Exit code 1.
// A message names the function or file, the argument, its value and the rule, so that it can be acted on as it stands:
//     check(stddev > 0, "mixture: stddev[{}] = {} is not positive; standard deviations must be > 0", k, stddev);
#pragma once

#include <fmt/format.h>

#include <stdexcept>
#include <string>
#include <utility>

namespace dissent {

class Error : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

class InputError : public Error {
 public:
  using Error::Error;
};

class SystemError : public Error {
 public:
  using Error::Error;
};

template <class... Args>
[[noreturn]] void fail(fmt::format_string<Args...> message, Args&&... args) {
  throw InputError(fmt::format(message, std::forward<Args>(args)...));
}

template <class... Args>
[[noreturn]] void fail_system(fmt::format_string<Args...> message, Args&&... args) {
  throw SystemError(fmt::format(message, std::forward<Args>(args)...));
}

// Formats only when the rule is broken, so a check in a loop costs one comparison.
template <class... Args>
void check(bool holds, fmt::format_string<Args...> message, Args&&... args) {
  if (!holds) [[unlikely]] {
    fail(message, std::forward<Args>(args)...);
  }
}

}  // namespace dissent
