#include "dissent/table/scaling.hpp"

#include <gtest/gtest.h>

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

TEST(Scaling, Names) {
  for (const ScalingKind kind : {ScalingKind::kMinMax, ScalingKind::kStandard, ScalingKind::kNone}) {
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
}

}  // namespace
}  // namespace dissent
