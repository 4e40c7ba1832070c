// Numbers and method names as people type them: the whole text must be one, or it is none.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace dissent {

std::optional<std::uint64_t> parse_whole(std::string_view text, int base = 10);
std::optional<double> parse_number(std::string_view text);  // infinities and NaN as well: ranges are for the caller

// "a,b,c" at its commas; an empty text is one empty part.
std::vector<std::string_view> split(std::string_view text, char at = ',');

// A method with its parameter, as in "kl" or "chernoff:0.3".
struct MethodText {
  std::string_view name;
  std::optional<std::string_view> parameter;  // what stands behind the colon
};
MethodText split_method(std::string_view text);

// Whether a method takes a parameter: the letter that stands for it in lists ("K", "A"), and what is allowed.
struct Parameter {
  std::string_view letter = {};  // empty: the method takes none
  bool whole = false;
  double least = 0;
  double most = 0;
  std::string_view rule = {};     // "a whole number from 1 to 1000"
  std::string_view example = {};  // "5000"
};

// As typed in lists: "mc:K".
std::string method_name(std::string_view name, const Parameter& parameter);

// The parameter of "name:parameter", 0 for a method without. `what` names the kind of method in messages: InputError
// for one that is missing, superfluous or out of range.
double parse_parameter(std::string_view what, const MethodText& typed, const Parameter& parameter);

}  // namespace dissent
