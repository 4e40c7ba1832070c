#include "dissent/statistics/location.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "dissent/base/error.hpp"

namespace dissent {
namespace {

TEST(Location, MomentsOfASample) {
  const Moments m = moments(std::vector{2.0, 4.0, 4.0, 6.0});
  EXPECT_DOUBLE_EQ(m.mean, 4);
  EXPECT_DOUBLE_EQ(m.stddev, std::sqrt(8.0 / 3));
  EXPECT_EQ(m.count, 4u);
  EXPECT_EQ(moments(std::vector{3.0}).stddev, 0);
}

TEST(Location, MiddlesThatTailsCannotMove) {
  const std::vector<double> sample = {100, 9, 1, 8, 2, 7, 3, 6, 4, 5};
  EXPECT_DOUBLE_EQ(median(sample), 5.5);
  EXPECT_DOUBLE_EQ(trimmed_mean(sample, 0.25), 5.5);  // as scipy.stats.trim_mean
  EXPECT_DOUBLE_EQ(interquartile_mean(sample), 5.5);
  EXPECT_DOUBLE_EQ(trimmed_mean(sample, 0), 14.5);
  EXPECT_DOUBLE_EQ(median(std::vector{3.0}), 3);
}

TEST(Location, QuantilesAreLinearBetweenValues) {
  const std::vector<double> sample = {4, 1, 3, 2};
  EXPECT_DOUBLE_EQ(quantile(sample, 0), 1);
  EXPECT_DOUBLE_EQ(quantile(sample, 1), 4);
  EXPECT_DOUBLE_EQ(quantile(sample, 0.4), 2.2);
}

TEST(Location, HeightOfACurve) {
  EXPECT_DOUBLE_EQ(mean_height(std::vector{0.0, 1.0, 3.0}, std::vector{2.0, 4.0, 0.0}), (3.0 + 4.0) / 3);
  EXPECT_DOUBLE_EQ(mean_height(std::vector{60.0}, std::vector{7.0}), 7);
}

TEST(Location, RefusesWhatHasNoMiddle) {
  EXPECT_THROW(moments({}), InputError);
  EXPECT_THROW(median(std::vector{1.0, std::numeric_limits<double>::quiet_NaN()}), InputError);
  EXPECT_THROW(trimmed_mean(std::vector{1.0}, 0.5), InputError);
  EXPECT_THROW(quantile(std::vector{1.0}, 1.5), InputError);
  EXPECT_THROW(mean_height(std::vector{1.0, 1.0}, std::vector{2.0, 2.0}), InputError);
  EXPECT_THROW(mean_height(std::vector{1.0}, std::vector{2.0, 2.0}), InputError);
}

}  // namespace
}  // namespace dissent
