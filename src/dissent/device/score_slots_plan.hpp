// How the shared memory of a block is cut into slots for inputs (score_slots.cuh), and how many warps take them.
#pragma once

#include <cstddef>

namespace dissent::score {

struct SlotsPlan {
  static constexpr int kMostWarps = 16;
  static constexpr int kMostSlots = 32;
  static constexpr int kFewestSlots = 8;             // with fewer, there are too few warps
  static constexpr std::size_t kBytes = 218 * 1024;  // of a block's 227 kB; the rest is for results

  int slots;
  int warps;
  int array_bytes;  // of a slot's means, and of its standard deviations

  // For rows of this many bytes in each array.
  static SlotsPlan of(std::size_t row_bytes);
  bool fits() const { return slots >= kFewestSlots; }
  std::size_t shared_bytes() const {
    return static_cast<std::size_t>(slots) * 2 * static_cast<std::size_t>(array_bytes);
  }
};

}  // namespace dissent::score
