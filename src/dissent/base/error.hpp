// The exception family of the project, and the ways to raise it.
//
// InputError:  the caller gave something that breaks a stated rule (a bad file, shape, name or value). Exit code 2.
// SystemError: the machine let us down (disk full, no permission, out of memory). Exit code 1.
//
// An InputError keeps its parts (Fault), and what() joins them:
//     SOURCE: column 'COLUMN' row ROW: ARGUMENT = VALUE; RULE
// Callers that know more add it on the way up: in_source("data.csv", [&] { ... }) names the file for an error inside
// that has no source yet. Nobody parses a message.
//
// Arguments are named as in the library: batch_size. Inside a rule a name between backquotes (`pool`) is an
// argument too. The edges spell them for their users: the program as --batch-size, Python as batch_size.
#pragma once

#include <fmt/format.h>

#include <cstddef>
#include <functional>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>

namespace dissent {

class Error : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

// What is wrong, in parts; parts that do not apply are empty.
struct Fault {
  std::string source = {};              // the file, table or object that it was found in
  std::string argument = {};            // name of the option or array
  std::string value = {};               // as it was given
  std::string rule = {};                // what it breaks, and what to do
  std::string column = {};              // of a table
  std::optional<std::size_t> row = {};  // of a table, counted from 0; shown from 1

  // How an edge writes the name of an argument.
  using Spell = std::function<std::string(std::string_view argument)>;
  // One line; without `spell`, arguments keep their names.
  std::string text(const Spell& spell = {}) const;
};

class InputError : public Error {
 public:
  explicit InputError(Fault fault) : Error(fault.text()), fault_(std::move(fault)) {}
  explicit InputError(std::string rule) : InputError(Fault{.rule = std::move(rule)}) {}

  const Fault& fault() const { return fault_; }

 private:
  Fault fault_;
};

class SystemError : public Error {
 public:
  using Error::Error;
};

template <class... Args>
[[noreturn]] void fail(fmt::format_string<Args...> rule, Args&&... args) {
  throw InputError(fmt::format(rule, std::forward<Args>(args)...));
}

template <class... Args>
[[noreturn]] void fail_system(fmt::format_string<Args...> message, Args&&... args) {
  throw SystemError(fmt::format(message, std::forward<Args>(args)...));
}

// Formats only when the rule is broken, so a check in a loop costs one comparison.
template <class... Args>
void check(bool holds, fmt::format_string<Args...> rule, Args&&... args) {
  if (!holds) [[unlikely]] {
    fail(rule, std::forward<Args>(args)...);
  }
}

// The value of an argument:
//     check_argument(size > 0, "batch_size", size, "it must be > 0");
template <class Value, class... Args>
void check_argument(bool holds, std::string_view argument, const Value& value, fmt::format_string<Args...> rule,
                    Args&&... args) {
  if (!holds) [[unlikely]] {
    throw InputError(Fault{.argument = std::string(argument),
                           .value = fmt::format("{}", value),
                           .rule = fmt::format(rule, std::forward<Args>(args)...)});
  }
}

// Runs `work`. If it throws an InputError without a source, rethrows it with this one.
template <class Work>
decltype(auto) in_source(std::string_view source, Work&& work) {
  try {
    return std::forward<Work>(work)();
  } catch (const InputError& error) {
    if (!error.fault().source.empty()) {
      throw;
    }
    Fault fault = error.fault();
    fault.source = source;
    throw InputError(std::move(fault));
  }
}

}  // namespace dissent
