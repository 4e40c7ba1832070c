// Pairwise scores for many outputs and few components: warps take inputs that the copy engine has brought into shared
// memory. So memory does not idle while a warp does what follows the sums.
//
// What limits it, for KL with 5 components and 257 outputs: latency. DRAM is busy half of the time and so are the issue
// slots, with 4 warps per scheduler, which share all registers. These were slower: two or four inputs per warp at a
// time (fewer warps, since slots are few), scores of four inputs together, and passing slots on before the sums are put
// together (more registers spill).
#pragma once

#include <cuda_runtime.h>

#include "dissent/device/score_slots.cuh"
#include "dissent/device/score_warp.cuh"

namespace dissent::score {

template <class Form, class T, int M, int kMost>
__global__ void __launch_bounds__(32 * SlotsPlan::kMostWarps, 1)
    score_by_staged_warps(__grid_constant__ const PairwiseCall<Form, T, kMost> call,
                          __grid_constant__ const SlotsPlan plan) {
  extern __shared__ __align__(16) unsigned char shared_bytes[];
  __shared__ SlotBarrier arrived[SlotsPlan::kMostSlots];
  __shared__ GroupSpace<M> spaces[SlotsPlan::kMostWarps];
  const int warp = threadIdx.x / 32;
  const int lane = threadIdx.x % 32;
  const int D = call.rows.num_outputs;
  const bool single = tries_single<Form, T>(D);
  const Slots<T> slots(call.rows, plan, shared_bytes, arrived);
  __syncthreads();
  for (int k = warp; k < plan.slots; k += plan.warps) {
    slots.send_for(k, lane);
  }
  for (int k = warp; slots.has(k); k += plan.warps) {
    slots.wait(k);
    const bool good =
        divergences_of<32, T, M, false>(call.form, slots.mean(k), slots.stddev(k), D, lane, single, spaces[warp]);
    __syncwarp();
    slots.send_for(k + plan.slots, lane);
    write_group<32, T>(call, slots.input(k), true, good, lane, spaces[warp]);
  }
}

}  // namespace dissent::score
