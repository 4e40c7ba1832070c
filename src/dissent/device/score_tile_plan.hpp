// How a block of score_tile.cuh shares the pairs of components among its threads.
#pragma once

#include <cstddef>

#include "dissent/device/score_math.hpp"

namespace dissent::score {

inline constexpr int kTile = 4;                         // components on a side
inline constexpr int kTileThreads = 352;                // in a block, at most: one for each tile of 104 components
inline constexpr std::size_t kBytesOfOne = 227 * 1024;  // of shared memory that one block may have
inline constexpr std::size_t kBytesOfTwo = 113 * 1024;  // with which two fit on a multiprocessor

// How a block's threads share the tiles, and what its shared memory must hold.
struct TilePlan {
  int num_components;
  int groups;        // of kTile components
  int tasks;         // tiles on or above the diagonal
  int slices;        // threads that share a tile, a power of two
  int threads;       // in a block
  int stride;        // groups in a staged row: odd, which spreads rows over the banks
  int outputs_log2;  // outputs that are staged at a time: a power of two, and at least as many as slices
  int number_bytes;  // of C
  int matrix_bytes;

  // For sums in C. together: blocks that a multiprocessor is to hold, 1 or 2.
  template <class C>
  static TilePlan of(int num_components, int num_outputs, int together = 1) {
    TilePlan plan{};
    plan.num_components = num_components;
    plan.groups = (num_components + kTile - 1) / kTile;
    plan.tasks = plan.groups * (plan.groups + 1) / 2;
    plan.stride = plan.groups | 1;
    plan.number_bytes = sizeof(C);
    plan.matrix_bytes = (num_components * num_components * 8 + 15) / 16 * 16;
    plan.outputs_log2 = sizeof(C) == 4 ? 5 : 4;
    if (together == 2 && plan.shared_bytes() > kBytesOfTwo) {
      plan.outputs_log2 = 4;
    }
    plan.slices = 1;
    while (plan.slices < plan.outputs() && plan.tasks * plan.slices * 2 <= kTileThreads && plan.slices < num_outputs) {
      plan.slices *= 2;
    }
    const int wanted = (plan.tasks * plan.slices + 31) / 32 * 32;
    plan.threads = wanted < 64 ? 64 : wanted < kTileThreads ? wanted : kTileThreads;
    return plan;
  }
  DISSENT_BOTH int outputs() const { return 1 << outputs_log2; }
  DISSENT_BOTH std::size_t unit_bytes() const { return 2 * static_cast<std::size_t>(number_bytes) << outputs_log2; }
  DISSENT_BOTH std::size_t parts_bytes() const {
    return 3 * kTile * static_cast<std::size_t>(stride * number_bytes) << outputs_log2;
  }
  // Divergences, logarithms, row terms, warps' sums, units, parts.
  DISSENT_BOTH std::size_t shared_bytes() const {
    return static_cast<std::size_t>(matrix_bytes) + 40 * static_cast<std::size_t>(num_components) + 32 * 16 +
           unit_bytes() + parts_bytes();
  }
};

}  // namespace dissent::score
