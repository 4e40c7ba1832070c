#include "dissent/table/outliers.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>

namespace dissent {
namespace {

constexpr double kInfinite = std::numeric_limits<double>::infinity();
constexpr std::size_t kFewestValues = 40;
constexpr std::size_t kFewestDistinct = 16;
constexpr std::size_t kFewestInTail = 20;
constexpr double kTail = 0.005;        // share of the values that show how a tail goes on
constexpr double kSteps = 10;          // a gap of so many steps of the tail, which e^-10 of columns have, and
constexpr double kShareOfWay = 0.3;    // of so much of the way from the middle to its inner end
constexpr double kMostAlone = 0.0025;  // share of rows that may lie beyond a gap
constexpr std::size_t kAlwaysAlone = 2;

// The median distance of values other than the median itself: a column may be zero nearly everywhere.
double scale_around(std::span<const double> values, double median) {
  std::vector<double> distance;
  for (const double value : values) {
    if (value != median) {
      distance.push_back(std::abs(value - median));
    }
  }
  const auto middle = distance.begin() + static_cast<std::ptrdiff_t>(distance.size() / 2);
  std::ranges::nth_element(distance, middle);
  return *middle;
}

// The largest usual distance from the middle, and the outermost value within it. `u` are distances from the middle,
// ascending; those below 0 are on the other side.
struct Reach {
  double usual = 0;
  std::size_t last = 0;  // index of the outermost usual value
};

Reach reach(std::span<const double> u) {
  const std::size_t n = u.size();
  const std::size_t in_tail =
      std::clamp(static_cast<std::size_t>(kTail * static_cast<double>(n)), kFewestInTail, n / 2);
  const double begin = u[n - in_tail - 1];
  double step = (u[n - in_tail / 2 - 1] - begin) / std::numbers::ln2;
  for (std::size_t k = n - in_tail - 1; k > 0 && step <= 0; --k) {  // ties: the next value inwards is a step away
    step = begin - u[k - 1];
  }
  // On average the j-th gap from outside is 1/j of the first. The allowance falls more slowly: fewer false alarms.
  const auto allowed = [&](double inner, std::size_t alone) {
    return std::max(kSteps * step / std::sqrt(static_cast<double>(alone)), kShareOfWay * std::max(inner, 0.0));
  };
  const std::size_t most_alone = std::max(kAlwaysAlone, static_cast<std::size_t>(kMostAlone * static_cast<double>(n)));
  for (std::size_t alone = std::min(most_alone, in_tail / 2); alone > 0; --alone) {
    const double inner = u[n - alone - 1];
    if (u[n - alone] - inner > allowed(inner, alone)) {
      return {inner + allowed(inner, alone), n - alone - 1};
    }
  }
  return {u.back() + allowed(u.back(), 1), n - 1};
}

}  // namespace

UsualRange usual_range(std::vector<double> values) {
  std::ranges::sort(values);
  UsualRange range{-kInfinite, kInfinite, values.empty() ? 0 : values.front(), values.empty() ? 0 : values.back()};
  std::size_t num_distinct = values.empty() ? 0 : 1;
  for (std::size_t k = 1; k < values.size(); ++k) {
    num_distinct += values[k] != values[k - 1] ? 1 : 0;
  }
  if (values.size() < kFewestValues || num_distinct < kFewestDistinct) {
    return range;
  }
  const double median = values[values.size() / 2];
  const double scale = scale_around(values, median);
  std::vector<double> u(values.size());
  std::ranges::transform(values, u.begin(), [&](double value) { return std::asinh((value - median) / scale); });
  const Reach above = reach(u);
  range.high = median + scale * std::sinh(above.usual);
  range.most = values[above.last];
  std::ranges::reverse(u);
  for (double& value : u) {
    value = -value;
  }
  const Reach below = reach(u);
  range.low = median - scale * std::sinh(below.usual);
  range.least = values[values.size() - 1 - below.last];
  return range;
}

std::vector<UsualRange> usual_ranges(std::span<const double> rows, std::size_t num_columns) {
  std::vector<UsualRange> ranges;
  for (std::size_t c = 0; c < num_columns; ++c) {
    std::vector<double> values;
    for (std::size_t k = c; k < rows.size(); k += num_columns) {
      values.push_back(rows[k]);
    }
    ranges.push_back(usual_range(std::move(values)));
  }
  return ranges;
}

std::optional<std::size_t> first_outlier(std::span<const UsualRange> ranges, std::span<const double> row) {
  for (std::size_t c = 0; c < ranges.size(); ++c) {
    if (!ranges[c].holds(row[c])) {
      return c;
    }
  }
  return std::nullopt;
}

}  // namespace dissent
