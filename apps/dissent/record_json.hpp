// A record or an options struct as JSON: an object with its fields, in their order.
#pragma once

#include <nlohmann/json.hpp>
#include <string>

#include "dissent/base/value_json.hpp"

namespace dissent::cli {

template <class S>
nlohmann::ordered_json json_of(const S& record) {
  nlohmann::ordered_json object = nlohmann::ordered_json::object();
  for (const Field<S>& field : fields<S>()) {
    object[std::string(field.name)] = to_json(field.get(record));
  }
  return object;
}

}  // namespace dissent::cli
