// Numbers and method names as people type them: the whole text must be one, or there is no result.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <ranges>
#include <string>
#include <string_view>
#include <vector>

namespace dissent {

std::optional<std::uint64_t> parse_whole(std::string_view text, int base = 10);
std::optional<double> parse_number(std::string_view text);  // also infinities and NaN: the caller checks ranges

// Splits "a,b,c" at its commas; an empty text is one empty part.
std::vector<std::string_view> split(std::string_view text, char at = ',');

// A method with its parameter, as in "kl" or "chernoff:0.3".
struct MethodText {
  std::string_view name;
  std::optional<std::string_view> parameter;  // what follows the colon
};
MethodText split_method(std::string_view text);

// Whether a method takes a parameter: the letter that stands for it in lists ("K", "A"), and what is allowed.
struct Parameter {
  std::string_view letter = {};  // empty: the method takes none
  bool whole = false;
  double least = 0;
  double most = 0;
  std::string_view rule = {};                   // "a whole number from 1 to 1000"
  std::string_view example = {};                // "5000"
  std::optional<double> except = std::nullopt;  // the one number in range that is not allowed
};

// As typed in lists: "mc:K".
std::string method_name(std::string_view name, const Parameter& parameter);

// With a value: "mc:5000". Reading it gives the same value to the bit.
std::string method_text(std::string_view name, const Parameter& parameter, double value);

// The parameter of "name:parameter", 0 for a method without one. `what` names the kind of method in messages.
// InputError for a parameter that is missing, superfluous or out of range.
double parse_parameter(std::string_view what, const MethodText& typed, const Parameter& parameter);

// InputError: `what` 'NAME' is not known, with the nearest of `names` and all of `listed`.
[[noreturn]] void fail_unknown_method(std::string_view what, std::string_view name,
                                      const std::vector<std::string>& names, const std::vector<std::string>& listed);

// The row of a registry by its name. Rows have a `name` and a `parameter`.
template <std::ranges::contiguous_range Rows>
const auto& find_method(std::string_view what, std::string_view name, const Rows& rows) {
  const auto found = std::ranges::find_if(rows, [&](const auto& row) { return row.name == name; });
  if (found == std::ranges::end(rows)) {
    std::vector<std::string> names;
    std::vector<std::string> listed;
    for (const auto& row : rows) {
      names.emplace_back(row.name);
      listed.push_back(method_name(row.name, row.parameter));
    }
    fail_unknown_method(what, name, names, listed);
  }
  return *found;
}

}  // namespace dissent
