// refine:K, the K most uncertain inputs in order, with samples spent only where their order is in doubt.
//
// Every input starts with its certified interval (bounds.hpp), held as an interval of the log deficit. An input whose
// whole interval lies below the K-th best is out for good; of the rest, those whose interval overlaps another's are
// undecided and are sampled (monte_carlo.hpp), twice as often each round, their interval cut to deficit +- z standard
// errors (more above, where samples are skewed), until no two overlap or kRefineMaxSamples is reached. z makes all
// intervals hold together with probability 0.99 under that approximation. A deficit so small that no sample would show
// it is left to its certified interval. Extras: lower, upper, samples (spent on the input), undecided (1 where the
// order of an input that may belong to the top K is still in doubt).
#pragma once

#include "dissent/estimator/estimator.hpp"

namespace dissent {

inline constexpr std::size_t kRefineFirstSamples = 256;
inline constexpr std::size_t kRefineMaxSamples = 65536;  // per input and round

template <class T>
Uncertainty refine(std::size_t top, const MixtureView<T>& mixture, const Weights& weights,
                   const EstimateOptions& options);

}  // namespace dissent
