// bounds: a certified interval for the mutual information of each input, with no sampling.
//
//   lower: the largest of the Chernoff estimates over alpha in (0, 1). Each Chernoff divergence is concave in alpha and
//          the estimate is a concave, increasing function of them, so it has one peak: golden-section search finds it.
//          Any alpha gives a valid bound, so the interval holds however far the search went.
//   upper: the KL estimate, which is never above EPKL nor above H(weights).
// epistemic is the middle of the interval; log_deficit agrees with it.

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <numbers>
#include <vector>

#include "dissent/base/executor.hpp"
#include "dissent/base/special.hpp"
#include "dissent/divergence/pairwise.hpp"
#include "dissent/estimator/combine.hpp"
#include "dissent/estimator/methods.hpp"

namespace dissent {
namespace {

constexpr std::size_t kBlock = PairwiseDivergences::kBlock;
// 0.618^20 < 1e-4: near its peak the bound is flat, so alpha to 1e-4 gives its value to about 1e-8.
constexpr int kSearchSteps = 20;

using Column = std::array<double, kBlock>;

// The largest Chernoff bound seen so far for each input of a block.
struct Best {
  Column rank;
  Column epistemic;
  Column log_deficit;
  Column alpha;
};

// A number that falls as the bound rises, with all digits at both ends: the value below half of H(w), the log deficit
// above, joined where they meet.
double rank_of(double epistemic, double log_deficit, double entropy) {
  return epistemic <= 0.5 * entropy ? -epistemic : log_deficit - std::log(0.5 * entropy) - 0.5 * entropy;
}

// Evaluates the Chernoff estimate of each input at its own alpha.
template <class T>
struct ChernoffBound {
  PairwiseDivergences& pairs;
  Combiner& combiner;
  const MixtureView<T>& mixture;
  double entropy;  // of the weights
  std::size_t begin;
  std::size_t count;
  std::size_t first_input;
  Best& best;

  // The ranks: smaller means a larger bound, at any distance.
  Column operator()(const Column& alpha) const {
    Column rank;
    Column epistemic;
    Column log_deficit;
    pairs.compute(mixture, begin, count, first_input, std::span(alpha).first(count));
    combiner.run({pairs.divergence(), pairs.stride(), count, epistemic.data(), log_deficit.data()});
    for (std::size_t n = 0; n < count; ++n) {
      rank[n] = rank_of(epistemic[n], log_deficit[n], entropy);
      if (rank[n] < best.rank[n]) {
        best.rank[n] = rank[n];
        best.epistemic[n] = epistemic[n];
        best.log_deficit[n] = log_deficit[n];
        best.alpha[n] = alpha[n];
      }
    }
    return rank;
  }
};

// Golden-section search, all inputs of the block in step. alpha = 1/2 comes first: it is the answer for equal
// covariances and near it for most mixtures, and it keeps the bound from falling below Bhattacharyya's.
template <class Bound>
void search(const Bound& bound, std::size_t count) {
  constexpr double kShrink = 1 / std::numbers::phi;
  Column low;
  Column high;
  Column left;
  Column right;
  Column half;
  half.fill(0.5);
  bound(half);
  low.fill(0);
  high.fill(1);
  left.fill(1 - kShrink);
  right.fill(kShrink);
  Column at_left = bound(left);
  Column at_right = bound(right);
  for (int step = 0; step < kSearchSteps; ++step) {
    Column next;
    next.fill(0.5);
    std::array<bool, kBlock> keep_left{};
    for (std::size_t n = 0; n < count; ++n) {
      keep_left[n] = at_left[n] <= at_right[n];
      if (keep_left[n]) {
        high[n] = right[n];
        right[n] = left[n];
        at_right[n] = at_left[n];
        next[n] = left[n] = high[n] - kShrink * (high[n] - low[n]);
      } else {
        low[n] = left[n];
        left[n] = right[n];
        at_left[n] = at_right[n];
        next[n] = right[n] = low[n] + kShrink * (high[n] - low[n]);
      }
    }
    const Column value = bound(next);
    for (std::size_t n = 0; n < count; ++n) {
      (keep_left[n] ? at_left : at_right)[n] = value[n];
    }
  }
}

struct Scratch {
  PairwiseDivergences kl;
  PairwiseDivergences chernoff;
  Combiner combiner;
};

// Where the extras of a result go.
struct Ends {
  explicit Ends(Uncertainty& result)
      : lower(result.extra("lower")),
        upper(result.extra("upper")),
        alpha(result.extra("alpha")),
        lower_log_deficit(result.extra("lower_log_deficit")),
        upper_log_deficit(result.extra("upper_log_deficit")) {}

  std::vector<double>& lower;
  std::vector<double>& upper;
  std::vector<double>& alpha;
  std::vector<double>& lower_log_deficit;
  std::vector<double>& upper_log_deficit;
};

}  // namespace

template <class T>
Uncertainty bounds(const MixtureView<T>& mixture, const EstimateOptions& options) {
  const Weights& weights = *mixture.weights;
  const std::size_t D = mixture.num_outputs;
  Uncertainty result = Uncertainty::of(mixture.num_inputs, kBoundsExtras);
  const Ends ends(result);
  const Divergence kl = parse_divergence("kl");
  const Divergence chernoff = parse_divergence("chernoff:0.5");
  const auto make = [&] {
    const std::size_t N = mixture.num_inputs;
    return Scratch{{kl, weights.size(), D, N}, {chernoff, weights.size(), D, N}, Combiner({.weights = weights})};
  };
  for_blocks(options.executor, mixture.num_inputs, PairwiseDivergences::block_size(weights.size()), make,
             [&](std::size_t begin, std::size_t end, Scratch& scratch) {
               const std::size_t count = end - begin;
               scratch.kl.compute(mixture, begin, count, options.first_input);
               Column upper;
               Column upper_log_deficit;
               scratch.combiner.run(
                   {scratch.kl.divergence(), scratch.kl.stride(), count, upper.data(), upper_log_deficit.data()});
               Best best;
               best.rank.fill(std::numeric_limits<double>::infinity());
               best.alpha.fill(0.5);
               search(ChernoffBound<T>{scratch.chernoff, scratch.combiner, mixture, weights.entropy, begin, count,
                                       options.first_input, best},
                      count);
               for (std::size_t n = 0; n < count; ++n) {
                 const std::size_t to = begin + n;
                 // Rounding can put the ends in the wrong order by an ulp where they meet.
                 ends.lower[to] = std::min(best.epistemic[n], upper[n]);
                 ends.upper[to] = upper[n];
                 ends.alpha[to] = best.alpha[n];
                 ends.lower_log_deficit[to] = std::max(best.log_deficit[n], upper_log_deficit[n]);
                 ends.upper_log_deficit[to] = upper_log_deficit[n];
                 result.epistemic[to] = 0.5 * (ends.lower[to] + upper[n]);
                 result.log_deficit[to] =
                     log_add_exp(ends.lower_log_deficit[to], upper_log_deficit[n]) - std::numbers::ln2;
                 result.aleatoric[to] = mean_entropy(weights, D, scratch.kl.sum_log_stddev() + n, scratch.kl.stride());
                 result.total[to] = result.aleatoric[to] + result.epistemic[to];
               }
             });
  return result;
}

template Uncertainty bounds(const MixtureView<float>&, const EstimateOptions&);
template Uncertainty bounds(const MixtureView<double>&, const EstimateOptions&);

}  // namespace dissent
