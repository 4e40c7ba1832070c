#include "dissent/base/field.hpp"

#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>

#include "dissent/base/parse.hpp"

namespace dissent {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kLargestWhole = 0x1p64;

bool is_whole(const FieldInfo& info) { return info.type == FieldType::kWhole || info.type == FieldType::kWholes; }
bool is_list(const FieldInfo& info) { return info.type == FieldType::kWholes || info.type == FieldType::kNumbers; }

// "in (0, 1]", "from 1 to 100", ">= 1"; empty without limits.
std::string range_text(const FieldInfo& info) {
  const FieldTraits& t = info.traits;
  const bool has_low = t.least > -kInfinity || t.above > -kInfinity;
  const bool has_high = t.most < kInfinity || t.below < kInfinity;
  if (has_low && has_high) {
    if (is_whole(info)) {
      return fmt::format(" from {} to {}", t.least, t.most);
    }
    return fmt::format(" in {}{}, {}{}", t.above >= t.least ? '(' : '[', std::max(t.least, t.above),
                       std::min(t.most, t.below), t.below <= t.most ? ')' : ']');
  }
  if (has_low) {
    return t.above >= t.least ? fmt::format(" > {}", t.above) : fmt::format(" >= {}", t.least);
  }
  if (has_high) {
    return t.below <= t.most ? fmt::format(" < {}", t.below) : fmt::format(" <= {}", t.most);
  }
  return is_whole(info) ? " >= 0" : "";
}

std::string rule_text(const FieldInfo& info) {
  switch (info.type) {
    case FieldType::kSwitch:
      return "it must be true or false";
    case FieldType::kText:
      return "it must be a name";
    case FieldType::kWhole:
      return fmt::format("it must be a whole number{}", range_text(info));
    case FieldType::kNumber:
      return fmt::format("it must be a finite number{}", range_text(info));
    case FieldType::kWholes:
      return fmt::format("it must be whole numbers{}, separated by commas", range_text(info));
    case FieldType::kNumbers:
      return fmt::format("it must be finite numbers{}, separated by commas", range_text(info));
  }
  return "";
}

[[noreturn]] void fail_rule(const FieldInfo& info, const std::string& value, const std::string& besides = "") {
  throw InputError(Fault{
      .argument = std::string(info.name), .value = value.empty() ? "''" : value, .rule = rule_text(info) + besides});
}

// "; entry 2, 'x', is not", if there are several.
std::string bad_entry(std::size_t place, std::string_view text, std::size_t count) {
  return count > 1 ? fmt::format("; entry {}, '{}', is not", place + 1, text) : "";
}

bool in_range(const FieldTraits& t, double value) {
  return std::isfinite(value) && value >= t.least && value <= t.most && value > t.above && value < t.below;
}

// Checks the range of entries of the right type; the error names the first one outside.
template <class T>
void check_entries(const FieldInfo& info, const std::vector<T>& values) {
  for (std::size_t k = 0; k < values.size(); ++k) {
    if (!in_range(info.traits, static_cast<double>(values[k]))) {
      fail_rule(info, fmt::format("{}", fmt::join(values, ",")),
                bad_entry(k, fmt::format("{}", values[k]), values.size()));
    }
  }
}

// One number, or several.
template <class T, class Parse>
std::vector<T> read_numbers(const FieldInfo& info, std::string_view text, const Parse& parse) {
  std::vector<T> numbers;
  if (text.empty() && is_list(info)) {
    return numbers;
  }
  const auto parts = split(text);
  for (const std::string_view part : parts) {
    const std::optional<T> number = parse(part);
    if (!number) {
      fail_rule(info, std::string(text), is_list(info) ? bad_entry(numbers.size(), part, parts.size()) : "");
    }
    numbers.push_back(*number);
  }
  if (!is_list(info) && numbers.size() != 1) {
    fail_rule(info, std::string(text));
  }
  return numbers;
}

// The text as the field's type; its range is not checked.
Value read_value(const FieldInfo& info, std::string_view text) {
  if (text.empty() && info.optional) {
    return {};
  }
  switch (info.type) {
    case FieldType::kSwitch:
      if (!text.empty() && text != "true" && text != "false") {
        fail_rule(info, std::string(text));
      }
      return text != "false";
    case FieldType::kText:
      return std::string(text);
    case FieldType::kWhole:
    case FieldType::kWholes: {
      auto wholes = read_numbers<std::uint64_t>(info, text, [](std::string_view part) { return parse_whole(part); });
      return info.type == FieldType::kWhole ? Value(wholes.front()) : Value(std::move(wholes));
    }
    case FieldType::kNumber:
    case FieldType::kNumbers: {
      auto numbers = read_numbers<double>(info, text, [](std::string_view part) { return parse_number(part); });
      return info.type == FieldType::kNumber ? Value(numbers.front()) : Value(std::move(numbers));
    }
  }
  return {};
}

}  // namespace

