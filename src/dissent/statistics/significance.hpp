// Tests of the difference between two methods, and what so few seeds can show.
//
// All are two-sided. Differences within pairs (same task, same seed) are `ours - theirs`; tests of pairs take these.
// InputError for values that are not finite and for samples too small for a test.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "dissent/statistics/location.hpp"

namespace dissent {

struct TestResult {
  double statistic = 0;
  double p_value = 1;
};

// Welch's t-test of two means; the statistic is t. Two constant samples have p = 1 if they are equal, else 0.
TestResult welch_test(const Moments& ours, const Moments& theirs);
TestResult welch_test(std::span<const double> ours, std::span<const double> theirs);

// Wilcoxon's signed-rank test; the statistic is the rank sum of the positive differences. Differences of zero are left
// out, and ties share their mean rank. Exact up to 60 differences, also with ties; by the normal approximation beyond.
TestResult wilcoxon_test(std::span<const double> differences);

// Compares the mean difference with those under other choices of signs. Takes all choices up to 20 differences; beyond,
// 100,000 drawn with the seed, and the observed one.
TestResult sign_flip_test(std::span<const double> differences, std::uint64_t seed = 0);

// The mean, and Student's t interval for it, of a normal sample of two values or more.
Interval mean_interval(std::span<const double> sample, double confidence = 0.95);

// Holm's step-down correction: p-values that may be compared with a level for all tests at once, in the order given.
std::vector<double> holm_adjusted(std::span<const double> p_values);

// The least p-value that a test of n pairs can give: 2 / 2^n. With m tests Holm needs it below level / m.
double least_paired_p(std::size_t num_pairs);

// The probability that a paired t-test at `level` finds a mean difference of `effect` standard deviations.
double paired_power(double effect, std::size_t num_pairs, double level);
// The effect that such a test finds with probability `power`.
double detectable_effect(std::size_t num_pairs, double level, double power = 0.8);

}  // namespace dissent
