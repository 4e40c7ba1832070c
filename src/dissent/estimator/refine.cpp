#include "dissent/estimator/refine.hpp"

#include <algorithm>
#include <boost/math/distributions/normal.hpp>
#include <cmath>
#include <limits>
#include <numeric>
#include <vector>

#include "dissent/base/executor.hpp"
#include "dissent/base/special.hpp"
#include "dissent/estimator/bounds.hpp"
#include "dissent/estimator/monte_carlo.hpp"

namespace dissent {
namespace {

// A deficit is made by samples between components, about as rare as it is small. With fewer of them than this expected,
// none may have been drawn, and neither deficit nor standard error mean anything.
constexpr double kLeastEvents = 30;

// The log deficit lies in [low, high]; low means more uncertain. `value` is the best guess.
struct Interval {
  double low;
  double high;
  double value;
};

// The inputs that may belong to the top: those that are not certainly behind `top` others.
std::vector<std::size_t> contenders(const std::vector<Interval>& intervals, std::vector<std::size_t> among,
                                    std::size_t top) {
  if (among.size() <= top) {
    return among;
  }
  std::vector<double> highs;
  for (const std::size_t n : among) {
    highs.push_back(intervals[n].high);
  }
  std::ranges::nth_element(highs, highs.begin() + static_cast<std::ptrdiff_t>(top - 1));
  const double worst = highs[top - 1];
  std::erase_if(among, [&](std::size_t n) { return intervals[n].low > worst; });
  return among;
}

// Those of which sampling can tell anything at all; to the others' deficits the certified interval is the best we have.
std::vector<std::size_t> within_reach(const std::vector<Interval>& intervals, std::vector<std::size_t> among) {
  std::erase_if(among, [&](std::size_t n) {
    return static_cast<double>(kRefineMaxSamples) * std::exp(intervals[n].high) < kLeastEvents;
  });
  return among;
}

// Those whose interval overlaps another's, found by a sweep over the intervals in order of their lower ends.
std::vector<std::size_t> overlapping(const std::vector<Interval>& intervals, std::vector<std::size_t> among) {
  std::ranges::sort(among, {}, [&](std::size_t n) { return std::pair(intervals[n].low, n); });
  std::vector<std::size_t> found;
  std::size_t furthest = 0;  // position in `among` of the interval that reaches furthest so far
  std::vector<bool> overlaps(among.size(), false);
  for (std::size_t k = 1; k < among.size(); ++k) {
    if (intervals[among[k]].low < intervals[among[furthest]].high) {
      overlaps[k] = overlaps[furthest] = true;
    }
    if (intervals[among[k]].high > intervals[among[furthest]].high) {
      furthest = k;
    }
  }
  for (std::size_t k = 0; k < among.size(); ++k) {
    if (overlaps[k]) {
      found.push_back(among[k]);
    }
  }
  std::ranges::sort(found);
  return found;
}

// Cuts the interval to deficit - z standard errors, + z and as many more as the skewness asks for (Johnson 1978): where
// few samples made most of the deficit, as many again may have been missed. Where the two do not meet, the certified
// one stands.
void cut(Interval& interval, const MonteCarloResult& mc, double z) {
  if (static_cast<double>(mc.num_samples) * mc.deficit < kLeastEvents) {
    return;
  }
  const double margin = z * mc.standard_error;
  const double low = mc.deficit > margin ? std::log(mc.deficit - margin) : -std::numeric_limits<double>::infinity();
  const double high =
      std::log(mc.deficit + margin + mc.standard_error * std::max(0.0, mc.skewness) * (2 * z * z + 1) / 6);
  if (low <= interval.high && high >= interval.low) {
    interval.low = std::max(interval.low, low);
    interval.high = std::min(interval.high, high);
  }
  interval.value = std::clamp(std::log(mc.deficit), interval.low, interval.high);
}

}  // namespace

template <class T>
Uncertainty refine(std::size_t top, const MixtureView<T>& mixture, const Weights& weights,
                   const EstimateOptions& options) {
  check(top > 0, "refine: the number of inputs to put in order is 0; write 'refine:10'");
  const Uncertainty start = bounds(mixture, weights, options);
  std::vector<Interval> intervals(mixture.num_inputs);
  for (std::size_t n = 0; n < intervals.size(); ++n) {
    intervals[n] = {start.extras[4].values[n], start.extras[3].values[n], start.log_deficit[n]};
  }
  std::vector<std::size_t> all(mixture.num_inputs);
  std::iota(all.begin(), all.end(), 0);
  std::vector<std::size_t> in_play = contenders(intervals, all, top);
  std::vector<std::size_t> undecided = overlapping(intervals, in_play);
  std::vector<double> samples(mixture.num_inputs, 0);

  constexpr double kRounds = 9;  // 256 to 65536 by doubling
  const double tail = 0.01 / (2 * kRounds * static_cast<double>(std::max<std::size_t>(1, undecided.size())));
  const double z = boost::math::quantile(boost::math::complement(boost::math::normal(), tail));
  std::vector<std::size_t> chosen = within_reach(intervals, undecided);
  for (std::size_t count = kRefineFirstSamples; count <= kRefineMaxSamples && !chosen.empty(); count *= 2) {
    for_blocks(
        options.executor, chosen.size(), 1, [] { return InputComponents(); },
        [&](std::size_t k, std::size_t, InputComponents& components) {
          const std::size_t n = chosen[k];
          components.load(mixture, n, options.first_input + n);
          const MonteCarloResult mc =
              monte_carlo_input(components, weights, count, options.seed, options.first_input + n);
          cut(intervals[n], mc, z);
          samples[n] += static_cast<double>(mc.num_samples);
        });
    in_play = contenders(intervals, in_play, top);
    undecided = overlapping(intervals, in_play);
    chosen = within_reach(intervals, undecided);
  }

  Uncertainty result = start;
  result.extras = {{"lower", {}}, {"upper", {}}, {"samples", samples}, {"undecided", {}}};
  result.resize(mixture.num_inputs);
  for (std::size_t n = 0; n < intervals.size(); ++n) {
    // An end that sampling did not move keeps the digits that bounds gave it.
    const bool low_moved = intervals[n].high < start.extras[3].values[n];
    const bool high_moved = intervals[n].low > start.extras[4].values[n];
    const double lower = low_moved ? weights.entropy - std::exp(intervals[n].high) : start.extras[0].values[n];
    const double upper = high_moved ? weights.entropy - std::exp(intervals[n].low) : start.extras[1].values[n];
    result.extras[0].values[n] = std::min(lower, upper);
    result.extras[1].values[n] = upper;
    result.log_deficit[n] = intervals[n].value;
    if (samples[n] > 0) {
      result.epistemic[n] = std::clamp(weights.entropy - std::exp(intervals[n].value), std::min(lower, upper), upper);
      result.total[n] = result.aleatoric[n] + result.epistemic[n];
    }
  }
  for (const std::size_t n : undecided) {
    result.extras[3].values[n] = 1;
  }
  return result;
}

template Uncertainty refine(std::size_t, const MixtureView<float>&, const Weights&, const EstimateOptions&);
template Uncertainty refine(std::size_t, const MixtureView<double>&, const Weights&, const EstimateOptions&);

}  // namespace dissent
