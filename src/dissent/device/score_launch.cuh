// Chooses the kernel for a shape: threads for few outputs, warps for many, tiles if there are too many components to
// keep the sums in registers. With many outputs and few components, the copy engine brings inputs to the warps.
#pragma once

#include <algorithm>
#include <atomic>
#include <type_traits>

#include "dissent/device/cuda_card.hpp"
#include "dissent/device/cuda_error.hpp"
#include "dissent/device/score_pairwise.hpp"
#include "dissent/device/score_staged.cuh"
#include "dissent/device/score_thread.cuh"
#include "dissent/device/score_tile.cuh"
#include "dissent/device/score_warp.cuh"

namespace dissent::score {

inline constexpr int kMostInRegisters = 8;     // components
inline constexpr int kMostThreadOutputs = 16;  // that one thread takes: outputs and components
inline constexpr int kMostThreadComponents = 6;
inline constexpr int kFewestWarpOutputs = 96;  // that a whole warp takes
inline constexpr int kMostStagedComponents = 6;

template <int kMost, class Form, class T>
PairwiseCall<Form, T, kMost> call_of(const Form& form, const FinishRule& finish, const Rows<T>& rows,
                                     const Results& results, const HostWeights& weights) {
  PairwiseCall<Form, T, kMost> call{rows, results, form, finish, {}};
  std::copy(weights.value.begin(), weights.value.end(), call.weights.value);
  std::copy(weights.log.begin(), weights.log.end(), call.weights.log);
  call.weights.entropy = weights.entropy;
  return call;
}

// More than 48 kB of shared memory must be requested before a launch.
template <class Kernel>
void allow_shared_bytes(Kernel* kernel, std::size_t bytes) {
  if (bytes > 48 * 1024) {
    DISSENT_CUDA(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, static_cast<int>(bytes)));
  }
}

// The same for a kernel known at compile time, requested once per card: otherwise the call takes time before each
// launch. kBytes: the most that is ever needed.
template <auto kKernel, std::size_t kBytes>
void allow_shared_bytes_once() {
  static std::atomic<bool> allowed[kMostCards];
  const int card = current_card();
  if (card < kMostCards && allowed[card].load(std::memory_order_relaxed)) {
    return;
  }
  allow_shared_bytes(kKernel, kBytes);
  if (card < kMostCards) {
    allowed[card].store(true, std::memory_order_relaxed);
  }
}

inline unsigned blocks_for(long long inputs, long long per_block) {
  return static_cast<unsigned>((inputs + per_block - 1) / per_block);
}

// One block for each multiprocessor, which fills its shared memory.
template <int M, class Form, class T>
void launch_staged(const PairwiseCall<Form, T, kMostInRegisters>& call, const SlotsPlan& plan, cudaStream_t stream) {
  constexpr auto kKernel = score_by_staged_warps<Form, T, M, kMostInRegisters>;
  const auto blocks = std::min<long long>(call.rows.num_inputs, num_multiprocessors());
  allow_shared_bytes_once<kKernel, SlotsPlan::kBytes>();
  kKernel<<<static_cast<unsigned>(blocks), 32 * plan.warps, plan.shared_bytes(), stream>>>(call, plan);
  DISSENT_CUDA_LAUNCHED("score_by_staged_warps");
}

