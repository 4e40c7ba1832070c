
#include <gtest/gtest.h>

#include <cmath>
#include <numbers>

#include "support/mixtures.hpp"
#include "support/property.hpp"

namespace dissent {
namespace {

Uncertainty integrate(std::vector<double> mean, std::vector<double> stddev, const Weights& weights) {
  return test::run("quadrature", Mixture<double>{1, mean.size(), 1, mean, stddev, {}}, weights);
}

// Two equal components a small gap apart: I = gap^2 / 8 - gap^4 / 64 + O(gap^6), with relative accuracy to the end.
TEST(Quadrature, SmallGapsByTheirSeries) {
  for (const double gap : {1e-2, 1e-3, 1e-5, 1e-8, 1e-12}) {
    const double truth = gap * gap / 8 * (1 - gap * gap / 8);
    EXPECT_LT(test::relative_error(integrate({0, gap}, {1, 1}, Weights::uniform(2)).epistemic[0], truth),
              1e-9 + std::pow(gap, 4))
        << gap;
  }
}

// Far apart, the deficit comes from the crossing at g / 2: with t = g y the mixture's posterior entropy integrates to
// exp(-g^2/8) / sqrt(2 pi) * (1 / g) * integral exp(-t/2) log1p(exp(t)) + mirrored ... = pi^... ; its ratio from one
// gap to the next is all that is used: ln deficit(g) = -g^2/8 - ln g + constant + O(1/g^2).
TEST(Quadrature, LargeGapsByTheirAsymptotics) {
  const auto constant = [](double gap) {
    return integrate({0, gap}, {1, 1}, Weights::uniform(2)).log_deficit[0] + gap * gap / 8 + std::log(gap);
  };
  EXPECT_NEAR(constant(100), constant(200), 2e-3);
  EXPECT_NEAR(constant(1000), constant(3000), 1e-5);
  // integral of cosh(t/2) type: exp(-t/2) log1p(e^t) + exp(t/2) log1p(e^-t) over the line is 4 pi; times 1/2 for
  // weights
  const double truth = std::log(0.5 * 4 * std::numbers::pi / std::sqrt(2 * std::numbers::pi));
  EXPECT_NEAR(constant(3000), truth, 1e-5);
}

TEST(Quadrature, DoesNotDependOnUnitsOrOrder) {
  test::check_property(300, [] {
    const test::MixtureCase c =
        *test::mixture_cases({.min_components = 2, .max_components = 4, .max_log10_scale_gap = 1});
    const Mixture<double> mixture = test::diagonal_mixture<double>(c);
    const Weights weights = test::case_weights(c);
    const Uncertainty u = test::run("quadrature", mixture, weights);
    Mixture<double> mirrored = mixture;
    std::vector<double> mirrored_weights = weights.value;
    std::ranges::reverse(mirrored.mean);
    std::ranges::reverse(mirrored.stddev);
    std::ranges::reverse(mirrored_weights);
    for (double& mean : mirrored.mean) {
      mean = -1024 * mean;
    }
    for (double& stddev : mirrored.stddev) {
      stddev = 1024 * stddev;
    }
    const Uncertainty v = test::run("quadrature", mirrored, Weights::from(mirrored_weights, c.num_components));
    RC_LOG() << u.epistemic[0] << " " << u.log_deficit[0] << " became " << v.epistemic[0] << " " << v.log_deficit[0]
             << "\n";
    RC_ASSERT(test::relative_error(u.epistemic[0], v.epistemic[0]) < 1e-10);
    RC_ASSERT(std::abs(u.log_deficit[0] - v.log_deficit[0]) < 1e-9 * std::max(1.0, std::abs(u.log_deficit[0])));
  });
}

// A needle in a wide component: with w on the needle the information tends to H(w) as the ratio of scales grows, and
// the deficit to r w_wide ... times logarithms; so it falls with the ratio and never turns back.
TEST(Quadrature, ExtremeRatiosOfScale) {
  double previous = 1;
  for (const double ratio : {1e2, 1e4, 1e8, 1e16, 1e50, 1e150}) {
    const Uncertainty u = integrate({0, 0}, {1, ratio}, Weights::uniform(2));
    EXPECT_GT(u.epistemic[0], 0.6);
    EXPECT_LE(u.epistemic[0], std::numbers::ln2);
    EXPECT_LT(u.log_deficit[0], previous);
    EXPECT_NEAR(u.log_deficit[0], -std::log(ratio), 8);  // ratio^-1 times powers of its logarithm
    previous = u.log_deficit[0];
    // The same, described from the wide component's side.
    const Uncertainty v = integrate({0, 0}, {1, 1 / ratio}, Weights::uniform(2));
    EXPECT_NEAR(v.log_deficit[0], u.log_deficit[0], 1e-9 * std::abs(u.log_deficit[0]));
  }
}

TEST(Quadrature, ClustersFarFromTheOriginKeepTheirDigits) {
  // Two pairs: within a pair the scales differ, between the pairs nothing overlaps. I = ln 2 + that of a pair.
  const double pair = integrate({0, 0}, {1, 2}, Weights::uniform(2)).epistemic[0];
  for (const double distance : {1e3, 1e6, 1e12, 1e18, 1e30}) {
    const double value = integrate({0, 0, distance, distance}, {1, 2, 1, 2}, Weights::uniform(4)).epistemic[0];
    EXPECT_NEAR(value, std::numbers::ln2 + pair, 1e-10) << distance;
  }
}

}  // namespace
}  // namespace dissent
