// A warp takes an input and searches for its alpha; after the first pass its rows come from the cache. The search is
// that of estimator/bounds.cpp, step for step.
#include "dissent/device/score_bounds.hpp"
#include "dissent/device/score_launch.cuh"
#include "dissent/device/score_warp.cuh"

namespace dissent::score {
namespace {

constexpr int kSearchSteps = 20;

template <class T>
struct BoundsCall {
  Rows<T> rows;
  BoundsResults results;
  WeightsOf<kMostBoundsComponents> weights;
};

// The largest Chernoff bound seen so far.
struct Best {
  double rank = HUGE_VAL;
  Score score = {0, 0};
  double alpha = 0.5;
};

template <class T, int M>
struct Search {
  const BoundsCall<T>& call;
  const T* mean;
  const T* stddev;
  int lane;
  GroupSpace<M>& space;
  Best best = {};

  template <class Form>
  __device__ __forceinline__ bool divergences(const Form& form) const {
    const int D = call.rows.num_outputs;
    return divergences_of<32, T, M>(form, mean, stddev, D, lane, tries_single<Form, T>(D), space);
  }

  // A number that falls as the bound at alpha rises, with full precision at both ends.
  __device__ __noinline__ double rank(double alpha) {
    divergences(ChernoffForm{alpha});
    const Score score = combine_group<32, double, M>(call.weights, FinishRule{}, lane, space);
    __syncwarp();
    const double half = 0.5 * call.weights.entropy;
    const double value = score.epistemic <= half ? -score.epistemic : score.log_deficit - log(half) - half;
    if (value < best.rank) {
      best = {value, score, alpha};
    }
    return value;
  }

  // Golden-section search, which tries 1/2 first.
  __device__ __forceinline__ void run() {
    constexpr double kShrink = 0.61803398874989484820;
    rank(0.5);
    double low = 0;
    double high = 1;
    double left = 1 - kShrink;
    double right = kShrink;
    double at_left = rank(left);
    double at_right = rank(right);
    for (int step = 0; step < kSearchSteps; ++step) {
      if (at_left <= at_right) {
        high = right;
        right = left;
        at_right = at_left;
        left = high - kShrink * (high - low);
        at_left = rank(left);
      } else {
        low = left;
        left = right;
        at_left = at_right;
        right = low + kShrink * (high - low);
        at_right = rank(right);
      }
    }
  }
};

template <class T, int M>
__global__ void __launch_bounds__(32 * kWarpsPerBlock) bounds_by_warps(__grid_constant__ const BoundsCall<T> call) {
  __shared__ GroupSpace<M> spaces[kWarpsPerBlock];
  const int lane = threadIdx.x % 32;
  const int D = call.rows.num_outputs;
  const long long n = static_cast<long long>(blockIdx.x) * kWarpsPerBlock + threadIdx.x / 32;
  if (n >= call.rows.num_inputs) {
    return;
  }
  GroupSpace<M>& space = spaces[threadIdx.x / 32];
  Search<T, M> search{call, call.rows.mean + n * M * D, call.rows.stddev + n * M * D, lane, space};
  const bool valid = search.divergences(KlForm{});
  const Score upper = combine_group<32, double, M>(call.weights, FinishRule{}, lane, space);
  double entropy = 0.5 * D * (1 + kLogTwoPi);
  for (int m = 0; m < M; ++m) {
    entropy = fma(call.weights.value[m], space.sum_log_stddev[m], entropy);
  }
  __syncwarp();
  if (valid) {
    search.run();
  }
  if (lane == 0) {
    const Best& best = search.best;
    const double lower = fmin(best.score.epistemic, upper.epistemic);
    const double lower_log_deficit = fmax(best.score.log_deficit, upper.log_deficit);
    call.results.lower[n] = lower;
    call.results.upper[n] = upper.epistemic;
    call.results.alpha[n] = best.alpha;
    call.results.lower_log_deficit[n] = lower_log_deficit;
    call.results.upper_log_deficit[n] = upper.log_deficit;
    const Score middle{0.5 * (lower + upper.epistemic), log_add_exp(lower_log_deficit, upper.log_deficit) - kLn2};
    call.results.results.write(n, middle, entropy, valid);
  }
}

template <int M, class T>
void launch_components(const BoundsCall<T>& call, cudaStream_t stream) {
  if constexpr (M <= kMostBoundsComponents) {
    if (call.rows.num_components != M) {
      launch_components<M + 1>(call, stream);
      return;
    }
    bounds_by_warps<T, M><<<blocks_for(call.rows.num_inputs, kWarpsPerBlock), 32 * kWarpsPerBlock, 0, stream>>>(call);
    DISSENT_CUDA_LAUNCHED("bounds_by_warps");
  }
}

}  // namespace

template <class T>
void launch_bounds(const Rows<T>& rows, const BoundsResults& results, const HostWeights& weights, cudaStream_t stream) {
  BoundsCall<T> call{rows, results, {}};
  std::copy(weights.value.begin(), weights.value.end(), call.weights.value);
  std::copy(weights.log.begin(), weights.log.end(), call.weights.log);
  call.weights.entropy = weights.entropy;
  launch_components<2>(call, stream);
}

template void launch_bounds(const Rows<float>&, const BoundsResults&, const HostWeights&, cudaStream_t);
template void launch_bounds(const Rows<double>&, const BoundsResults&, const HostWeights&, cudaStream_t);

}  // namespace dissent::score
