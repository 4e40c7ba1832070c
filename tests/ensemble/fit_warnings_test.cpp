#include "dissent/ensemble/fit_warnings.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "dissent/base/random.hpp"
#include "dissent/ensemble/fit.hpp"
#include "ensemble/sample_rows.hpp"

namespace dissent {
namespace {

using test::pairs;
using test::SampleRows;

// y = exp(2 x + 0.3 z): a logarithm is what it wants.
SampleRows exponential(std::size_t num_rows) {
  SampleRows data{{"x"}, {"y"}, {}, {}};
  Stream stream(3, Purpose::kTest);
  for (std::size_t n = 0; n < num_rows; ++n) {
    data.x.push_back(stream.normal());
    data.y.push_back(std::exp(2 * data.x.back() + 0.3 * stream.normal()));
  }
  return data;
}

SampleRows line(std::size_t num_rows) {
  SampleRows data{{"x"}, {"y"}, {}, {}};
  Stream stream(4, Purpose::kTest);
  for (std::size_t n = 0; n < num_rows; ++n) {
    data.x.push_back(stream.normal());
    data.y.push_back(data.x.back() + 0.3 * stream.normal());
  }
  return data;
}

std::vector<std::string> warnings_of(const SampleRows& data, Model model = Model::kGp) {
  return fit({.model = model, .num_components = 2}, {.epochs = 3}, data.rows()).report.warnings;
}

TEST(FitWarnings, SoundRowsHaveNone) {
  EXPECT_TRUE(warnings_of(pairs(100)).empty());
  EXPECT_TRUE(warnings_of(exponential(100)).empty());
  EXPECT_TRUE(warnings_of(pairs(5)).empty());
}

TEST(FitWarnings, RowsThatAreThereTwiceAreCounted) {
  SampleRows data = line(100);
  const auto repeat = [&](std::size_t row) {
    data.x.push_back(data.x[row]);
    data.y.push_back(data.y[row]);
  };
  repeat(4);
  EXPECT_EQ(warnings_of(data), (std::vector<std::string>{
                                   "1 row was there before, as row 101 is row 5 again: the fit takes it for measured "
                                   "twice with the same result; leave it out if it is a copy"}));
  repeat(4);
  repeat(7);
  EXPECT_TRUE(warnings_of(data).at(0).starts_with("3 rows were there before, as row 101 is row 5 again: "));
  for (double& y : data.y) {
    y = std::round(3 * y);  // classes, which repeat by themselves
  }
  EXPECT_TRUE(warnings_of(data).empty());
}

TEST(FitWarnings, ATargetThatIsTheSameEverywhereIsNamed) {
  SampleRows data = line(100);
  std::ranges::fill(data.y, 5.0);
  EXPECT_EQ(warnings_of(data), (std::vector<std::string>{"'y' is 5 in every row: there is nothing to learn"}));
}

TEST(FitWarnings, AZeroThatKeepsLogarithmsAwayIsNamed) {
  SampleRows data = exponential(100);
  data.y[41] = 0;
  const std::vector<std::string> warnings = warnings_of(data);
  ASSERT_EQ(warnings.size(), 1U);
  EXPECT_TRUE(warnings[0].starts_with("'y' is 0 in row 42: without it its logarithm would be fitted")) << warnings[0];
  TrainingRows numbered = data.rows();
  for (std::size_t k = 0; k < 100; ++k) {
    numbered.row_numbers.push_back(2 * k);  // every other row of a file
  }
  EXPECT_TRUE(fit({.model = Model::kGp, .num_components = 2}, {}, numbered)
                  .report.warnings.at(0)
                  .starts_with("'y' is 0 in row 83: "));
  data.y[43] = -1;
  EXPECT_NE(warnings_of(data).at(0).find("in row 42, and not above 0 in 1 other row: without them"), std::string::npos);
  // A flow needs no logarithms; many zeros are what the target is like; a target that wants none misses none.
  EXPECT_TRUE(warnings_of(data, Model::kFlow).empty());
  for (std::size_t k = 0; k < 100; k += 4) {
    data.y[k] = 0;
  }
  EXPECT_TRUE(warnings_of(data).empty());
}

TEST(FitWarnings, AnOutlierIsNamed) {
  SampleRows data = pairs(100);
  data.y[2 * 6 + 1] = 1e12;
  std::vector<std::string> warnings = warnings_of(data, Model::kPne);
  ASSERT_EQ(warnings.size(), 1U);
  EXPECT_TRUE(warnings[0].starts_with("'" + data.rows().target_names[1] + "' is 1e+12 in row 7, ")) << warnings[0];
  data = pairs(100);
  data.x[2 * 9] = -1e9;
  warnings = warnings_of(data);
  ASSERT_EQ(warnings.size(), 1U);
  EXPECT_TRUE(warnings[0].starts_with("'" + data.rows().input_names[0] + "' is -1e+09 in row 10, ")) << warnings[0];
  for (std::size_t k = 0; k < 100; ++k) {  // one row of a kind of its own: a column of zeros and a one
    data.x[2 * k] = k == 9 ? 1 : 0;
  }
  EXPECT_TRUE(warnings_of(data).empty());
}

}  // namespace
}  // namespace dissent
