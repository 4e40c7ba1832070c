// Masks as other programs write them.
#pragma once

#include <cstdint>
#include <vector>

#include "dissent/network/mask.hpp"

namespace dissent::test {

// From a flag per unit of each hidden layer: non-zero is kept.
inline Mask mask_from_flags(const std::vector<std::vector<double>>& flags) {
  Mask mask;
  for (const std::vector<double>& layer : flags) {
    std::vector<std::uint32_t>& units = mask.kept.emplace_back();
    for (std::size_t unit = 0; unit < layer.size(); ++unit) {
      if (layer[unit] != 0) {
        units.push_back(static_cast<std::uint32_t>(unit));
      }
    }
  }
  return mask;
}

}  // namespace dissent::test
