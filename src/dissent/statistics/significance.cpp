#include "dissent/statistics/significance.hpp"

#include <algorithm>
#include <bit>
#include <boost/math/distributions/non_central_t.hpp>
#include <boost/math/distributions/normal.hpp>
#include <boost/math/distributions/students_t.hpp>
#include <cmath>
#include <numeric>

#include "dissent/base/error.hpp"
#include "dissent/base/random.hpp"

namespace dissent {
namespace {

constexpr std::size_t kMostRanked = 60;      // differences for the exact distribution of rank sums
constexpr std::size_t kMostEnumerated = 20;  // differences for all choices of signs
constexpr std::size_t kSignDraws = 100'000;
constexpr double kRounding = 1e-12;  // of a sum of differences, relative

void check_finite(std::span<const double> values, const char* what) {
  for (const double value : values) {
    check(std::isfinite(value), "{}: a difference is not finite", what);
  }
}

// Twice the rank of each size among all sizes, ties sharing their mean rank: whole numbers.
std::vector<std::size_t> doubled_ranks(std::span<const double> sizes) {
  std::vector<std::size_t> order(sizes.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::sort(order, {}, [&](std::size_t k) { return sizes[k]; });
  std::vector<std::size_t> ranks(sizes.size());
  for (std::size_t begin = 0, end = 0; begin < order.size(); begin = end) {
    while (end < order.size() && sizes[order[end]] == sizes[order[begin]]) {
      ++end;
    }
    for (std::size_t k = begin; k < end; ++k) {
      ranks[order[k]] = begin + end + 1;  // 2 x the mean of begin + 1, ..., end
    }
  }
  return ranks;
}

// Probability of each sum of a random subset of the ranks.
std::vector<double> subset_sums(std::span<const std::size_t> ranks) {
  std::vector<double> probability(std::accumulate(ranks.begin(), ranks.end(), std::size_t{1}), 0.0);
  probability[0] = 1;
  for (const std::size_t rank : ranks) {
    for (std::size_t sum = probability.size(); sum-- > 0;) {
      probability[sum] = (probability[sum] + (sum >= rank ? probability[sum - rank] : 0)) / 2;
    }
  }
  return probability;
}

double exact_rank_p(std::span<const std::size_t> ranks, std::size_t sum) {
  const std::vector<double> probability = subset_sums(ranks);
  const auto at = probability.begin() + static_cast<std::ptrdiff_t>(sum);
  const double below = std::accumulate(probability.begin(), at + 1, 0.0);
  const double above = std::accumulate(at, probability.end(), 0.0);
  return std::min(1.0, 2 * std::min(below, above));
}

double normal_rank_p(std::span<const std::size_t> ranks, std::size_t sum) {
  double mean = 0;
  double variance = 0;
  for (const std::size_t rank : ranks) {
    const double r = static_cast<double>(rank);
    mean += r / 2;
    variance += r * r / 4;
  }
  const double z = std::abs(static_cast<double>(sum) - mean) / std::sqrt(variance);
  return 2 * boost::math::cdf(boost::math::complement(boost::math::normal(), z));
}

// The share of all choices of signs whose sum is at least as far from zero as `observed`. One sign changes at a time
// (Gray code); the sum is recomputed now and then, so that rounding does not pile up.
double share_of_all_signs(std::span<const double> differences, double observed) {
  const std::size_t n = differences.size();
  const std::size_t num_choices = std::size_t{1} << n;
  std::vector<double> sign(n, 1.0);
  double sum = 0;
  std::size_t as_far = 0;
  for (std::size_t choice = 0; choice < num_choices; ++choice) {
    if (choice % 1024 == 0) {
      sum = std::inner_product(sign.begin(), sign.end(), differences.begin(), 0.0);
    }
    as_far += std::abs(sum) >= observed;
    const auto flip = static_cast<std::size_t>(std::countr_zero(choice + 1));
    if (flip < n) {
      sign[flip] = -sign[flip];
      sum += 2 * sign[flip] * differences[flip];
    }
  }
  return static_cast<double>(as_far) / static_cast<double>(num_choices);
}

double share_of_drawn_signs(std::span<const double> differences, double observed, std::uint64_t seed) {
  Stream stream(seed, Purpose::kResample);
  std::size_t as_far = 1;
  for (std::size_t draw = 0; draw < kSignDraws; ++draw) {
    double sum = 0;
    std::uint64_t bits = 0;
    for (std::size_t k = 0; k < differences.size(); ++k) {
      bits = k % 64 == 0 ? stream.bits() : bits >> 1;
      sum += (bits & 1) != 0 ? differences[k] : -differences[k];
    }
    as_far += std::abs(sum) >= observed;
  }
  return static_cast<double>(as_far) / static_cast<double>(kSignDraws + 1);
}

}  // namespace

TestResult welch_test(const Moments& ours, const Moments& theirs) {
  check(ours.count > 1 && theirs.count > 1, "welch_test: {} and {} values; it takes two of each", ours.count,
        theirs.count);
  const double difference = ours.mean - theirs.mean;
  const double a = ours.stddev * ours.stddev / static_cast<double>(ours.count);
  const double b = theirs.stddev * theirs.stddev / static_cast<double>(theirs.count);
  if (a + b == 0) {
    return {difference, difference == 0 ? 1.0 : 0.0};
  }
  const double t = difference / std::sqrt(a + b);
  const double degrees =
      (a + b) * (a + b) / (a * a / static_cast<double>(ours.count - 1) + b * b / static_cast<double>(theirs.count - 1));
  const boost::math::students_t distribution(degrees);
  return {t, 2 * boost::math::cdf(boost::math::complement(distribution, std::abs(t)))};
}

TestResult welch_test(std::span<const double> ours, std::span<const double> theirs) {
  return welch_test(moments(ours), moments(theirs));
}

TestResult wilcoxon_test(std::span<const double> differences) {
  check_finite(differences, "wilcoxon_test");
  std::vector<double> sizes;
  std::vector<bool> positive;
  for (const double difference : differences) {
    if (difference != 0) {
      sizes.push_back(std::abs(difference));
      positive.push_back(difference > 0);
    }
  }
  const std::vector<std::size_t> ranks = doubled_ranks(sizes);
  std::size_t sum = 0;
  for (std::size_t k = 0; k < ranks.size(); ++k) {
    sum += positive[k] ? ranks[k] : 0;
  }
  const double p = ranks.size() <= kMostRanked ? exact_rank_p(ranks, sum) : normal_rank_p(ranks, sum);
  return {static_cast<double>(sum) / 2, p};
}

TestResult sign_flip_test(std::span<const double> differences, std::uint64_t seed) {
  check(!differences.empty(), "sign_flip_test: there is no difference");
  check_finite(differences, "sign_flip_test");
  const double sum = std::accumulate(differences.begin(), differences.end(), 0.0);
  double sizes = 0;
  for (const double difference : differences) {
    sizes += std::abs(difference);
  }
  const double observed = std::abs(sum) - kRounding * sizes;
  const double p = differences.size() <= kMostEnumerated ? share_of_all_signs(differences, observed)
                                                         : share_of_drawn_signs(differences, observed, seed);
  return {sum / static_cast<double>(differences.size()), p};
}

Interval mean_interval(std::span<const double> sample, double confidence) {
  check(sample.size() > 1, "mean_interval: {} values; it takes two", sample.size());
  check(confidence > 0 && confidence < 1, "mean_interval: confidence = {} is not in (0, 1)", confidence);
  const Moments found = moments(sample);
  const double n = static_cast<double>(found.count);
  const double t = boost::math::quantile(boost::math::students_t(n - 1), (1 + confidence) / 2);
  const double half = t * found.stddev / std::sqrt(n);
  return {found.mean, found.mean - half, found.mean + half};
}

std::vector<double> holm_adjusted(std::span<const double> p_values) {
  const std::size_t m = p_values.size();
  std::vector<std::size_t> order(m);
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::stable_sort(order, {}, [&](std::size_t k) { return p_values[k]; });
  std::vector<double> adjusted(m);
  double largest = 0;
  for (std::size_t k = 0; k < m; ++k) {
    const double p = p_values[order[k]];
    check(p >= 0 && p <= 1, "holm_adjusted: {} is not a p-value", p);
    largest = std::max(largest, std::min(1.0, static_cast<double>(m - k) * p));
    adjusted[order[k]] = largest;
  }
  return adjusted;
}

double least_paired_p(std::size_t num_pairs) { return std::min(1.0, std::ldexp(2.0, -static_cast<int>(num_pairs))); }

double paired_power(double effect, std::size_t num_pairs, double level) {
  check(num_pairs > 1, "paired_power: {} pairs; it takes two", num_pairs);
  check(level > 0 && level < 1, "paired_power: level = {} is not in (0, 1)", level);
  const double n = static_cast<double>(num_pairs);
  const double critical = boost::math::quantile(boost::math::students_t(n - 1), 1 - level / 2);
  const double shift = std::abs(effect) * std::sqrt(n);
  if (shift == 0) {
    return level;
  }
  const boost::math::non_central_t alternative(n - 1, shift);
  return boost::math::cdf(boost::math::complement(alternative, critical)) + boost::math::cdf(alternative, -critical);
}

double detectable_effect(std::size_t num_pairs, double level, double power) {
  check(power > level && power < 1, "detectable_effect: power = {} is not in ({}, 1)", power, level);
  double low = 0;
  double high = 1;
  while (paired_power(high, num_pairs, level) < power) {
    low = high;
    high *= 2;
  }
  while (high - low > 1e-10 * high) {
    const double middle = (low + high) / 2;
    (paired_power(middle, num_pairs, level) < power ? low : high) = middle;
  }
  return high;
}

}  // namespace dissent
