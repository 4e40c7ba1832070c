// Brings inputs into a block's shared memory. The memory is cut into slots, each for the means and the standard
// deviations of one input. The block takes its inputs in turn: number k goes into slot k % slots, and warp k % warps
// waits for it. When that warp is done with it, it sends for number k + slots. With more slots than warps, some inputs
// are always on their way, whatever the warps are busy with.
//
// The copy engine (cp.async.bulk) copies rows in whole 16 bytes: from the last multiple of 16 before a row to the first
// after it. If that would reach beyond an end of the array, the warp copies the row itself.
#pragma once

#include <cuda_runtime.h>

#include <cstdint>

#include "dissent/device/score_call.hpp"
#include "dissent/device/score_slots_plan.hpp"

namespace dissent::score {

// A barrier in shared memory at which bytes of the copy engine arrive. It knows only the parity of a turn, and a warp
// that is ahead of another may come for the next turn before the last has arrived: so `sent` says which turn is on its
// way. It is written with release and read with acquire order, and nothing else is read before it. compute-sanitizer's
// racecheck looks for barriers between the two and warns of each pair of warps; those are not races.
struct SlotBarrier {
  unsigned long long state;
  int sent;

  __device__ __forceinline__ std::uint32_t place() const {
    return static_cast<std::uint32_t>(__cvta_generic_to_shared(&state));
  }
  // For one arrival per turn.
  __device__ __forceinline__ void init() {
    sent = -1;
    asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;" ::"r"(place()) : "memory");
  }
  __device__ __forceinline__ void arrive() {
    asm volatile("mbarrier.arrive.shared::cta.b64 _, [%0];" ::"r"(place()) : "memory");
  }
  // Arrives, and makes the barrier wait for this many bytes.
  __device__ __forceinline__ void arrive_with(int bytes) {
    asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(place()), "r"(bytes) : "memory");
  }
  // Called by one lane, before it arrives.
  __device__ __forceinline__ void send(int turn) {
    asm volatile("st.release.cta.shared::cta.b32 [%0], %1;" ::"r"(place() + 8), "r"(turn) : "memory");
  }
  __device__ __forceinline__ void wait(int turn) const {
    int on_its_way = -1;
    while (on_its_way < turn) {
      asm volatile("ld.acquire.cta.shared::cta.b32 %0, [%1];" : "=r"(on_its_way) : "r"(place() + 8) : "memory");
    }
    int passed = 0;
    while (passed == 0) {
      asm volatile(
          "{\n\t.reg .pred p;\n\t"
          "mbarrier.try_wait.parity.shared::cta.b64 p, [%1], %2;\n\t"
          "selp.b32 %0, 1, 0, p;\n\t}"
          : "=r"(passed)
          : "r"(place()), "r"(turn & 1)
          : "memory");
    }
  }
};

// One array: where an input's row lies, and which part of it the copy engine may take.
template <class T>
struct SlotArray {
  const unsigned char* begin;
  const unsigned char* end;
  int row_bytes;

  __device__ __forceinline__ SlotArray(const T* data, const Rows<T>& rows)
      : begin(reinterpret_cast<const unsigned char*>(data)),
        row_bytes(rows.num_components * rows.num_outputs * static_cast<int>(sizeof(T))) {
    end = begin + rows.num_inputs * row_bytes;
  }
  __device__ __forceinline__ const unsigned char* row(long long input) const { return begin + input * row_bytes; }
  __device__ __forceinline__ int offset(long long input) const {
    return static_cast<int>(reinterpret_cast<std::uintptr_t>(row(input)) % 16);
  }
  __device__ __forceinline__ int whole_bytes(long long input) const {
    return (offset(input) + row_bytes + 15) / 16 * 16;
  }
  __device__ __forceinline__ bool inside(long long input) const {
    const unsigned char* first = row(input) - offset(input);
    return first >= begin && first + whole_bytes(input) <= end;
  }
};

template <class T>
class Slots {
 public:
  // All threads of the block call it, and wait for each other afterwards.
  __device__ __forceinline__ Slots(const Rows<T>& rows, const SlotsPlan& plan, unsigned char* memory,
                                   SlotBarrier* arrived)
      : plan_(plan),
        num_inputs_(rows.num_inputs),
        mean_(rows.mean, rows),
        stddev_(rows.stddev, rows),
        memory_(memory),
        arrived_(arrived) {
    if (threadIdx.x < plan.slots) {
      arrived[threadIdx.x].init();
      asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
    }
  }

  // The number of the block's k-th input; beyond the last if there are no more.
  __device__ __forceinline__ long long input(int k) const { return blockIdx.x + static_cast<long long>(k) * gridDim.x; }
  __device__ __forceinline__ bool has(int k) const { return input(k) < num_inputs_; }

  // Sends for number k, whose slot must be free; all lanes of a warp call it.
  __device__ __forceinline__ void send_for(int k, int lane) const {
    if (!has(k)) {
      return;
    }
    const long long n = input(k);
    SlotBarrier& arrived = arrived_[k % plan_.slots];
    unsigned char* to = slot(k);
    if (mean_.inside(n) && stddev_.inside(n)) {
      if (lane == 0) {
        asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
        arrived.send(k / plan_.slots);
        arrived.arrive_with(mean_.whole_bytes(n) + stddev_.whole_bytes(n));
        copy(mean_, n, to, arrived);
        copy(stddev_, n, to + plan_.array_bytes, arrived);
      }
      return;
    }
    copy_here(mean_, n, to, lane);
    copy_here(stddev_, n, to + plan_.array_bytes, lane);
    __syncwarp();
    if (lane == 0) {
      arrived.send(k / plan_.slots);
      arrived.arrive();
    }
  }

  __device__ __forceinline__ void wait(int k) const { arrived_[k % plan_.slots].wait(k / plan_.slots); }
  __device__ __forceinline__ const T* mean(int k) const {
    return reinterpret_cast<const T*>(slot(k) + mean_.offset(input(k)));
  }
  __device__ __forceinline__ const T* stddev(int k) const {
    return reinterpret_cast<const T*>(slot(k) + plan_.array_bytes + stddev_.offset(input(k)));
  }

 private:
  __device__ __forceinline__ unsigned char* slot(int k) const {
    return memory_ + static_cast<std::size_t>(k % plan_.slots) * 2 * plan_.array_bytes;
  }
  __device__ __forceinline__ static void copy(const SlotArray<T>& array, long long input, unsigned char* to,
                                              const SlotBarrier& arrived) {
    asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];" ::"r"(
                     static_cast<std::uint32_t>(__cvta_generic_to_shared(to))),
                 "l"(__cvta_generic_to_global(array.row(input) - array.offset(input))), "r"(array.whole_bytes(input)),
                 "r"(arrived.place())
                 : "memory");
  }
  __device__ __forceinline__ static void copy_here(const SlotArray<T>& array, long long input, unsigned char* to,
                                                   int lane) {
    const auto* from = reinterpret_cast<const T*>(array.row(input));
    auto* values = reinterpret_cast<T*>(to + array.offset(input));
    for (int v = lane; v < array.row_bytes / static_cast<int>(sizeof(T)); v += 32) {
      values[v] = from[v];
    }
  }

  const SlotsPlan& plan_;
  long long num_inputs_;
  SlotArray<T> mean_;
  SlotArray<T> stddev_;
  unsigned char* memory_;
  SlotBarrier* arrived_;
};

}  // namespace dissent::score
