#include "dissent/device/score_slots_plan.hpp"

#include <algorithm>

namespace dissent::score {

SlotsPlan SlotsPlan::of(std::size_t row_bytes) {
  const std::size_t array_bytes = (row_bytes + 15 + 15) / 16 * 16;  // it may begin anywhere between two multiples of 16
  const std::size_t fit = kBytes / (2 * array_bytes);
  const int slots = static_cast<int>(std::min<std::size_t>(fit, kMostSlots));
  const int warps = std::min(kMostWarps, slots - std::max(2, slots / 5));
  return {slots, warps, fit == 0 ? 0 : static_cast<int>(array_bytes)};
}

}  // namespace dissent::score
