// refine:K, the K most uncertain inputs in order, with samples spent only where their order is in doubt.
//
// Every input starts with its certified interval (bounds.cpp), held as an interval of the log deficit. An input whose
// whole interval lies behind the K-th best is out for good. Of the rest, those whose interval overlaps another's are
// undecided. They are sampled (monte_carlo.hpp), twice as often each round, and their interval is cut to deficit +- z
// standard errors (more above if samples are skewed), until no two overlap or kRefineMaxSamples is reached. z makes all
// intervals hold together with probability 0.99 under that approximation. A deficit so small that no sample would show
// it keeps its certified interval.

#include <algorithm>
#include <boost/math/distributions/normal.hpp>
#include <cmath>
#include <limits>
#include <numeric>
#include <utility>
#include <vector>

#include "dissent/base/executor.hpp"
#include "dissent/base/special.hpp"
#include "dissent/estimator/methods.hpp"
#include "dissent/estimator/monte_carlo.hpp"

namespace dissent {
namespace {

// A deficit comes from samples between components, about as rare as it is small. If fewer of them than this are
// expected, perhaps none was drawn, and neither deficit nor standard error means anything.
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

// Those about which sampling can tell anything at all; for the others the certified interval is the best we have.
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

// Cuts the interval to deficit - z standard errors, + z and as many more as the skewness calls for (Johnson 1978): if
// few samples made most of the deficit, as many again may have been missed. If the two intervals do not meet, the
// certified one stands.
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

// Where the search stands.
struct Search {
  std::vector<Interval> intervals;
  std::vector<double> samples;         // spent on each input
  std::vector<std::size_t> undecided;  // of those that may belong to the top
};

// Samples until the order of the top is decided or the samples run out.
template <class T>
void sample_undecided(std::size_t top, const MixtureView<T>& mixture, const EstimateOptions& options, Search& search) {
  std::vector<std::size_t> in_play(mixture.num_inputs);
  std::iota(in_play.begin(), in_play.end(), 0);
  in_play = contenders(search.intervals, std::move(in_play), top);
  search.undecided = overlapping(search.intervals, in_play);
  constexpr double kRounds = 9;  // 256 to 65536 by doubling
  const double tail = 0.01 / (2 * kRounds * static_cast<double>(std::max<std::size_t>(1, search.undecided.size())));
  const double z = boost::math::quantile(boost::math::complement(boost::math::normal(), tail));
  std::vector<std::size_t> chosen = within_reach(search.intervals, search.undecided);
  for (std::size_t count = kRefineFirstSamples; count <= kRefineMaxSamples && !chosen.empty(); count *= 2) {
    for_blocks(
        options.executor, chosen.size(), 1, [] { return InputComponents(); },
        [&](std::size_t k, std::size_t, InputComponents& components) {
          const std::size_t n = chosen[k];
          components.load(mixture, n, options.first_input + n);
          const MonteCarloResult mc =
              monte_carlo_input(components, *mixture.weights, count, options.seed, options.first_input + n);
          cut(search.intervals[n], mc, z);
          search.samples[n] += static_cast<double>(mc.num_samples);
        });
    in_play = contenders(search.intervals, in_play, top);
    search.undecided = overlapping(search.intervals, in_play);
    chosen = within_reach(search.intervals, search.undecided);
  }
}

}  // namespace

template <class T>
Uncertainty refine(std::size_t top, const MixtureView<T>& mixture, const EstimateOptions& options) {
  check(top > 0, "the number of inputs to put in order is 0; write 'refine:10'");
  const double entropy = mixture.weights->entropy;
  const Uncertainty start = bounds(mixture, options);
  const std::vector<double>& least = start.extra("upper_log_deficit");
  const std::vector<double>& most = start.extra("lower_log_deficit");
  Search search{.intervals = std::vector<Interval>(mixture.num_inputs),
                .samples = std::vector<double>(mixture.num_inputs),
                .undecided = {}};
  for (std::size_t n = 0; n < mixture.num_inputs; ++n) {
    search.intervals[n] = {least[n], most[n], start.log_deficit[n]};
  }
  sample_undecided(top, mixture, options, search);

  Uncertainty result = Uncertainty::of(mixture.num_inputs, kRefineExtras);
  result.epistemic = start.epistemic;
  result.set_aleatoric(start.aleatoric);
  const std::vector<double>& start_lower = start.extra("lower");
  const std::vector<double>& start_upper = start.extra("upper");
  std::vector<double>& lower = result.extra("lower");
  std::vector<double>& upper = result.extra("upper");
  for (std::size_t n = 0; n < mixture.num_inputs; ++n) {
    const Interval& interval = search.intervals[n];
    // An end that sampling did not move keeps the digits that bounds gave it.
    const double low_end = interval.high < most[n] ? entropy - std::exp(interval.high) : start_lower[n];
    upper[n] = interval.low > least[n] ? entropy - std::exp(interval.low) : start_upper[n];
    lower[n] = std::min(low_end, upper[n]);
    result.log_deficit[n] = interval.value;
    if (search.samples[n] > 0) {
      result.epistemic[n] = std::clamp(entropy - std::exp(interval.value), lower[n], upper[n]);
      result.total[n] = result.aleatoric[n] + result.epistemic[n];
    }
  }
  for (const std::size_t n : search.undecided) {
    result.extra("undecided")[n] = 1;
  }
  result.extra("samples") = std::move(search.samples);
  return result;
}

template Uncertainty refine(std::size_t, const MixtureView<float>&, const EstimateOptions&);
template Uncertainty refine(std::size_t, const MixtureView<double>&, const EstimateOptions&);

}  // namespace dissent
