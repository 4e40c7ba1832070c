// The arguments of a scoring kernel: where the mixture and the results lie on the card.
#pragma once

#include <cstddef>

#include "dissent/device/score_combine.hpp"

namespace dissent::score {

// The most components that kernels take: a block's shared memory holds all their divergences.
inline constexpr int kMostComponents = 140;

// Inputs [N][M][D], as mixture.hpp lays them out.
template <class T>
struct Rows {
  const T* mean;
  const T* stddev;
  long long num_inputs;
  int num_components;
  int num_outputs;
};

// [N] each. first_invalid: the smallest number of an input with a value that validate() would reject, if below what it
// held before; the results of such an input are meaningless.
struct Results {
  double* epistemic;
  double* log_deficit;
  double* aleatoric;
  double* total;  // null: not asked for
  unsigned long long* first_invalid;

#if defined(__CUDACC__)
  __device__ __forceinline__ void write(long long input, const Score& score, double entropy, bool valid) const {
    epistemic[input] = score.epistemic;
    log_deficit[input] = score.log_deficit;
    aleatoric[input] = entropy;
    if (total != nullptr) {
      total[input] = entropy + score.epistemic;
    }
    if (!valid) {
      atomicMin(first_invalid, static_cast<unsigned long long>(input));
    }
  }
#endif
};

template <class Form, class T, int kMost>
struct PairwiseCall {
  Rows<T> rows;
  Results results;
  Form form;
  FinishRule finish;
  WeightsOf<kMost> weights;
};

}  // namespace dissent::score
