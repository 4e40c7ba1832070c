#include "dissent/table/scaling.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "dissent/base/error.hpp"

namespace dissent {
namespace {

const std::vector<double> kRows{1, 7, 3, 7, 5, 7};  // two columns, the second constant

TEST(Scaling, MinMax) {
  const Scaling scaling = fit_scaling(ScalingKind::kMinMax, kRows, 2);
  EXPECT_EQ(apply_scaling(scaling, kRows), (std::vector<float>{0, 0, 0.5F, 0, 1, 0}));
  EXPECT_DOUBLE_EQ(scaling.log_scale_sum(), std::log(4.0));
  EXPECT_DOUBLE_EQ(scaling.original(0, 0.5), 3);
  EXPECT_DOUBLE_EQ(scaling.original(1, 0), 7);
}

TEST(Scaling, Standard) {
  const Scaling scaling = fit_scaling(ScalingKind::kStandard, kRows, 2);
  EXPECT_DOUBLE_EQ(scaling.offset[0], 3);
  EXPECT_DOUBLE_EQ(scaling.scale[0], std::sqrt(8.0 / 3));
  EXPECT_DOUBLE_EQ(scaling.scale[1], 1);
}

TEST(Scaling, AColumnThatDiffersByRoundingIsConstant) {
  const double x = 1e9;
  const Scaling scaling = fit_scaling(ScalingKind::kMinMax, std::vector<double>{x, std::nextafter(x, 2e9), x}, 1);
  EXPECT_EQ(scaling.scale[0], 1);
}

TEST(Scaling, RobustIsMinMaxOfWhatIsNoOutlier) {
  std::vector<double> values;
  for (int k = 0; k <= 100; ++k) {
    values.push_back(k);
  }
  Scaling scaling = fit_scaling(ScalingKind::kRobust, values, 1);
  EXPECT_EQ(scaling.offset[0], 0);
  EXPECT_EQ(scaling.scale[0], 100);
  values.back() = 50 + 5 * 50 / 1.349;  // within six deviations
  scaling = fit_scaling(ScalingKind::kRobust, values, 1);
  EXPECT_DOUBLE_EQ(scaling.scale[0], values.back());
  values.back() = 50 + 7 * 50 / 1.349;
  scaling = fit_scaling(ScalingKind::kRobust, values, 1);
  EXPECT_EQ(scaling.scale[0], 99);
  EXPECT_DOUBLE_EQ(scaling.scaled(0, 49.5), 0.5);
}

TEST(Scaling, RobustScalingBendsAtItsKnee) {
  const Scaling scaling{{0}, {2}, 1};
  EXPECT_DOUBLE_EQ(scaling.scaled(0, 2), 1);
  EXPECT_NEAR(scaling.scaled(0, 2 + 1e-6), 1 + 0.5e-6, 1e-12);
  EXPECT_DOUBLE_EQ(scaling.scaled(0, -200), -1.99);
  EXPECT_TRUE(std::isnan(scaling.scaled(0, std::nan(""))));
}

TEST(Scaling, OutliersLeaveRobustlyScaledRowsWhereTheyAre) {
  std::vector<double> values;
  for (int k = 0; k < 50; ++k) {
    values.push_back(k);
  }
  const Scaling clean = fit_scaling(ScalingKind::kRobust, values, 1);
  values.push_back(1e12);
  values.push_back(-1e12);
  const Scaling scaling = fit_scaling(ScalingKind::kRobust, values, 1);
  EXPECT_EQ(scaling.scale[0], clean.scale[0]);
  EXPECT_EQ(scaling.offset[0], clean.offset[0]);
  EXPECT_LT(scaling.scaled(0, 1e12), 3);
  EXPECT_GT(scaling.scaled(0, -1e12), -3);
}

TEST(Scaling, RobustScalingOfColumnsThatAreMostlyOneValue) {
  std::vector<double> tenth(100, 0.0);
  std::fill_n(tenth.begin(), 10, 4.0);
  EXPECT_DOUBLE_EQ(fit_scaling(ScalingKind::kRobust, tenth, 1).scale[0], 4);
  std::vector<double> one(100, 0.0);
  one.back() = 4;
  EXPECT_DOUBLE_EQ(fit_scaling(ScalingKind::kRobust, one, 1).scale[0], 4);
  EXPECT_DOUBLE_EQ(fit_scaling(ScalingKind::kRobust, std::vector<double>(5, 7.0), 1).scaled(0, 7), 0);
}

TEST(Scaling, Names) {
  EXPECT_EQ(scaling_names().size(), 4U);
  for (const ScalingKind kind :
       {ScalingKind::kMinMax, ScalingKind::kStandard, ScalingKind::kNone, ScalingKind::kRobust}) {
    EXPECT_EQ(scaling_from_name(scaling_name(kind)), kind);
  }
  EXPECT_THROW(scaling_from_name("log"), InputError);
}

TEST(Scaling, Errors) {
  EXPECT_THROW(fit_scaling(ScalingKind::kMinMax, {}, 1), InputError);
  EXPECT_THROW(fit_scaling(ScalingKind::kMinMax, kRows, 4), InputError);
  EXPECT_THROW(fit_scaling(ScalingKind::kMinMax, std::vector<double>{-1e308, 1e308}, 1),
               InputError);  // range overflows
  EXPECT_THROW((Scaling{{0}, {0}}.check_values("test")), InputError);
  EXPECT_THROW((Scaling{{0}, {1}, 0}.check_values("test")), InputError);
}

}  // namespace
}  // namespace dissent
