#include "dissent/statistics/rank_correlation.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <vector>

#include "dissent/base/error.hpp"

namespace dissent {
namespace {

using Sample = std::vector<double>;

TEST(Spearman, IsThatOfScipyAlsoWithTies) {
  EXPECT_NEAR(spearman(Sample{1, 2, 2, 4, 5.5, -1}, Sample{2, 1, 1, 9, 3, 3}), 0.2686866453119394, 1e-15);
  EXPECT_NEAR(spearman(Sample{1, 2, 3}, Sample{1, 3, 2}), 0.5, 1e-15);
}

TEST(Spearman, LooksAtTheOrderAlone) {
  constexpr double kInfinite = std::numeric_limits<double>::infinity();
  EXPECT_EQ(spearman(Sample{-kInfinite, 0, 1, 50}, Sample{1, 2, 3, 4}), 1);
  EXPECT_EQ(spearman(Sample{3, 2, 1}, Sample{1, 20, 300}), -1);
  EXPECT_TRUE(std::isnan(spearman(Sample{1, 1, 1}, Sample{1, 2, 3})));
}

TEST(Spearman, RefusesWhatHasNoRanks) {
  EXPECT_THROW(spearman(Sample{1, 2}, Sample{1, 2, 3}), InputError);
  EXPECT_THROW(spearman(Sample{1}, Sample{1}), InputError);
  EXPECT_THROW(spearman(Sample{1, std::nan("")}, Sample{1, 2}), InputError);
}

}  // namespace
}  // namespace dissent
