// A group of 1 to 32 lanes takes a pair of components of an input, both ways, and its lanes run over the outputs. This
// happens once for a choice, so plain closed forms in double precision will do. At each pick a thread takes an input;
// it reads its divergences twice, the second time mostly from the cache.
#include <algorithm>
#include <type_traits>

#include "dissent/device/cuda_error.hpp"
#include "dissent/device/score_compare.hpp"
#include "dissent/device/score_lanes.cuh"
#include "dissent/device/score_plain.hpp"

namespace dissent::score {
namespace {

constexpr int kThreads = 256;
constexpr long long kMostBlocks = 4096;  // of kernels whose threads take turns: some for every place on a card

template <class Form, class T>
struct CompareCall {
  Rows<T> rows;
  Form form;
  FinishRule finish;
  double most;
  float* out;
  int lanes;  // of a group, a power of two
  PairedComponents of;
};

template <class Form>
inline constexpr bool kSymmetric = std::is_same_v<Form, BhattacharyyaForm> || std::is_same_v<Form, WassersteinForm>;

// All lanes of a warp take the same number of turns.
template <class Form, class T>
__global__ void __launch_bounds__(kThreads) compare_pairs(__grid_constant__ const CompareCall<Form, T> call) {
  const int D = call.rows.num_outputs;
  const int M = call.rows.num_components;
  const int lane = static_cast<int>(threadIdx.x) % call.lanes;
  const int group = static_cast<int>(threadIdx.x) % 32 / call.lanes;
  const int groups = 32 / call.lanes;  // in a warp
  const int num_unordered = call.of.num_pairs() / 2;
  const long long num_items = call.rows.num_inputs * num_unordered;
  const long long warp = (static_cast<long long>(blockIdx.x) * kThreads + threadIdx.x) / 32;
  const long long step = static_cast<long long>(gridDim.x) * (kThreads / 32) * groups;
  for (long long first = warp * groups; first < num_items; first += step) {
    const bool wanted = first + group < num_items;
    const long long item = wanted ? first + group : num_items - 1;
    const long long input = item / num_unordered;
    const UnorderedPair at = unordered_pair(static_cast<int>(item - input * num_unordered), call.of.count);
    const long long i = (input * M + call.of.component[at.i]) * D;
    const long long j = (input * M + call.of.component[at.j]) * D;
    Both sums{};
    for (int d = lane; d < D; d += call.lanes) {
      const Normal p{static_cast<double>(call.rows.mean[i + d]), static_cast<double>(call.rows.stddev[i + d])};
      const Normal q{static_cast<double>(call.rows.mean[j + d]), static_cast<double>(call.rows.stddev[j + d])};
      sums.there += plain_term(call.form, p, q);
      if constexpr (!kSymmetric<Form>) {
        sums.back += plain_term(call.form, q, p);
      }
    }
    for (int offset = call.lanes / 2; offset > 0; offset /= 2) {
      sums.there += __shfl_xor_sync(kAllLanes, sums.there, offset);
      sums.back += __shfl_xor_sync(kAllLanes, sums.back, offset);
    }
    if constexpr (kSymmetric<Form>) {
      sums.back = sums.there;
    }
    if (wanted && lane == 0) {
      const auto write = [&](int pair, double there, double back) {
        const double value = call.finish(there, back);
        call.out[pair * call.rows.num_inputs + input] = static_cast<float>(fmin(fmax(value, 0.0), call.most));
      };
      write(call.of.pair(at.i, at.j), sums.there, sums.back);
      write(call.of.pair(at.j, at.i), sums.back, sums.there);
    }
  }
}

struct InformationCall {
  Divergences divergences;
  const float* running;
  float* out;
  bool saturated;
  PairedComponents of;
};

__global__ void __launch_bounds__(kThreads) weigh_sums(__grid_constant__ const InformationCall call) {
  const long long input = static_cast<long long>(blockIdx.x) * kThreads + threadIdx.x;
  if (input >= call.divergences.num_inputs) {
    return;
  }
  const float* own = call.divergences.value + input;
  const auto sum = [&](int k) { return own[k * call.divergences.num_inputs] + call.running[k]; };
  call.out[input] = information(call.of, sum, call.saturated);
}

__global__ void __launch_bounds__(kThreads)
    pick_input(Divergences divergences, long long input, int num_pairs, float* out) {
  const int k = static_cast<int>(blockIdx.x) * kThreads + static_cast<int>(threadIdx.x);
  if (k < num_pairs) {
    out[k] = divergences.value[k * divergences.num_inputs + input];
  }
}

template <class T>
__global__ void __launch_bounds__(kThreads) fetch_inputs(Rows<T> rows, FetchedPart part, double* mean, double* stddev) {
  const long long num_values = part.num_values(rows.num_components);
  const long long step = static_cast<long long>(gridDim.x) * kThreads;
  for (long long k = static_cast<long long>(blockIdx.x) * kThreads + threadIdx.x; k < num_values; k += step) {
    const long long component = k / part.num_outputs;  // of all inputs, one after the other
    const long long input = part.inputs[component / rows.num_components];
    const long long from = (input * rows.num_components + component % rows.num_components) * rows.num_outputs +
                           part.outputs[k % part.num_outputs];
    mean[k] = static_cast<double>(rows.mean[from]);
    stddev[k] = static_cast<double>(rows.stddev[from]);
  }
}

unsigned blocks_of(long long threads) { return static_cast<unsigned>((threads + kThreads - 1) / kThreads); }

// For kernels whose threads take turns.
unsigned some_blocks_of(long long threads) { return blocks_of(std::min(threads, kMostBlocks * kThreads)); }

// Each lane gets at least four outputs, unless there are fewer.
int lanes_for(int num_outputs) {
  int lanes = 32;
  while (lanes > 1 && 4 * lanes > num_outputs) {
    lanes /= 2;
  }
  return lanes;
}

}  // namespace

template <class T>
void launch_compare(const PairwiseRule& rule, const Rows<T>& rows, const PairedComponents& of, double most,
                    float* divergences, cudaStream_t stream) {
  const int lanes = lanes_for(rows.num_outputs);
  const long long threads = rows.num_inputs * (of.num_pairs() / 2) * lanes;
  if (threads == 0) {
    return;
  }
  visit_form(rule, [&]<class Form>(const Form& form) {
    const CompareCall<Form, T> call{rows, form, rule.finish, most, divergences, lanes, of};
    compare_pairs<Form, T><<<some_blocks_of(threads), kThreads, 0, stream>>>(call);
    DISSENT_CUDA_LAUNCHED("compare_pairs");
  });
}

void launch_information(const PairedComponents& of, const Divergences& divergences, const float* running,
                        bool saturated, float* information, cudaStream_t stream) {
  if (divergences.num_inputs == 0) {
    return;
  }
  const InformationCall call{divergences, running, information, saturated, of};
  weigh_sums<<<blocks_of(divergences.num_inputs), kThreads, 0, stream>>>(call);
  DISSENT_CUDA_LAUNCHED("weigh_sums");
}

void launch_pick(const PairedComponents& of, const Divergences& divergences, long long input, float* of_input,
                 cudaStream_t stream) {
  const int num_pairs = of.num_pairs();
  pick_input<<<blocks_of(num_pairs), kThreads, 0, stream>>>(divergences, input, num_pairs, of_input);
  DISSENT_CUDA_LAUNCHED("pick_input");
}

template <class T>
void launch_fetch(const Rows<T>& rows, const FetchedPart& part, double* mean, double* stddev, cudaStream_t stream) {
  const long long num_values = part.num_values(rows.num_components);
  if (num_values == 0) {
    return;
  }
  fetch_inputs<T><<<some_blocks_of(num_values), kThreads, 0, stream>>>(rows, part, mean, stddev);
  DISSENT_CUDA_LAUNCHED("fetch_inputs");
}

template void launch_compare(const PairwiseRule&, const Rows<float>&, const PairedComponents&, double, float*,
                             cudaStream_t);
template void launch_compare(const PairwiseRule&, const Rows<double>&, const PairedComponents&, double, float*,
                             cudaStream_t);
template void launch_fetch(const Rows<float>&, const FetchedPart&, double*, double*, cudaStream_t);
template void launch_fetch(const Rows<double>&, const FetchedPart&, double*, double*, cudaStream_t);

}  // namespace dissent::score
