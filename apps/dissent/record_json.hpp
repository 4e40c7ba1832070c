// A record or an options struct as JSON: an object with its fields, in their order.
#pragma once

#include <cmath>
#include <nlohmann/json.hpp>
#include <string>
#include <type_traits>
#include <variant>

#include "dissent/base/field.hpp"

namespace dissent::cli {

// Nothing, and a number that JSON cannot write, is null.
inline nlohmann::ordered_json json_of(const Value& value) {
  return std::visit(
      [](const auto& held) -> nlohmann::ordered_json {
        using Held = std::decay_t<decltype(held)>;
        if constexpr (std::is_same_v<Held, std::monostate>) {
          return nullptr;
        } else if constexpr (std::is_same_v<Held, double>) {
          return std::isfinite(held) ? nlohmann::ordered_json(held) : nlohmann::ordered_json();
        } else {
          return held;
        }
      },
      value);
}

template <class S>
nlohmann::ordered_json json_of(const S& record) {
  nlohmann::ordered_json object = nlohmann::ordered_json::object();
  for (const Field<S>& field : fields<S>()) {
    object[std::string(field.name)] = json_of(field.get(record));
  }
  return object;
}

}  // namespace dissent::cli
