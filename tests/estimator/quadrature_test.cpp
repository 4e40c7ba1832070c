
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

// By mpmath at 60 digits, with the crossings for its breakpoints. The steeper component has many times the slope of the
// other there, and its log density is beyond the digits of a double.
TEST(Quadrature, InDeepSaturationByMpmath) {
  struct Case {
    std::vector<double> mean;
    std::vector<double> stddev;
    std::vector<double> weights;
    double log_deficit;
  };
  const std::vector<Case> cases{
      {{0, 1000}, {1, 0.01}, {0.5, 0.5}, -490151.8638647470128764003},
      {{0, 1e5}, {1, 1e-6}, {0.5, 0.5}, -4999989999.324583789192785},
      {{0, 1e8}, {1, 1e-3}, {0.5, 0.5}, -4990014980024983.149862683},
      {{0, 1e10}, {1, 1}, {0.5, 0.5}, -12500000000000000022.10691},
      {{0, 1e10}, {1, 1e-9}, {0.5, 0.5}, -49999999900000000153.91466},
      {{3, -1e12}, {1, 1e3}, {0.5, 0.5}, -499001498005491027.9017192},
      {{0, 300, 1000}, {1, 0.1, 5}, {0.25, 0.25, 0.5}, -9421.975151574731693537423},
      {{0, 1e7, -3e7}, {1, 0.1, 5}, {0.25, 0.25, 0.5}, -12500000000014.86412043898},
      {{0, 1000}, {1, 0.01}, {1e-20, 1}, -490196.7664282068892250372},
  };
  for (const Case& c : cases) {
    const Uncertainty u = integrate(c.mean, c.stddev, Weights::from(c.weights, c.weights.size()));
    EXPECT_LT(test::relative_error(u.log_deficit[0], c.log_deficit), 1e-14) << c.mean.back();
    EXPECT_NEAR(u.log_deficit[0], c.log_deficit, std::max(1e-9, 4e-16 * std::abs(c.log_deficit))) << c.mean.back();
  }
  // Where the logarithm itself ends, it is infinite, and never a number that means nothing.
  for (const double distance : {1e15, 1e30, 1e100, 1e150}) {
    const double value = integrate({0, distance}, {1, 1}, Weights::uniform(2)).log_deficit[0];
    EXPECT_NEAR(value / (-distance * distance / 8), 1, 1e-14) << distance;
  }
  EXPECT_EQ(integrate({0, 1e300}, {1, 1}, Weights::uniform(2)).log_deficit[0], -INFINITY);
}

// A weight that is lost beside 1 counts: its own share of the entropy is 1 / 47 of the whole at 1e-20. By mpmath.
TEST(Quadrature, TinyWeightsByMpmath) {
  struct Case {
    double gap;
    double log_deficit;
    double epistemic;
  };
  const Weights weights = Weights::from(std::vector<double>{1e-20, 1}, 2);
  EXPECT_LT(test::relative_error(weights.entropy, 4.705170185988091115456964e-19), 1e-15);
  for (const auto& [gap, log_deficit, epistemic] :
       std::vector<Case>{{0.1, -42.20056109492757027648761, 5.000000000000000280827619e-23},
                         {1, -42.21113829700054825445562, 4.999999999999999725680443e-21},
                         {5, -42.50924505298660312918805, 1.249999999965143890548067e-19},
                         {20, -76.96911288884784833191933, 4.705170185988087376598755e-19}}) {
    const Mixture<double> mixture{1, 2, 1, {0, gap}, {1, 1}, {}};
    const Uncertainty u = test::run("quadrature", mixture, weights);
    EXPECT_NEAR(u.log_deficit[0], log_deficit, 1e-10) << gap;
    EXPECT_LT(test::relative_error(u.epistemic[0], epistemic), 1e-10) << gap;
    const Uncertainty bounds = test::run("bounds", mixture, weights);
    constexpr double kRounding = 1 + 1e-12;
    EXPECT_LE(bounds.extra("lower")[0], epistemic * kRounding) << gap;
    EXPECT_GE(bounds.extra("upper")[0] * kRounding, epistemic) << gap;
    EXPECT_GE(bounds.extra("lower_log_deficit")[0], log_deficit - 1e-12) << gap;
    EXPECT_LE(bounds.extra("upper_log_deficit")[0], log_deficit + 1e-12) << gap;
  }
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
