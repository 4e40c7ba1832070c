#include "dissent/table/outliers.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <numbers>

#include "dissent/base/random.hpp"

namespace dissent {
namespace {

using Draw = std::function<double(Stream&)>;

std::vector<double> column(const Draw& draw, std::size_t count, std::uint64_t index) {
  Stream stream(7, Purpose::kTest, index);
  std::vector<double> values(count);
  for (double& value : values) {
    value = draw(stream);
  }
  return values;
}

// As the widths of 10,000 diamonds: two decimals, about 5.7, from 3.7 to 11.
double width(Stream& stream) { return std::max(std::round(100 * std::exp(1.74 + 0.19 * stream.normal())) / 100, 3.7); }

TEST(Outliers, TypingErrorsAreFound) {
  std::vector<double> widths = column(width, 10'000, 1);
  const UsualRange honest = usual_range(widths);
  for (const double value : widths) {
    EXPECT_TRUE(honest.holds(value)) << value;
  }
  for (const double error : {0.0, 0.0, 0.0, 58.9, 31.8}) {
    widths.push_back(error);
  }
  const UsualRange range = usual_range(widths);
  EXPECT_FALSE(range.holds(0));
  EXPECT_FALSE(range.holds(31.8));
  EXPECT_FALSE(range.holds(58.9));
  EXPECT_EQ(range.least, honest.least);
  EXPECT_EQ(range.most, honest.most);
  EXPECT_TRUE(range.holds(range.least));
  EXPECT_TRUE(range.holds(range.most));
}

// The share of columns with any value that looks like an error, of 300: at most 1% for heavy tails, else none.
TEST(Outliers, HonestColumnsHaveNone) {
  const auto normal = [](Stream& s) { return s.normal(); };
  const std::vector<std::pair<const char*, Draw>> light{
      {"normal", normal},
      {"uniform", [](Stream& s) { return s.uniform(); }},
      {"exponential", [](Stream& s) { return -std::log(1 - s.uniform()); }},
      {"binary", [](Stream& s) { return s.uniform() < 0.003 ? 1.0 : 0.0; }},
      {"counts", [](Stream& s) { return std::floor(-8 * std::log(1 - s.uniform())); }},
      {"rounded", [](Stream& s) { return std::round(10 * s.normal()) / 10; }},
      {"clipped", [](Stream& s) { return std::min(s.normal(), 0.5); }},
      {"bimodal", [](Stream& s) { return s.uniform() < 0.2 ? 30 + s.normal() : s.normal(); }},
      {"mostly zero", [](Stream& s) { return s.uniform() < 0.7 ? 0 : std::exp(s.normal()); }},
  };
  const std::vector<std::pair<const char*, Draw>> heavy{
      {"log-normal", [](Stream& s) { return std::exp(s.normal()); }},
      {"wide log-normal", [](Stream& s) { return -std::exp(2 * s.normal()); }},
      {"pareto", [](Stream& s) { return 1 / (1 - s.uniform()); }},
      {"cauchy", [](Stream& s) { return std::tan(std::numbers::pi * (s.uniform() - 0.5)); }},
  };
  const auto share_flagged = [](const Draw& draw, std::size_t num_rows) {
    constexpr std::uint64_t kColumns = 300;
    std::size_t flagged = 0;
    for (std::uint64_t k = 0; k < kColumns; ++k) {
      const std::vector<double> values = column(draw, num_rows, k);
      const UsualRange range = usual_range(values);
      flagged += std::ranges::all_of(values, [&](double value) { return range.holds(value); }) ? 0 : 1;
    }
    return static_cast<double>(flagged) / static_cast<double>(kColumns);
  };
  for (const std::size_t num_rows : {200UL, 1000UL}) {
    for (const auto& [name, draw] : light) {
      EXPECT_EQ(share_flagged(draw, num_rows), 0) << name << " " << num_rows;
    }
    for (const auto& [name, draw] : heavy) {
      EXPECT_LE(share_flagged(draw, num_rows), 0.01) << name << " " << num_rows;
    }
  }
}

TEST(Outliers, FewValuesAreNotJudged) {
  EXPECT_TRUE(usual_range({}).holds(1e9));
  EXPECT_TRUE(usual_range({1, 2, 3, 1e9}).holds(1e9));
  EXPECT_TRUE(usual_range(std::vector<double>(1000, 2.0)).holds(3));
}

TEST(Outliers, AGroupIsNoError) {
  std::vector<double> values = column([](Stream& s) { return s.normal(); }, 1000, 1);
  values.push_back(50);
  values.push_back(50.5);
  EXPECT_FALSE(usual_range(values).holds(50));
  values.push_back(51);
  EXPECT_TRUE(usual_range(values).holds(50));
}

TEST(Outliers, RowsNameTheirColumn) {
  std::vector<double> rows;
  Stream stream(1, Purpose::kTest);
  for (int k = 0; k < 200; ++k) {
    rows.insert(rows.end(), {stream.normal(), stream.uniform()});
  }
  const std::vector<UsualRange> ranges = usual_ranges(rows, 2);
  ASSERT_EQ(ranges.size(), 2U);
  EXPECT_EQ(first_outlier(ranges, std::vector{0.0, 0.5}), std::nullopt);
  EXPECT_EQ(first_outlier(ranges, std::vector{0.0, 99.0}), 1U);
  EXPECT_EQ(first_outlier(ranges, std::vector{-99.0, 99.0}), 0U);
}

}  // namespace
}  // namespace dissent
