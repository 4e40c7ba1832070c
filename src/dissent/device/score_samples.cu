// A block takes an input, whose components lie in shared memory; a thread takes a sample and draws it variate by
// variate. The sums of squares against all components stay in registers.
#include "dissent/device/score_launch.cuh"
#include "dissent/device/score_plain.hpp"
#include "dissent/device/score_random.hpp"
#include "dissent/device/score_samples.hpp"

namespace dissent::score {
namespace {

constexpr int kThreads = 128;
constexpr int kWarps = kThreads / 32;

template <class T>
struct SamplesCall {
  Rows<T> rows;
  Results results;
  double* standard_error;
  WeightsOf<kMostSampledComponents> weights;
  long long count[kMostSampledComponents];
  PhiloxKey key;
  std::uint64_t first_input;
};

// An input in shared memory, [M][D] each.
struct SharedInput {
  double* mean;
  double* stddev;
  double* inverse;
  int D;

  __device__ SharedInput(double* memory, int M, int num_outputs)
      : mean(memory), stddev(memory + M * num_outputs), inverse(memory + 2 * M * num_outputs), D(num_outputs) {}

  // Loads an input. Returns whether all values are valid; equal: whether all components of positive weight are equal.
  template <int M, class T, class Weights>
  __device__ bool load(const T* means, const T* stddevs, const Weights& weights, bool& equal) const {
    bool good = true;
    for (int k = threadIdx.x; k < M * D; k += kThreads) {
      mean[k] = static_cast<double>(means[k]);
      stddev[k] = static_cast<double>(stddevs[k]);
      inverse[k] = 1 / stddev[k];
      good = good && valid({mean[k], stddev[k]});
    }
    good = __syncthreads_and(good);
    int first = 0;
    while (weights.value[first] == 0) {
      ++first;
    }
    bool same = true;
    for (int k = threadIdx.x; k < M * D; k += kThreads) {
      const int other = first * D + k % D;
      same = same && (weights.value[k / D] == 0 || (mean[k] == mean[other] && stddev[k] == stddev[other]));
    }
    equal = __syncthreads_and(same);
    return good;
  }
};

// log1p(sum of exp(x_i)) over the components of positive weight other than `from`.
template <int M, class Weights>
__device__ __forceinline__ double log_one_plus_sum(const double* x, int from, const Weights& weights) {
  double high = 0;
#pragma unroll
  for (int i = 0; i < M; ++i) {
    high = i != from && weights.value[i] > 0 && x[i] > high ? x[i] : high;
  }
  double sum = high == 0 ? 0 : exp(-high);
#pragma unroll
  for (int i = 0; i < M; ++i) {
    if (i != from && weights.value[i] > 0) {
      sum += exp(x[i] - high);
    }
  }
  return high == 0 ? log1p(sum) : high + log(sum);
}

// The term of sample k of component `from`. offset: ln w - ln of the normaliser.
template <int M, class T>
__device__ __forceinline__ double sample_term(const SamplesCall<T>& call, const SharedInput& input,
                                              const double* offset, std::uint64_t index, int from, long long k) {
  const int D = input.D;
  const long long begin = k * D;
  double squares[M] = {};
  double own = 0;
  for (long long block = begin / 4; 4 * block < begin + D; ++block) {
    const FourNormals normals = FourNormals::of(call.key, index, from, block);
#pragma unroll
    for (int e = 0; e < 4; ++e) {
      const long long d = 4 * block + e - begin;
      if (d < 0 || d >= D) {
        continue;
      }
      const double z = normals.value[e];
      const double mean = input.mean[from * D + d];
      const double step = input.stddev[from * D + d] * z;
      own = fma(z, z, own);
#pragma unroll
      for (int i = 0; i < M; ++i) {
        const double scaled = ((mean - input.mean[i * D + d]) + step) * input.inverse[i * D + d];
        squares[i] = fma(scaled, scaled, squares[i]);
      }
    }
  }
#pragma unroll
  for (int i = 0; i < M; ++i) {
    squares[i] = 0.5 * (own - squares[i]) + (offset[i] - offset[from]);
  }
  return log_one_plus_sum<M>(squares, from, call.weights);
}

// Merges the moments of a block's threads; all threads get the result.
__device__ Moments merge_block(Moments moments, Moments* shared) {
  merge_lanes(moments);
  __syncthreads();
  if (threadIdx.x % 32 == 0) {
    shared[threadIdx.x / 32] = moments;
  }
  __syncthreads();
  moments = shared[0];
  for (int warp = 1; warp < kWarps; ++warp) {
    moments.merge(shared[warp]);
  }
  return moments;
}

struct Deficit {
  double value = 0;
  double variance = 0;
};

template <int M, class T>
__device__ __forceinline__ Deficit sample_input(const SamplesCall<T>& call, const SharedInput& input,
                                                const double* offset, std::uint64_t index) {
  __shared__ Moments merged[kWarps];
  Deficit deficit;
  for (int from = 0; from < M; ++from) {
    if (call.weights.value[from] == 0) {
      continue;
    }
    Moments moments;
    for (long long k = threadIdx.x; k < call.count[from]; k += kThreads) {
      moments.add(sample_term<M>(call, input, offset, index, from, k));
    }
    moments = merge_block(moments, merged);
    const double share = call.weights.value[from];
    deficit.value += share * moments.mean;
    deficit.variance += share * share * moments.squares / ((moments.count - 1) * moments.count);
  }
  return deficit;
}

template <class T, int M>
__global__ void __launch_bounds__(kThreads) sample_by_blocks(__grid_constant__ const SamplesCall<T> call) {
  extern __shared__ __align__(16) unsigned char shared_bytes[];
  __shared__ double sum_log[M];
  __shared__ double offset[M];
  const int D = call.rows.num_outputs;
  const long long n = blockIdx.x;
  const SharedInput input(reinterpret_cast<double*>(shared_bytes), M, D);
  bool equal = false;
  const bool good = input.load<M>(call.rows.mean + n * M * D, call.rows.stddev + n * M * D, call.weights, equal);
  for (int m = threadIdx.x / 32; m < M; m += kWarps) {
    double sum = 0;
    for (int d = threadIdx.x % 32; d < D; d += 32) {
      sum += log(input.stddev[m * D + d]);
    }
    sum = sum_lanes(sum);
    if (threadIdx.x % 32 == 0) {
      sum_log[m] = sum;
      offset[m] = call.weights.log[m] - sum;
    }
  }
  __syncthreads();
  const double entropy = call.weights.entropy;
  Deficit deficit{entropy, 0};
  if (good && !equal) {
    deficit = sample_input<M>(call, input, offset, call.first_input + static_cast<std::uint64_t>(n));
  }
  if (threadIdx.x == 0) {
    double aleatoric = 0.5 * D * (1 + kLogTwoPi);
    for (int m = 0; m < M; ++m) {
      aleatoric = fma(call.weights.value[m], sum_log[m], aleatoric);
    }
    call.standard_error[n] = sqrt(deficit.variance);
    call.results.write(n, {fmax(0.0, entropy - deficit.value), log(fmin(deficit.value, entropy))}, aleatoric, good);
  }
}

template <int M, class T>
void launch_components(const SamplesCall<T>& call, cudaStream_t stream) {
  if constexpr (M <= kMostSampledComponents) {
    if (call.rows.num_components != M) {
      launch_components<M + 1>(call, stream);
      return;
    }
    const auto kernel = sample_by_blocks<T, M>;
    const std::size_t bytes = sizeof(double) * 3 * M * static_cast<std::size_t>(call.rows.num_outputs);
    allow_shared_bytes(kernel, bytes);
    kernel<<<static_cast<unsigned>(call.rows.num_inputs), kThreads, bytes, stream>>>(call);
    DISSENT_CUDA_LAUNCHED("sample_by_blocks");
  }
}

}  // namespace

template <class T>
void launch_samples(const SampleRule& rule, const Rows<T>& rows, const Results& results, double* standard_error,
                    const HostWeights& weights, cudaStream_t stream) {
  SamplesCall<T> call{rows, results, standard_error, {}, {}, {rule.seed, rule.purpose}, rule.first_input};
  std::copy(weights.value.begin(), weights.value.end(), call.weights.value);
  std::copy(weights.log.begin(), weights.log.end(), call.weights.log);
  std::copy(rule.count.begin(), rule.count.end(), call.count);
  call.weights.entropy = weights.entropy;
  launch_components<2>(call, stream);
}

template void launch_samples(const SampleRule&, const Rows<float>&, const Results&, double*, const HostWeights&,
                             cudaStream_t);
template void launch_samples(const SampleRule&, const Rows<double>&, const Results&, double*, const HostWeights&,
                             cudaStream_t);

}  // namespace dissent::score
