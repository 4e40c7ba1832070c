// How a block of score_tile.cuh shares the pairs of components among its threads.
#pragma once

#include <cstddef>

#include "dissent/device/score_math.hpp"

namespace dissent::score {

inline constexpr int kTile = 4;           // components on a side
inline constexpr int kTileThreads = 384;  // in a block, at most
inline constexpr int kTileBytes = 128;    // of one component's outputs that are staged at a time

// How a block's threads share the tiles, and what its shared memory must hold.
struct TilePlan {
  int num_components;
  int groups;   // of kTile components
  int tasks;    // tiles on or above the diagonal
  int slices;   // threads that share a tile, a power of two
  int threads;  // in a block
  int stride;   // components in a staged row: a multiple of 4 that spreads over the banks
  int matrix_bytes;

  static TilePlan of(int num_components, int num_outputs) {
    TilePlan plan{};
    plan.num_components = num_components;
    plan.groups = (num_components + kTile - 1) / kTile;
    plan.tasks = plan.groups * (plan.groups + 1) / 2;
    plan.slices = 1;
    while (plan.slices < 32 && plan.tasks * plan.slices * 2 <= kTileThreads && plan.slices < num_outputs) {
      plan.slices *= 2;
    }
    const int wanted = (plan.tasks * plan.slices + 31) / 32 * 32;
    plan.threads = wanted < 64 ? 64 : wanted < kTileThreads ? wanted : kTileThreads;
    plan.stride = kTile * (plan.groups | 1);
    plan.matrix_bytes = (num_components * num_components * 8 + 15) / 16 * 16;
    return plan;
  }
  // Divergences, logarithms, row terms, warps' sums, units, parts.
  DISSENT_BOTH std::size_t shared_bytes() const {
    return static_cast<std::size_t>(matrix_bytes) + 40 * static_cast<std::size_t>(num_components) + 32 * 16 +
           2 * kTileBytes + 3 * static_cast<std::size_t>(kTileBytes) * stride;
  }
};

}  // namespace dissent::score
