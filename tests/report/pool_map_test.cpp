#include "dissent/report/pool_map.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "dissent/base/random.hpp"
#include "dissent/report/chart.hpp"

namespace dissent::report {
namespace {

// Rows in a plane of C columns, spread by 3 along one direction of it and by 1 along the other, and a little noise.
std::vector<double> plane_rows(std::size_t num_rows, std::size_t C, double noise) {
  Stream stream(1, Purpose::kTest);
  std::vector<double> rows;
  for (std::size_t n = 0; n < num_rows; ++n) {
    const double a = 3 * stream.uniform();
    const double b = stream.uniform();
    for (std::size_t c = 0; c < C; ++c) {
      rows.push_back(a * std::cos(static_cast<double>(c)) + b * std::sin(static_cast<double>(c)) +
                     noise * stream.normal());
    }
  }
  return rows;
}

std::vector<std::string> names(std::size_t C) {
  std::vector<std::string> list;
  for (std::size_t c = 0; c < C; ++c) {
    list.push_back("x" + std::to_string(c));
  }
  return list;
}

double variance(const std::vector<double>& values) {
  double mean = 0;
  for (const double value : values) {
    mean += value / static_cast<double>(values.size());
  }
  double sum = 0;
  for (const double value : values) {
    sum += (value - mean) * (value - mean);
  }
  return sum / static_cast<double>(values.size());
}

TEST(PoolMap, OneColumnIsAnAxisAndTwoAreThePlane) {
  const std::vector<double> rows{1, 2, 3, 4};
  const PoolMap one = map_rows(rows, {"a"});
  EXPECT_EQ(one.x, rows);
  EXPECT_TRUE(one.y.empty());
  const PoolMap two = map_rows(rows, {"a", "b"});
  EXPECT_EQ(two.x, (std::vector<double>{1, 3}));
  EXPECT_EQ(two.y, (std::vector<double>{2, 4}));
  EXPECT_EQ(two.y_title, "b");
}

TEST(PoolMap, APlaneIsShownWhole) {
  const PoolMap map = map_rows(plane_rows(200, 5, 0), names(5));
  EXPECT_NEAR(map.explained, 1, 1e-9);
  EXPECT_GT(variance(map.x), variance(map.y));
}

TEST(PoolMap, WideAndTallWaysAgree) {
  // 40 rows of 60 columns go by the Gram matrix; doubled to 80 rows, with the same covariance, they do not.
  const std::vector<double> rows = plane_rows(40, 60, 0.05);
  std::vector<double> twice = rows;
  twice.insert(twice.end(), rows.begin(), rows.end());
  const PoolMap wide = map_rows(rows, names(60));
  const PoolMap tall = map_rows(twice, names(60));
  for (std::size_t n = 0; n < 40; ++n) {
    EXPECT_NEAR(wide.x[n], tall.x[n], 1e-9);
    EXPECT_NEAR(wide.y[n], tall.y[n], 1e-9);
  }
  EXPECT_NEAR(wide.explained, tall.explained, 1e-9);
}

TEST(PoolMap, FewOrEqualRowsAreNoTrouble) {
  for (const std::vector<double>& rows : {std::vector<double>{1, 2, 3}, std::vector<double>{1, 2, 3, 1, 2, 3}}) {
    const PoolMap map = map_rows(rows, names(3));
    for (std::size_t n = 0; n < map.x.size(); ++n) {
      EXPECT_TRUE(std::isfinite(map.x[n]) && std::isfinite(map.y[n]));
    }
  }
}

TEST(Chart, DrawnRowsAreAllOrASampleThatIsAlwaysTheSame) {
  EXPECT_EQ(drawn_rows(3, 5), (std::vector<std::size_t>{0, 1, 2}));
  EXPECT_TRUE(drawn_rows(0).empty());
  const std::vector<std::size_t> sample = drawn_rows(10'000, 100);
  EXPECT_EQ(sample.size(), 100U);
  EXPECT_TRUE(std::ranges::is_sorted(sample));
  EXPECT_EQ(std::ranges::adjacent_find(sample), sample.end());
  EXPECT_EQ(drawn_rows(10'000, 100), sample);
  EXPECT_EQ(drawn_text(5, 5), "");
  EXPECT_NE(drawn_text(5, 50).find("5 of 50 rows"), std::string::npos);
}

}  // namespace
}  // namespace dissent::report
