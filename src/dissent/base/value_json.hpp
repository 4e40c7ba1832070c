// Values of fields (base/field.hpp) as JSON, in the metadata of files.
#pragma once

#include <algorithm>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <type_traits>
#include <variant>
#include <vector>

#include "dissent/base/field.hpp"

namespace dissent {

using Json = nlohmann::ordered_json;

inline Json to_json(const Value& value) {
  return std::visit(
      [](const auto& held) -> Json {
        if constexpr (std::is_same_v<std::decay_t<decltype(held)>, std::monostate>) {
          return nullptr;
        } else {
          return held;
        }
      },
      value);
}

// None unless the JSON is of the field's type; set() checks its range. The JSON library would wrap a negative whole
// number or cut off a fraction.
inline std::optional<Value> from_json(const FieldInfo& info, const Json& json) {
  const auto all = [&](bool (*is)(const Json&)) { return json.is_array() && std::ranges::all_of(json, is); };
  const auto whole = [](const Json& item) { return item.is_number_unsigned(); };
  const auto number = [](const Json& item) { return item.is_number(); };
  if (json.is_null() && info.optional) {
    return Value();
  }
  switch (info.type) {
    case FieldType::kSwitch:
      return json.is_boolean() ? std::optional<Value>(json.get<bool>()) : std::nullopt;
    case FieldType::kText:
      return json.is_string() ? std::optional<Value>(json.get<std::string>()) : std::nullopt;
    case FieldType::kWhole:
      return whole(json) ? std::optional<Value>(json.get<std::uint64_t>()) : std::nullopt;
    case FieldType::kNumber:
      return number(json) ? std::optional<Value>(json.get<double>()) : std::nullopt;
    case FieldType::kWholes:
      return all(whole) ? std::optional<Value>(json.get<std::vector<std::uint64_t>>()) : std::nullopt;
    case FieldType::kNumbers:
      return all(number) ? std::optional<Value>(json.get<std::vector<double>>()) : std::nullopt;
  }
  return std::nullopt;
}

}  // namespace dissent
