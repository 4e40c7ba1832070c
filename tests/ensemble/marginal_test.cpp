#include "dissent/ensemble/marginal.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "dissent/base/random.hpp"

namespace dissent {
namespace {

double by_plain_bisection(const GaussianMarginal& marginal, double probability) {
  double low = std::numeric_limits<double>::infinity();
  double high = -low;
  for (std::size_t m = 0; m < marginal.mean.size(); ++m) {
    low = std::min(low, marginal.mean[m] - 9 * marginal.stddev[m]);
    high = std::max(high, marginal.mean[m] + 9 * marginal.stddev[m]);
  }
  for (int step = 0; step < 200; ++step) {
    const double middle = low + (high - low) / 2;
    if (middle <= low || middle >= high) {
      break;
    }
    (marginal.cdf(middle) < probability ? low : high) = middle;
  }
  return low + (high - low) / 2;
}

// Components near each other, far apart, and needles beside broad ones.
TEST(GaussianMarginal, QuantileIsThatOfPlainBisectionToTheLastBit) {
  Stream stream(1, Purpose::kTest);
  const Weights weights = Weights::from({}, 5);
  for (int trial = 0; trial < 200; ++trial) {
    GaussianMarginal marginal{weights, std::vector<double>(5), std::vector<double>(5)};
    for (std::size_t m = 0; m < 5; ++m) {
      marginal.mean[m] = std::pow(10.0, trial % 4) * stream.normal();
      marginal.stddev[m] = std::exp((trial % 3) * stream.normal());
    }
    for (const double probability : {1e-6, 0.05, 0.5, 0.95, 1 - 1e-9}) {
      EXPECT_EQ(marginal.quantile(probability), by_plain_bisection(marginal, probability)) << trial;
    }
  }
}

TEST(GaussianMarginal, DensityIsTheSlopeOfTheDistribution) {
  const Weights weights = Weights::from({}, 2);
  const GaussianMarginal marginal{weights, {-1, 2}, {0.5, 2}};
  for (const double y : {-3.0, -1.0, 0.3, 4.0}) {
    EXPECT_NEAR(marginal.pdf(y), (marginal.cdf(y + 1e-6) - marginal.cdf(y - 1e-6)) / 2e-6, 1e-9);
  }
}

}  // namespace
}  // namespace dissent
