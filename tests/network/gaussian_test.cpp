#include "dissent/network/gaussian.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <vector>

#include "dissent/base/error.hpp"
#include "dissent/base/random.hpp"

namespace dissent {
namespace {

struct Sample {
  explicit Sample(std::size_t num_outputs, std::size_t batch)
      : num_outputs(num_outputs), batch(batch), heads(2 * num_outputs, batch), targets(num_outputs, batch) {
    Stream stream(4, Purpose::kTest, batch);
    for (std::size_t d = 0; d < num_outputs; ++d) {
      for (std::size_t b = 0; b < batch; ++b) {
        heads.panel()(d, b) = stream.normal();
        heads.panel()(num_outputs + d, b) = 0.5 * stream.normal();
        targets.panel()(d, b) = stream.normal();
      }
    }
  }
  std::size_t num_outputs;
  std::size_t batch;
  PanelBuffer<double> heads;
  PanelBuffer<double> targets;
};

TEST(Gaussian, LossOfOneValueByHand) {
  PanelBuffer<double> heads(2, 1);
  PanelBuffer<double> targets(1, 1);
  heads.panel()(0, 0) = 1;
  heads.panel()(1, 0) = std::log(2.0);
  targets.panel()(0, 0) = 4;
  EXPECT_NEAR(gaussian_nll({}, heads.panel(), targets.panel(), 1), std::log(2.0) + 9.0 / 8, 1e-14);
  EXPECT_NEAR(gaussian_nll({.variance_floor = 9}, heads.panel(), targets.panel(), 1), std::log(3.0) + 0.5, 1e-14);
}

TEST(Gaussian, GradientMatchesFiniteDifferences) {
  for (const std::size_t batch : {1, 3, 255, 257}) {
    Sample s(3, batch);
    const auto loss = [&] { return gaussian_nll({}, s.heads.panel(), s.targets.panel(), batch); };
    PanelBuffer<double> gradient = s.heads;
    EXPECT_EQ(gaussian_nll_gradient({}, gradient.panel(), s.targets.panel(), batch), loss());
    for (std::size_t r = 0; r < 6; ++r) {
      for (const std::size_t b : {std::size_t{0}, batch - 1}) {
        double& value = s.heads.panel()(r, b);
        const double kept = value;
        value = kept + 1e-6;
        const double above = loss();
        value = kept - 1e-6;
        const double below = loss();
        value = kept;
        EXPECT_NEAR(gradient.panel()(r, b), (above - below) / 2e-6, 1e-8);
      }
      for (std::size_t b = batch; b < padded_batch(batch); ++b) {
        EXPECT_EQ(gradient.panel()(r, b), 0);
      }
    }
  }
}

// Outside [-20, 2] the value is the limit's and the log-stddev's gradient zero; on the limit it is not.
TEST(Gaussian, ClampStopsTheGradient) {
  PanelBuffer<double> heads(2, 4);
  PanelBuffer<double> targets(1, 4);
  const double log_stddevs[] = {-25, 2, 2.5, 30};
  for (std::size_t b = 0; b < 4; ++b) {
    heads.panel()(1, b) = log_stddevs[b];
    targets.panel()(0, b) = b == 0 ? 0 : 1;
  }
  EXPECT_NEAR(gaussian_nll({}, heads.panel(), targets.panel(), 4), (-20 + 3 * (2 + 0.5 * std::exp(-4.0))) / 4, 1e-12);
  PanelBuffer<double> stddev = heads;
  exponentiate_log_stddev({}, stddev.panel().slice(1, 1), 4);
  EXPECT_NEAR(stddev.panel()(0, 3), 0, 0);
  EXPECT_NEAR(stddev.panel()(1, 3), std::exp(2.0), 1e-12);
  EXPECT_NEAR(stddev.panel()(1, 0), std::exp(-20.0), 1e-20);
  gaussian_nll_gradient({}, heads.panel(), targets.panel(), 4);
  EXPECT_EQ(heads.panel()(1, 0), 0);
  EXPECT_NEAR(heads.panel()(1, 1), (1 - std::exp(-4.0)) / 4, 1e-14);
  EXPECT_EQ(heads.panel()(1, 2), 0);
  EXPECT_EQ(heads.panel()(1, 3), 0);
  EXPECT_NEAR(heads.panel()(0, 3), -std::exp(-4.0) / 4, 1e-14);
}

// Below the floor the variance is the floor's, its derivative that of exp(2 s): (exp(2 s) / floor) (1 - r^2 / floor).
TEST(Gaussian, FloorKeepsTheDerivativeOfTheVariance) {
  PanelBuffer<double> heads(2, 1);
  PanelBuffer<double> targets(1, 1);
  heads.panel()(0, 0) = 0.3;
  heads.panel()(1, 0) = -1;
  gaussian_nll_gradient({.variance_floor = 0.25}, heads.panel(), targets.panel(), 1);
  EXPECT_NEAR(heads.panel()(0, 0), 0.3 / 0.25, 1e-14);
  EXPECT_NEAR(heads.panel()(1, 0), std::exp(-2.0) / 0.25 * (1 - 0.09 / 0.25), 1e-14);
}

TEST(Gaussian, ExtremeValuesStayFiniteInSinglePrecision) {
  PanelBuffer<float> heads(2, 2);
  PanelBuffer<float> targets(1, 2);
  heads.panel()(1, 0) = -1e30F;
  heads.panel()(1, 1) = 1e30F;
  targets.panel()(0, 0) = 1;
  const double loss = gaussian_nll_gradient({}, heads.panel(), targets.panel(), 2);
  EXPECT_NEAR(loss / ((-20 + 0.5 * std::exp(40.0) + 2) / 2), 1, 1e-5);
  EXPECT_TRUE(std::isfinite(heads.panel()(0, 0)));
  EXPECT_EQ(heads.panel()(1, 0), 0);
}

TEST(Gaussian, NotANumberShowsInTheLoss) {
  for (const std::size_t row : {0, 3}) {
    Sample s(2, 5);
    s.heads.panel()(row, 4) = std::numeric_limits<double>::quiet_NaN();
    EXPECT_TRUE(std::isnan(gaussian_nll({}, s.heads.panel(), s.targets.panel(), 5)));
  }
}

TEST(Gaussian, EmptyBatchAndWrongShapes) {
  Sample s(2, 1);
  EXPECT_EQ(gaussian_nll({}, s.heads.panel(), s.targets.panel(), 0), 0);
  EXPECT_THROW(gaussian_nll({}, s.heads.panel(), s.heads.panel(), 1), InputError);
}

}  // namespace
}  // namespace dissent
