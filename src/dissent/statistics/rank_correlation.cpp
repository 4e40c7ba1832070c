#include "dissent/statistics/rank_correlation.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <vector>

#include "dissent/base/error.hpp"

namespace dissent {
namespace {

// From 1 on; ties share the mean of the ranks they take up.
std::vector<double> mean_ranks(std::span<const double> values) {
  std::vector<std::size_t> order(values.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::sort(order, {}, [&](std::size_t k) { return values[k]; });
  std::vector<double> ranks(values.size());
  for (std::size_t begin = 0; begin < order.size();) {
    std::size_t end = begin + 1;
    while (end < order.size() && values[order[end]] == values[order[begin]]) {
      ++end;
    }
    const double shared = static_cast<double>(begin + 1 + end) / 2;
    for (; begin < end; ++begin) {
      ranks[order[begin]] = shared;
    }
  }
  return ranks;
}

}  // namespace

double spearman(std::span<const double> a, std::span<const double> b) {
  check(a.size() == b.size() && a.size() >= 2, "spearman: {} and {} values; as many are required, two or more",
        a.size(), b.size());
  for (const std::span<const double> values : {a, b}) {
    check(std::ranges::none_of(values, [](double value) { return std::isnan(value); }), "spearman: a value is NaN");
  }
  const std::vector<double> rank_a = mean_ranks(a);
  const std::vector<double> rank_b = mean_ranks(b);
  const double mean = static_cast<double>(a.size() + 1) / 2;
  double both = 0;
  double square_a = 0;
  double square_b = 0;
  for (std::size_t k = 0; k < a.size(); ++k) {
    both += (rank_a[k] - mean) * (rank_b[k] - mean);
    square_a += (rank_a[k] - mean) * (rank_a[k] - mean);
    square_b += (rank_b[k] - mean) * (rank_b[k] - mean);
  }
  return both / std::sqrt(square_a * square_b);
}

}  // namespace dissent
