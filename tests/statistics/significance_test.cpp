#include "dissent/statistics/significance.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "dissent/base/error.hpp"
#include "dissent/base/random.hpp"

namespace dissent {
namespace {

const std::vector<double> kDifferences = {0.5, -0.2, 0.9, 1.3, -0.1, 0.7, 0.45, 1.1};

// Values of scipy 1.10 below.
TEST(Significance, WelchAsScipy) {
  const std::vector<double> ours = {3.1, 2.7, 3.9, 4.4, 2.2, 3.3, 3.8};
  const std::vector<double> theirs = {2.0, 2.9, 1.1, 2.5, 2.4};
  const TestResult result = welch_test(ours, theirs);
  EXPECT_NEAR(result.statistic, 2.781664004396726, 1e-13);
  EXPECT_NEAR(result.p_value, 0.02070830632127314, 1e-14);
  EXPECT_DOUBLE_EQ(welch_test(theirs, ours).p_value, result.p_value);
  EXPECT_NEAR(welch_test({3.4, 0.5, 10}, {10.7, 3.9, 10}).p_value, 0.0002093044032557634, 1e-16);
}

TEST(Significance, WelchOfConstants) {
  EXPECT_EQ(welch_test({1, 0, 3}, {1, 0, 3}).p_value, 1);
  EXPECT_EQ(welch_test({1, 0, 3}, {2, 0, 3}).p_value, 0);
  EXPECT_THROW(welch_test({1, 0, 1}, {2, 0, 3}), InputError);
}

TEST(Significance, WilcoxonAsScipy) {
  const TestResult result = wilcoxon_test(kDifferences);
  EXPECT_DOUBLE_EQ(result.statistic, 33);
  EXPECT_DOUBLE_EQ(result.p_value, 0.0390625);
  std::vector<double> many;
  for (int k = 1; k <= 80; ++k) {
    many.push_back(std::sin(1.7 * k) + 0.15);
  }
  EXPECT_DOUBLE_EQ(wilcoxon_test(many).statistic, 2051);
  EXPECT_NEAR(wilcoxon_test(many).p_value, 0.03871533294907481, 1e-14);
}

// Three differences of one size and one smaller: ranks 1, 3, 3, 3. Of 16 choices of signs one has the sum 10, one 9.
TEST(Significance, WilcoxonIsExactWithTies) {
  EXPECT_DOUBLE_EQ(wilcoxon_test(std::vector{2.0, 2.0, 2.0, 1.0}).p_value, 2.0 / 16);
  EXPECT_DOUBLE_EQ(wilcoxon_test(std::vector{2.0, 2.0, 2.0, -1.0, 0.0}).p_value, 4.0 / 16);
}

TEST(Significance, WilcoxonOfNoDifference) {
  EXPECT_EQ(wilcoxon_test({}).p_value, 1);
  EXPECT_EQ(wilcoxon_test(std::vector{0.0, 0.0}).p_value, 1);
}

// stats.t.interval(0.9, 7, loc=np.mean(d), scale=stats.sem(d))
// By R's qt; scipy 1.10 has its quantile to 11 digits only.
TEST(Significance, MeanIntervalAsR) {
  const Interval interval = mean_interval(kDifferences, 0.9);
  EXPECT_DOUBLE_EQ(interval.estimate, 0.58125);
  EXPECT_NEAR(interval.low, 0.22323627107701211, 1e-13);
  EXPECT_NEAR(interval.high, 0.93926372892298793, 1e-13);
  EXPECT_EQ(mean_interval(std::vector{2.0, 2.0}).high, 2);
  EXPECT_THROW(mean_interval(std::vector{2.0}), InputError);
  EXPECT_THROW(mean_interval(kDifferences, 1), InputError);
}

TEST(Significance, SignFlipsAsScipy) {
  const TestResult result = sign_flip_test(kDifferences);
  EXPECT_DOUBLE_EQ(result.statistic, 0.58125);
  EXPECT_DOUBLE_EQ(result.p_value, 0.03125);
  EXPECT_DOUBLE_EQ(sign_flip_test(std::vector(10, 0.3)).p_value, least_paired_p(10));
  EXPECT_EQ(sign_flip_test(std::vector{0.0, 0.0}).p_value, 1);
}

TEST(Significance, DrawnSignsAgreeWithAllSigns) {
  std::vector<double> differences;
  Stream stream(5, Purpose::kTest);
  for (int k = 0; k < 20; ++k) {
    differences.push_back(stream.normal() + 0.4);
  }
  const double all = sign_flip_test(differences).p_value;
  differences.push_back(0);  // one more, and signs are drawn
  const double drawn = sign_flip_test(differences).p_value;
  EXPECT_NEAR(drawn, all, 5 * std::sqrt(all * (1 - all) / 100'000));
  EXPECT_EQ(sign_flip_test(differences).p_value, drawn);
}

// Of samples without a difference, a share of at most `level` has a p-value of at most that.
TEST(Significance, LevelsAreKept) {
  constexpr int kSamples = 2000;
  int flips = 0;
  int ranks = 0;
  for (int sample = 0; sample < kSamples; ++sample) {
    Stream stream(6, Purpose::kTest, static_cast<std::uint64_t>(sample));
    std::vector<double> differences(10);
    for (double& difference : differences) {
      difference = stream.normal();
    }
    flips += sign_flip_test(differences).p_value <= 0.05;
    ranks += wilcoxon_test(differences).p_value <= 0.05;
  }
  for (const int found : {flips, ranks}) {
    EXPECT_LT(found, 0.05 * kSamples + 4 * std::sqrt(0.05 * 0.95 * kSamples));
    EXPECT_GT(found, 0.03 * kSamples);
  }
}

TEST(Significance, HolmByHand) {
  EXPECT_EQ(holm_adjusted(std::vector{0.01, 0.04, 0.03, 0.005}), (std::vector{0.03, 0.06, 0.06, 0.02}));
  EXPECT_EQ(holm_adjusted(std::vector{0.9, 0.8}), (std::vector{1.0, 1.0}));
  EXPECT_TRUE(holm_adjusted({}).empty());
  EXPECT_THROW(holm_adjusted(std::vector{1.5}), InputError);
}

// Ten seeds cannot clear Holm's correction of 60 tests.
TEST(Significance, FewSeedsCannotClearManyTests) {
  EXPECT_DOUBLE_EQ(least_paired_p(10), 2.0 / 1024);
  EXPECT_GT(least_paired_p(10), 0.05 / 60);
  EXPECT_LT(least_paired_p(12), 0.05 / 60);
  EXPECT_EQ(least_paired_p(0), 1);
}

TEST(Significance, PowerAsScipy) {
  EXPECT_NEAR(paired_power(0.8, 10, 0.05), 0.6162327634936938, 1e-9);
  EXPECT_NEAR(paired_power(-0.5, 20, 0.01), 0.29734607767962606, 1e-9);
  EXPECT_DOUBLE_EQ(paired_power(0, 10, 0.05), 0.05);
  EXPECT_NEAR(paired_power(detectable_effect(10, 0.05), 10, 0.05), 0.8, 1e-8);
  EXPECT_GT(detectable_effect(3, 0.05), detectable_effect(10, 0.05));
}

TEST(Significance, RefusesWhatIsNotFinite) {
  const std::vector<double> differences = {1, std::numeric_limits<double>::infinity()};
  EXPECT_THROW(wilcoxon_test(differences), InputError);
  EXPECT_THROW(sign_flip_test(differences), InputError);
  EXPECT_THROW(sign_flip_test({}), InputError);
  EXPECT_THROW(paired_power(1, 1, 0.05), InputError);
  EXPECT_THROW(detectable_effect(10, 0.05, 0.01), InputError);
}

}  // namespace
}  // namespace dissent
