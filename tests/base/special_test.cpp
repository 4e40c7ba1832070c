#include "dissent/base/special.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <vector>

namespace dissent {
namespace {

TEST(XMinusLog1p, MatchesLongDoubleEverywhere) {
  for (int exponent = -30; exponent <= 8; ++exponent) {
    for (const double sign : {-1.0, 1.0}) {
      const double x = sign * std::pow(2.0, exponent) * 0.99;
      if (x <= -1) {
        continue;
      }
      // Below 2^-8 long double cancels too, so the reference there is the Taylor series.
      long double expected = x - std::log1p(static_cast<long double>(x));
      if (std::abs(x) < 0x1p-8) {
        expected = 0;
        long double power = static_cast<long double>(x) * x;
        for (int k = 2; k < 12; ++k, power *= -x) {
          expected += power / k;
        }
      }
      EXPECT_NEAR(x_minus_log1p(x) / static_cast<double>(expected), 1.0, 4e-15) << "x = " << x;
    }
  }
  EXPECT_EQ(x_minus_log1p(0.0), 0.0);
  EXPECT_EQ(x_minus_log1p(1e300), 1e300);
}

TEST(LogSumExp, NeitherOverflowsNorUnderflows) {
  EXPECT_DOUBLE_EQ(log_sum_exp(std::vector{1e4, 1e4}), 1e4 + std::log(2.0));
  EXPECT_DOUBLE_EQ(log_sum_exp(std::vector{-1e9, -1e9, -1e9}), -1e9 + std::log(3.0));
  EXPECT_EQ(log_sum_exp({}), -std::numeric_limits<double>::infinity());
  EXPECT_DOUBLE_EQ(log_add_exp(-1e4, -1e4), -1e4 + std::log(2.0));
  EXPECT_EQ(log_add_exp(-std::numeric_limits<double>::infinity(), 3.0), 3.0);
}

TEST(LogSumExp, KeepsInfinitiesAndNaN) {
  constexpr double inf = std::numeric_limits<double>::infinity();
  constexpr double nan = std::numeric_limits<double>::quiet_NaN();
  EXPECT_EQ(log_add_exp(inf, inf), inf);
  EXPECT_EQ(log_add_exp(-inf, inf), inf);
  EXPECT_EQ(log_add_exp(-inf, -inf), -inf);
  EXPECT_EQ(log_sum_exp(std::vector{-inf, inf, 1.0}), inf);
  EXPECT_EQ(log_sum_exp(std::vector{-inf, -inf}), -inf);
  EXPECT_TRUE(std::isnan(log_add_exp(1.0, nan)));
  EXPECT_TRUE(std::isnan(log_add_exp(nan, 1.0)));
  EXPECT_TRUE(std::isnan(log_sum_exp(std::vector{nan})));
  EXPECT_TRUE(std::isnan(log_sum_exp(std::vector{nan, -inf})));
  EXPECT_TRUE(std::isnan(log_sum_exp(std::vector{1.0, nan, 2.0})));
}

}  // namespace
}  // namespace dissent