std::string to_text(const Value& value) {
  struct Text {
    std::string operator()(std::monostate) const { return ""; }
    std::string operator()(bool on) const { return on ? "true" : "false"; }
    std::string operator()(std::uint64_t whole) const { return std::to_string(whole); }
    std::string operator()(double number) const { return fmt::format("{}", number); }
    std::string operator()(const std::string& text) const { return text; }
    std::string operator()(const std::vector<std::uint64_t>& wholes) const {
      return fmt::format("{}", fmt::join(wholes, ","));
    }
    std::string operator()(const std::vector<double>& numbers) const {
      return fmt::format("{}", fmt::join(numbers, ","));
    }
  };
  return std::visit(Text(), value);
}

Value parse_value(const FieldInfo& info, std::string_view text) {
  const Value value = read_value(info, text);
  check_value(info, value);
  return value;
}

void check_value(const FieldInfo& info, const Value& value) {
  const FieldTraits& t = info.traits;
  bool holds = false;
  if (std::holds_alternative<std::monostate>(value)) {
    holds = info.optional;
  } else if (std::holds_alternative<bool>(value)) {
    holds = info.type == FieldType::kSwitch;
  } else if (const auto* whole = std::get_if<std::uint64_t>(&value)) {
    holds = info.type == FieldType::kWhole && in_range(t, static_cast<double>(*whole));
  } else if (const auto* number = std::get_if<double>(&value)) {
    holds = info.type == FieldType::kNumber && in_range(t, *number);
  } else if (const auto* text = std::get_if<std::string>(&value)) {
    holds = info.type == FieldType::kText;
    if (holds && t.names) {
      const std::vector<std::string> names = t.names();
      if (std::ranges::find(names, *text) == names.end()) {
        throw InputError(
            Fault{.argument = std::string(info.name),
                  .value = text->empty() ? "''" : *text,
                  .rule = fmt::format("there are: {}{}", fmt::join(names, ", "), did_you_mean(*text, names))});
      }
    }
  } else if (const auto* wholes = std::get_if<std::vector<std::uint64_t>>(&value)) {
    holds = info.type == FieldType::kWholes;
    check_entries(info, holds ? *wholes : std::vector<std::uint64_t>());
  } else if (const auto* numbers = std::get_if<std::vector<double>>(&value)) {
    holds = info.type == FieldType::kNumbers;
    check_entries(info, holds ? *numbers : std::vector<double>());
  }
  if (!holds) {
    fail_rule(info, to_text(value));
  }
}

double as_number(const Value& value) {
  if (const auto* whole = std::get_if<std::uint64_t>(&value)) {
    return static_cast<double>(*whole);
  }
  if (const auto* number = std::get_if<double>(&value)) {
    return *number;
  }
  if (const auto* on = std::get_if<bool>(&value)) {
    return *on ? 1 : 0;
  }
  return std::numeric_limits<double>::quiet_NaN();
}

namespace field_detail {

Value converted(const FieldInfo& info, const Value& value) {
  const auto whole_of = [](double number) -> std::optional<std::uint64_t> {
    const bool fits = number >= 0 && number < kLargestWhole && number == std::floor(number);
    return fits ? std::optional(static_cast<std::uint64_t>(number)) : std::nullopt;
  };
  Value result = value;
  if (const auto* whole = std::get_if<std::uint64_t>(&value); whole != nullptr) {
    if (info.type == FieldType::kNumber) {
      result = static_cast<double>(*whole);
    } else if (info.type == FieldType::kWholes) {
      result = std::vector{*whole};
    } else if (info.type == FieldType::kNumbers) {
      result = std::vector{static_cast<double>(*whole)};
    }
  } else if (const auto* number = std::get_if<double>(&value); number != nullptr) {
    if (info.type == FieldType::kWhole && whole_of(*number)) {
      result = *whole_of(*number);
    } else if (info.type == FieldType::kNumbers) {
      result = std::vector{*number};
    }
  } else if (const auto* wholes = std::get_if<std::vector<std::uint64_t>>(&value);
             wholes != nullptr && info.type == FieldType::kNumbers) {
    result = std::vector<double>(wholes->begin(), wholes->end());
  } else if (const auto* numbers = std::get_if<std::vector<double>>(&value);
             numbers != nullptr && numbers->empty() && info.type == FieldType::kWholes) {
    result = std::vector<std::uint64_t>();
  }
  check_value(info, result);
  return result;
}

}  // namespace field_detail
}  // namespace dissent
