// mc:K on a card: estimator/monte_carlo.hpp with the same draws, component by component.
#pragma once

#include <cuda_runtime.h>

#include <cstddef>
#include <cstdint>
#include <span>

#include "dissent/device/score_call.hpp"
#include "dissent/device/score_pairwise.hpp"

namespace dissent::score {

inline constexpr int kMostSampledComponents = 8;
inline constexpr int kMostSampledValues = 8192;  // M D: what a block's shared memory holds

struct SampleRule {
  std::span<const std::size_t> count;  // [M] samples of each component, at least two if its weight is not 0
  std::uint64_t seed;
  std::uint64_t purpose;
  std::uint64_t first_input;  // number of the first input, which selects its stream
};

// Queues the estimates of all inputs. At least two components must have a positive weight.
template <class T>
void launch_samples(const SampleRule& rule, const Rows<T>& rows, const Results& results, double* standard_error,
                    const HostWeights& weights, cudaStream_t stream);

}  // namespace dissent::score
