// Each block keeps the best kMostTop of its inputs, sorted, and gathers those that beat the last one wanted; when there
// are enough of them, both are sorted together. One more block does the same with what the blocks kept.
#include <algorithm>

#include "dissent/device/cuda_error.hpp"
#include "dissent/device/score_top.hpp"

namespace dissent::score {
namespace {

constexpr int kThreads = 512;
constexpr int kBlocks = 264;
constexpr int kPlaces = 2 * kMostTop;  // best, then gathered

// Bitonic sort of kPlaces entries.
__device__ void sort_places(RankedInput* places) {
  for (int size = 2; size <= kPlaces; size *= 2) {
    for (int stride = size / 2; stride > 0; stride /= 2) {
      __syncthreads();
      for (int k = threadIdx.x; k < kPlaces / 2; k += kThreads) {
        const int low = 2 * k - (k & (stride - 1));
        const bool ascending = (low & size) == 0;
        const RankedInput a = places[low];
        const RankedInput b = places[low + stride];
        if (b.before(a) == ascending) {
          places[low] = b;
          places[low + stride] = a;
        }
      }
    }
  }
  __syncthreads();
}

// The best of the candidates at(k), k in [0, total), into places[0, kMostTop).
template <class At>
__device__ void keep_best(long long total, int wanted, RankedInput* places, const At& at) {
  __shared__ int gathered;
  for (int k = threadIdx.x; k < kPlaces; k += kThreads) {
    places[k] = RankedInput();
  }
  if (threadIdx.x == 0) {
    gathered = 0;
  }
  __syncthreads();
  for (long long begin = 0; begin < total; begin += kThreads) {
    const long long k = begin + threadIdx.x;
    if (k < total) {
      const RankedInput candidate = at(k);
      if (candidate.before(places[wanted - 1])) {
        places[kMostTop + atomicAdd(&gathered, 1)] = candidate;
      }
    }
    __syncthreads();
    if (gathered > kMostTop - kThreads || begin + kThreads >= total) {
      sort_places(places);
      for (int p = kMostTop + threadIdx.x; p < kPlaces; p += kThreads) {
        places[p] = RankedInput();
      }
      if (threadIdx.x == 0) {
        gathered = 0;
      }
    }
    __syncthreads();
  }
}

__global__ void __launch_bounds__(kThreads) top_of_blocks(const double* epistemic, const double* log_deficit,
                                                          long long num_inputs, int count, RankedInput* kept) {
  extern __shared__ __align__(16) unsigned char shared_bytes[];
  auto* places = reinterpret_cast<RankedInput*>(shared_bytes);
  const long long share = (num_inputs + gridDim.x - 1) / gridDim.x;
  const long long first = blockIdx.x * share;
  const long long total = first < num_inputs ? (num_inputs - first < share ? num_inputs - first : share) : 0;
  keep_best(total, count, places, [&](long long k) {
    return RankedInput{log_deficit[first + k], epistemic[first + k], first + k};
  });
  for (int k = threadIdx.x; k < count; k += kThreads) {
    kept[static_cast<long long>(blockIdx.x) * count + k] = places[k];
  }
}

__global__ void __launch_bounds__(kThreads)
    top_of_kept(const RankedInput* kept, long long total, int count, RankedInput* top) {
  extern __shared__ __align__(16) unsigned char shared_bytes[];
  auto* places = reinterpret_cast<RankedInput*>(shared_bytes);
  keep_best(total, count, places, [&](long long k) { return kept[k]; });
  for (int k = threadIdx.x; k < count; k += kThreads) {
    top[k] = places[k];
  }
}

int blocks_of(long long num_inputs) {
  return static_cast<int>(std::clamp<long long>(num_inputs / (4 * kThreads), 1, kBlocks));
}

}  // namespace

std::size_t top_scratch_size(long long num_inputs, int count) {
  return static_cast<std::size_t>(blocks_of(num_inputs)) * static_cast<std::size_t>(count);
}

void launch_top(const double* epistemic, const double* log_deficit, long long num_inputs, int count,
                RankedInput* scratch, RankedInput* top, cudaStream_t stream) {
  constexpr std::size_t kBytes = kPlaces * sizeof(RankedInput);
  DISSENT_CUDA(cudaFuncSetAttribute(top_of_blocks, cudaFuncAttributeMaxDynamicSharedMemorySize, kBytes));
  DISSENT_CUDA(cudaFuncSetAttribute(top_of_kept, cudaFuncAttributeMaxDynamicSharedMemorySize, kBytes));
  const int blocks = blocks_of(num_inputs);
  top_of_blocks<<<blocks, kThreads, kBytes, stream>>>(epistemic, log_deficit, num_inputs, count, scratch);
  DISSENT_CUDA_LAUNCHED("top_of_blocks");
  top_of_kept<<<1, kThreads, kBytes, stream>>>(scratch, static_cast<long long>(blocks) * count, count, top);
  DISSENT_CUDA_LAUNCHED("top_of_kept");
}

}  // namespace dissent::score
