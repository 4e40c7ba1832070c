#include "dissent/loop/candidates.hpp"

#include <gtest/gtest.h>

#include <algorithm>

#include "dissent/base/error.hpp"

namespace dissent {
namespace {

TEST(Candidates, AFewRowsAreAllCompared) {
  EXPECT_EQ(rows_to_compare(3), (std::vector<std::size_t>{0, 1, 2}));
  EXPECT_EQ(rows_to_compare(20'000).size(), 20'000U);
  EXPECT_TRUE(rows_to_compare(0).empty());
}

// A table may repeat itself every few rows; by every k-th row all of one kind would be taken.
TEST(Candidates, OfManyRowsThoseComparedFollowNoOrder) {
  for (const std::size_t num_rows : {40'000U, 60'000U}) {
    const std::vector<std::size_t> rows = rows_to_compare(num_rows);
    EXPECT_EQ(rows.size(), 20'000U);
    EXPECT_EQ(rows, rows_to_compare(num_rows));
    const auto even = std::ranges::count_if(rows, [](std::size_t row) { return row % 2 == 0; });
    const auto third = std::ranges::count_if(rows, [](std::size_t row) { return row % 3 == 0; });
    EXPECT_NEAR(static_cast<double>(even), 10'000, 400);
    EXPECT_NEAR(static_cast<double>(third), 6'667, 400);
  }
}

TEST(Candidates, AConditionIsNamedByTheOptionItCameFrom) {
  CampaignSettings settings;
  settings.exclude = "hours";
  try {
    columns_of(settings);
    FAIL();
  } catch (const InputError& error) {
    EXPECT_EQ(error.fault().argument, "exclude");
  }
}

}  // namespace
}  // namespace dissent
