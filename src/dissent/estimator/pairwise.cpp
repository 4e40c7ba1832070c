// The pairwise estimate: epistemic uncertainty from the divergences between components, in closed form (Berry & Meger,
// equation 5; combine.hpp), and EPKL, the expected pairwise KL (Malinin et al. 2020):
//   sum_{i != j} w_i w_j KL_ij / (1 - sum_i w_i^2)

#include "dissent/divergence/pairwise.hpp"

#include <cmath>
#include <limits>
#include <type_traits>

#include "dissent/base/executor.hpp"
#include "dissent/estimator/combine.hpp"
#include "dissent/estimator/methods.hpp"

namespace dissent {
namespace {

// Fills aleatoric and total of one block; epistemic is there already.
void add_aleatoric(const PairwiseDivergences& pairs, const Weights& weights, std::size_t num_outputs, std::size_t begin,
                   std::size_t count, Uncertainty& result) {
  for (std::size_t n = 0; n < count; ++n) {
    result.aleatoric[begin + n] = mean_entropy(weights, num_outputs, pairs.sum_log_stddev() + n, pairs.stride());
    result.total[begin + n] = result.aleatoric[begin + n] + result.epistemic[begin + n];
  }
}

// EPKL of input n of a block, from the divergences.
double expected_divergence(const PairwiseDivergences& pairs, const Weights& weights, std::size_t n) {
  const std::size_t num_components = weights.size();
  double sum = 0;
  double pairs_weight = 0;
  for (std::size_t i = 0; i < num_components; ++i) {
    for (std::size_t j = 0; j < num_components; ++j) {
      const double weight = i == j ? 0 : weights.value[i] * weights.value[j];
      if (weight > 0) {
        sum += weight * pairs.divergence()[(i * num_components + j) * pairs.stride() + n];
        pairs_weight += weight;
      }
    }
  }
  return pairs_weight > 0 ? sum / pairs_weight : 0;
}

}  // namespace

double mean_entropy(const Weights& weights, std::size_t num_outputs, const double* sum_log_stddev, std::size_t stride) {
  double sum = 0.5 * static_cast<double>(num_outputs) * (1 + kLogTwoPi);
  for (std::size_t m = 0; m < weights.size(); ++m) {
    sum += weights.value[m] * sum_log_stddev[m * stride];
  }
  return sum;
}

template <class T>
Uncertainty pairwise(const Divergence& divergence, const MixtureView<T>& mixture, const EstimateOptions& options) {
  const Weights& weights = *mixture.weights;
  Uncertainty result = Uncertainty::of(mixture.num_inputs);
  struct Scratch {
    PairwiseDivergences pairs;
    Combiner combiner;
  };
  const CombineRule rule{weights, divergence.symmetric(), std::is_same_v<T, float>};
  const auto make = [&] {
    return Scratch{{divergence, mixture.num_components, mixture.num_outputs, mixture.num_inputs}, Combiner(rule)};
  };
  for_blocks(options.executor, mixture.num_inputs, PairwiseDivergences::block_size(weights.size()), make,
             [&](std::size_t begin, std::size_t end, Scratch& scratch) {
               const std::size_t count = end - begin;
               scratch.pairs.compute(mixture, begin, count, options.first_input);
               scratch.combiner.run({scratch.pairs.divergence(), scratch.pairs.stride(), count,
                                     result.epistemic.data() + begin, result.log_deficit.data() + begin});
               add_aleatoric(scratch.pairs, weights, mixture.num_outputs, begin, count, result);
             });
  return result;
}

template <class T>
Uncertainty epkl(const MixtureView<T>& mixture, const EstimateOptions& options) {
  const Weights& weights = *mixture.weights;
  Uncertainty result = Uncertainty::of(mixture.num_inputs);
  const Divergence kl = parse_divergence("kl");
  const auto make = [&] {
    return PairwiseDivergences(kl, mixture.num_components, mixture.num_outputs, mixture.num_inputs);
  };
  for_blocks(options.executor, mixture.num_inputs, PairwiseDivergences::block_size(weights.size()), make,
             [&](std::size_t begin, std::size_t end, PairwiseDivergences& pairs) {
               const std::size_t count = end - begin;
               pairs.compute(mixture, begin, count, options.first_input);
               for (std::size_t n = 0; n < count; ++n) {
                 const double value = expected_divergence(pairs, weights, n);
                 const double deficit = weights.entropy - value;
                 result.epistemic[begin + n] = value;
                 result.log_deficit[begin + n] =
                     deficit > 0 ? std::log(deficit) : -std::numeric_limits<double>::infinity();
               }
               add_aleatoric(pairs, weights, mixture.num_outputs, begin, count, result);
             });
  return result;
}

template Uncertainty pairwise(const Divergence&, const MixtureView<float>&, const EstimateOptions&);
template Uncertainty pairwise(const Divergence&, const MixtureView<double>&, const EstimateOptions&);
template Uncertainty epkl(const MixtureView<float>&, const EstimateOptions&);
template Uncertainty epkl(const MixtureView<double>&, const EstimateOptions&);

}  // namespace dissent
