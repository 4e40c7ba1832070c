// A block of threads of the training kernel: a thread is a row of a tile of the batch, and shared memory holds columns
// [unit][row] over these rows.
//
// Places in shared memory are given as offsets in floats, so that the compiler knows which memory is meant.
#pragma once

#include <cstdint>

#include "dissent/device/train_job.hpp"

namespace dissent::device {

extern __shared__ float4 shared_memory[];

__device__ __forceinline__ float* shared_floats() { return reinterpret_cast<float*>(shared_memory); }

// A load or store of several numbers waits once for all of them.
constexpr int kAhead = 8;

// kRows threads. Regions of shared memory, in this order.
template <int kRows>
struct Block {
  static constexpr int kStride = kRows + 4;  // of columns: fragments of tensor cores then fall into different banks
  static constexpr int kWarps = kRows / 32;

  int base;              // units of the component's last hidden layer, then gradients of its layers
  int flow;              // the same of the conditioner
  int columns;           // [kProductColumns]: what a product is formed with, and then the warps' parts of it
  int copies;            // of parameters and gradients
  float* scratch;        // [..][kRows], in the card's memory: a row's own warp alone reads it
  bool active;           // there is such a row
  bool busy;             // the warp has such a row: else it only takes part in what all threads do
  std::uint32_t source;  // which row of the data it is

  __device__ __forceinline__ Block(const TrainMemory& memory, float* scratch_memory)
      : base(0),
        flow(memory.base_units * kStride),
        columns(flow + memory.flow_units * kStride),
        copies(columns + kProductColumns * kStride),
        scratch(scratch_memory),
        active(false),
        busy(false),
        source(0) {}

  // The thread's own row of a column.
  static __device__ __forceinline__ float& at(int region, int unit) {
    return shared_floats()[region + unit * kStride + static_cast<int>(threadIdx.x)];
  }
};

// The thread's own row of columns in the card's memory.
template <int kRows>
struct ScratchColumn {
  float* data;

  __device__ __forceinline__ explicit ScratchColumn(float* columns) : data(columns + static_cast<int>(threadIdx.x)) {}
  __device__ __forceinline__ float& operator[](int unit) const { return data[unit * kRows]; }
};

// to(k, from(k)) for k < count, several loads at a time.
template <class From, class To>
__device__ __forceinline__ void copy_ahead(int count, const From& from, const To& to) {
  int k = 0;
  for (; k + kAhead <= count; k += kAhead) {
    float value[kAhead];
#pragma unroll
    for (int a = 0; a < kAhead; ++a) {
      value[a] = from(k + a);
    }
#pragma unroll
    for (int a = 0; a < kAhead; ++a) {
      to(k + a, value[a]);
    }
  }
  for (; k < count; ++k) {
    to(k, from(k));
  }
}

}  // namespace dissent::device
