// Names of devices: "cpu", "cuda", "cuda:N".
#pragma once

#include <cstdint>
#include <limits>
#include <optional>
#include <string_view>

#include "dissent/base/error.hpp"
#include "dissent/base/parse.hpp"

namespace dissent {

// The number of the card that a name means; none for "cpu". InputError for any other name.
inline std::optional<int> card_of(std::string_view name) {
  if (name == "cpu") {
    return std::nullopt;
  }
  if (name == "cuda") {
    return 0;
  }
  constexpr std::string_view kPrefix = "cuda:";
  constexpr auto kNone = std::numeric_limits<std::uint64_t>::max();
  const std::uint64_t card =
      name.starts_with(kPrefix) ? parse_whole(name.substr(kPrefix.size())).value_or(kNone) : kNone;
  check_argument(card <= std::numeric_limits<int>::max(), "device", name,
                 "it must be cpu, cuda, or cuda:N with the number of a card");
  return static_cast<int>(card);
}

}  // namespace dissent
