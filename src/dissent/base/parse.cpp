#include "dissent/base/parse.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>

#include "dissent/base/error.hpp"
#include "dissent/base/names.hpp"

namespace dissent {

std::optional<std::uint64_t> parse_whole(std::string_view text, int base) {
  std::uint64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value, base);
  return error == std::errc() && end == text.data() + text.size() ? std::optional(value) : std::nullopt;
}

std::optional<double> parse_number(std::string_view text) {
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  return error == std::errc() && end == text.data() + text.size() ? std::optional(value) : std::nullopt;
}

std::vector<std::string_view> split(std::string_view text, char at) {
  std::vector<std::string_view> parts;
  for (std::size_t begin = 0; begin <= text.size();) {
    const std::size_t end = std::min(text.find(at, begin), text.size());
    parts.push_back(text.substr(begin, end - begin));
    begin = end + 1;
  }
  return parts;
}

MethodText split_method(std::string_view text) {
  const std::size_t colon = text.find(':');
  if (colon == std::string_view::npos) {
    return {text, std::nullopt};
  }
  return {text.substr(0, colon), text.substr(colon + 1)};
}

std::string method_name(std::string_view name, const Parameter& parameter) {
  return parameter.letter.empty() ? std::string(name) : fmt::format("{}:{}", name, parameter.letter);
}

std::string method_text(std::string_view name, const Parameter& parameter, double value) {
  if (parameter.letter.empty()) {
    return std::string(name);
  }
  return parameter.whole ? fmt::format("{}:{:.0f}", name, value) : fmt::format("{}:{}", name, value);
}

double parse_parameter(std::string_view what, const MethodText& typed, const Parameter& parameter) {
  if (parameter.letter.empty()) {
    check(!typed.parameter, "{} '{}' takes no parameter; write '{}'", what, typed.name, typed.name);
    return 0;
  }
  check(typed.parameter.has_value(), "{} '{}' needs a number, as in '{}:{}'", what, typed.name, typed.name,
        parameter.example);
  const std::optional<double> value = parse_number(*typed.parameter);
  check(value && *value >= parameter.least && *value <= parameter.most && value != parameter.except &&
            (!parameter.whole || (parse_whole(*typed.parameter) && *value == std::floor(*value))),
        "{}: '{}' in '{}:{}' is not {}", what, *typed.parameter, typed.name, *typed.parameter, parameter.rule);
  return *value;
}

void fail_unknown_method(std::string_view what, std::string_view name, const std::vector<std::string>& names,
                         const std::vector<std::string>& listed) {
  fail("{} '{}' is not known{} (known: {})", what, name, did_you_mean(name, names), fmt::join(listed, ", "));
}

}  // namespace dissent
