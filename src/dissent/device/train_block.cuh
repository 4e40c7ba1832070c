// A block of threads of the training kernel: each thread is one row of a tile of the batch, and each warp owns 32 rows.
// Shared memory holds panels: columns [unit][row] over the rows of one warp. Other warps read a panel only to form sums
// over all rows.
//
// Places in shared memory are offsets in floats, so that the compiler knows which memory is meant.
#pragma once

#include <cstdint>

#include "dissent/device/train_job.hpp"

namespace dissent::device {

extern __shared__ float4 shared_memory[];

__device__ __forceinline__ float* shared_floats() { return reinterpret_cast<float*>(shared_memory); }

__device__ __forceinline__ int lane_of_warp() { return static_cast<int>(threadIdx.x) % 32; }
__device__ __forceinline__ int warp_of_block() { return static_cast<int>(threadIdx.x) / 32; }

// A thread loads this many numbers before it waits for them.
constexpr int kAhead = 16;

// The thread's own row of a column.
__device__ __forceinline__ float& own_row(int panel, int column) {
  return shared_floats()[panel + column * kPanelStride + lane_of_warp()];
}

// kRows threads. Regions of shared memory, in this order: the warps' panels, then what the whole block shares.
template <int kRows>
struct Block {
  static constexpr int kWarps = kRows / 32;

  int panels;            // size of one warp's panels
  int base;              // units of the component's last hidden layer, then gradients of its layers
  int flow;              // the same for the conditioner
  int columns;           // [operand_columns]: an operand of a product, then the warp's part of the result
  int heads;             // [2 kOutputsAtOnce]: means and log-stddevs of some outputs
  int units;             // of roomy blocks: the conditioner's last hidden units and the bias, split
  int stage;             // weights of a spline's output (train_loss.cuh); behind them are copies of parameters
  float* scratch;        // [..][kRows], in the card's memory: only a row's own warp reads it
  bool active;           // the thread has a row
  bool busy;             // the warp has such a thread: otherwise it only takes part in what all threads do
  std::uint32_t source;  // which row of the data it is

  // The tile has `count` rows.
  __device__ __forceinline__ Block(const TrainMemory& memory, float* scratch_memory, int count,
                                   std::uint32_t source_row)
      : panels(panel_size(memory)),
        base(panels * warp_of_block()),
        flow(base + memory.base_units * kPanelStride),
        columns(flow + memory.flow_units * kPanelStride),
        heads(columns + operand_columns(memory.flow_units) * kPanelStride),
        units(heads + 2 * kOutputsAtOnce * kPanelStride),
        stage(panels * kWarps),
        scratch(scratch_memory),
        active(static_cast<int>(threadIdx.x) < count),
        busy(32 * warp_of_block() < count),
        source(source_row) {}
};

// The thread's own row of columns in the card's memory.
template <int kRows>
struct ScratchColumn {
  float* data;

  __device__ __forceinline__ explicit ScratchColumn(float* columns) : data(columns + static_cast<int>(threadIdx.x)) {
    __builtin_assume(__isGlobal(data));
  }
  __device__ __forceinline__ float& operator[](int unit) const { return data[unit * kRows]; }
};

// Calls to(k, from(k)) for k < count and on to the next multiple of eight; the extra values do no harm.
template <class From, class To>
__device__ __forceinline__ void copy_ahead(int count, const From& from, const To& to) {
#pragma unroll 1
  for (int k = 0; k < count; k += kAhead) {
    float value[kAhead];
#pragma unroll
    for (int a = 0; a < kAhead; ++a) {
      value[a] = k + a / 8 * 8 < count ? from(k + a) : 0.0F;
    }
#pragma unroll
    for (int a = 0; a < kAhead; ++a) {
      if (k + a / 8 * 8 < count) {
        to(k + a, value[a]);
      }
    }
  }
}

}  // namespace dissent::device