template <int M, class Form, class T>
void launch_registers(const PairwiseCall<Form, T, kMostInRegisters>& call, cudaStream_t stream) {
  constexpr int kThreads = 32 * kWarpsPerBlock;
  if (M <= kMostThreadComponents && call.rows.num_outputs <= kMostThreadOutputs) {
    constexpr int kComponents = std::min(M, kMostThreadComponents);
    const std::size_t bytes = kWarpsPerBlock * staged_bytes<T>(M, call.rows.num_outputs);
    const auto kernel = score_by_threads<Form, T, kComponents, kMostInRegisters>;
    allow_shared_bytes(kernel, bytes);
    kernel<<<blocks_for(call.rows.num_inputs, kThreads), kThreads, bytes, stream>>>(call);
    DISSENT_CUDA_LAUNCHED("score_by_threads");
    return;
  }
  const bool many = call.rows.num_outputs >= kFewestWarpOutputs;
  const SlotsPlan plan = SlotsPlan::of(sizeof(T) * M * static_cast<std::size_t>(call.rows.num_outputs));
  if (M <= kMostStagedComponents && many && plan.fits()) {
    launch_staged<std::min(M, kMostStagedComponents)>(call, plan, stream);
  } else {
    const auto kernel =
        many ? score_by_warps<Form, T, M, kMostInRegisters, 32> : score_by_warps<Form, T, M, kMostInRegisters, 8>;
    kernel<<<blocks_for(call.rows.num_inputs, kThreads / (many ? 32 : 8)), kThreads, 0, stream>>>(call);
    DISSENT_CUDA_LAUNCHED("score_by_warps");
  }
}

template <int M, class Form, class T>
void launch_registers_of(const PairwiseCall<Form, T, kMostInRegisters>& call, cudaStream_t stream) {
  if constexpr (M <= kMostInRegisters) {
    if (call.rows.num_components == M) {
      launch_registers<M>(call, stream);
    } else {
      launch_registers_of<M + 1>(call, stream);
    }
  }
}

// Sums in float if that may be enough, then the rest in double.
template <class Form, class T>
void launch_tiles(const PairwiseCall<Form, T, kMostComponents>& call, cudaStream_t stream) {
  constexpr int kMostInARow = 512;  // floats that one sum may gather
  const int M = call.rows.num_components;
  const int D = call.rows.num_outputs;
  bool single = false;
  if constexpr (sizeof(T) == 4) {
    const TilePlan plan = TilePlan::of<float>(M, D, kFloatTileBlocks<Form>);
    single = tries_single<Form, T>(D) && D <= kMostInARow * plan.slices;
    if (single) {
      const auto kernel = score_by_float_tiles<Form, kMostComponents>;
      allow_shared_bytes(kernel, plan.shared_bytes());
      kernel<<<static_cast<unsigned>(call.rows.num_inputs), plan.threads, plan.shared_bytes(), stream>>>(call, plan);
      DISSENT_CUDA_LAUNCHED("score_by_float_tiles");
    }
  }
  const TilePlan plan = TilePlan::of<double>(M, D);
  const auto kernel = score_by_tiles<Form, T, kMostComponents>;
  const auto blocks = std::min<long long>(call.rows.num_inputs, single ? num_multiprocessors() : 1 << 20);
  allow_shared_bytes(kernel, plan.shared_bytes());
  kernel<<<static_cast<unsigned>(blocks), plan.threads, plan.shared_bytes(), stream>>>(call, plan, single);
  DISSENT_CUDA_LAUNCHED("score_by_tiles");
}

template <class Form, class T>
void launch_form(const Form& form, const FinishRule& finish, const Rows<T>& rows, const Results& results,
                 const HostWeights& weights, cudaStream_t stream) {
  if constexpr (!std::is_same_v<Form, WassersteinForm>) {  // rarely asked for: one kernel is enough
    if (rows.num_components <= kMostInRegisters) {
      launch_registers_of<2>(call_of<kMostInRegisters>(form, finish, rows, results, weights), stream);
      return;
    }
  }
  launch_tiles(call_of<kMostComponents>(form, finish, rows, results, weights), stream);
}

#define DISSENT_SCORE_FORM(Form)                                                                                     \
  template void launch_form(const Form&, const FinishRule&, const Rows<float>&, const Results&, const HostWeights&,  \
                            cudaStream_t);                                                                           \
  template void launch_form(const Form&, const FinishRule&, const Rows<double>&, const Results&, const HostWeights&, \
                            cudaStream_t);

}  // namespace dissent::score
