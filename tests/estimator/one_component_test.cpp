// All the weight on one component: there is nobody to disagree, so epistemic is 0 = H(weights), and the logarithm of
// their difference is -infinity. Nothing is NaN.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "support/mixtures.hpp"

namespace dissent {
namespace {

std::vector<std::string> every_estimator() {
  std::vector<std::string> names;
  for (const EstimatorInfo& info : estimators()) {
    names.push_back(info.parameter.letter.empty() ? info.name
                                                  : info.name + (info.parameter.letter == "K" ? ":50" : ":0.3"));
  }
  return names;
}

TEST(OneComponent, HasNothingToDisagreeAbout) {
  for (const std::vector<double>& values : {std::vector<double>{1}, {1, 0, 0}, {0, 1, 0}, {0, 0, 1}, {1, 1e-120}}) {
    const Weights weights = Weights::from(values, values.size());
    const Mixture<double> mixture =
        test::diagonal_mixture<double>({.num_inputs = 3, .num_components = values.size(), .seed = 5});
    const Mixture<float> narrow =
        test::diagonal_mixture<float>({.num_inputs = 3, .num_components = values.size(), .seed = 5});
    for (const std::string& name : every_estimator()) {
      for (const Uncertainty& u : {test::run(name, mixture, weights), test::run(name, narrow, weights)}) {
        for (std::size_t n = 0; n < u.size(); ++n) {
          EXPECT_EQ(u.epistemic[n], 0) << name;
          EXPECT_EQ(u.log_deficit[n], -std::numeric_limits<double>::infinity()) << name;
          EXPECT_TRUE(std::isfinite(u.aleatoric[n])) << name;
          EXPECT_EQ(u.total[n], u.aleatoric[n]) << name;
        }
      }
    }
  }
}

TEST(OneComponent, WithNearlyAllTheWeightIsNearlyThat) {
  for (const double other : {1e-7, 1e-16, 1e-30, 1e-90}) {
    const Weights weights = Weights::from(std::vector<double>{1 - other, other}, 2);
    const Mixture<double> mixture = test::diagonal_mixture<double>({.num_inputs = 3, .num_components = 2, .seed = 5});
    for (const std::string& name : every_estimator()) {
      const Uncertainty u = test::run(name, mixture, weights);
      for (std::size_t n = 0; n < u.size(); ++n) {
        EXPECT_GE(u.epistemic[n], 0) << name;
        EXPECT_TRUE(name == "epkl" || u.epistemic[n] <= weights.entropy * (1 + 1e-12)) << name << " " << other;
        EXPECT_FALSE(std::isnan(u.log_deficit[n])) << name << " " << other;
      }
    }
  }
}

}  // namespace
}  // namespace dissent
