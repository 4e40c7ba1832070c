#include "dissent/divergence/categorical_forms.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "dissent/divergence/divergence.hpp"
#include "support/temp_dir.hpp"

namespace dissent {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

double between(const char* name, const std::vector<double>& p, const std::vector<double>& q) {
  return divergence(parse_divergence(name), Categorical{p}, Categorical{q});
}

TEST(CategoricalForms, KnownValues) {
  const std::vector<double> p{0.5, 0.5};
  const std::vector<double> q{0.9, 0.1};
  const double there = 0.5 * std::log(0.5 / 0.9) + 0.5 * std::log(0.5 / 0.1);
  const double back = 0.9 * std::log(0.9 / 0.5) + 0.1 * std::log(0.1 / 0.5);
  const double overlap = std::sqrt(0.45) + std::sqrt(0.05);
  EXPECT_NEAR(between("kl", p, q), there, 1e-15);
  EXPECT_NEAR(between("jeffreys", p, q), there + back, 1e-15);
  EXPECT_NEAR(between("bhattacharyya", p, q), -std::log(overlap), 1e-15);
  EXPECT_NEAR(between("hellinger", p, q), 1 - overlap, 1e-15);
  const double power = std::pow(0.5, 0.3) * (std::pow(0.9, 0.7) + std::pow(0.1, 0.7));
  EXPECT_NEAR(between("chernoff:0.3", p, q), -std::log(power), 1e-15);
  EXPECT_NEAR(between("renyi:2", p, q), std::log(0.25 / 0.9 + 0.25 / 0.1), 1e-15);
}

TEST(CategoricalForms, EqualComponentsGiveZero) {
  const std::vector<double> p{0.2, 0, 0.3, 0.5};
  for (const char* name : {"kl", "jeffreys", "bhattacharyya", "chernoff:0.1", "hellinger", "min", "max"}) {
    EXPECT_EQ(between(name, p, p), 0) << name;
  }
  EXPECT_NEAR(between("renyi:2", p, p), 0, 1e-15);
}

// p + eps and p: KL is eps^2 / 2 (1/p + 1/(1-p)) to first order, chernoff a (1-a) of that; no digits are lost.
TEST(CategoricalForms, SmallDifferencesKeepTheirDigits) {
  for (const double eps : {1e-3, 1e-6, 1e-10}) {
    const std::vector<double> p{0.3 + eps, 0.7 - eps};
    const std::vector<double> q{0.3, 0.7};
    const double exact = p[0] - 0.3;  // eps as it was rounded
    const double first = 0.5 * exact * exact * (1 / 0.3 + 1 / 0.7);
    EXPECT_NEAR(between("kl", p, q) / first, 1, 5 * eps + 1e-6);
    EXPECT_NEAR(between("chernoff:0.3", p, q) / (0.3 * 0.7 * first), 1, 5 * eps + 1e-6);
  }
}

TEST(CategoricalForms, ExcludedClasses) {
  const std::vector<double> both{0.5, 0.5, 0};
  const std::vector<double> one{1, 0, 0};
  const std::vector<double> other{0, 0, 1};
  EXPECT_EQ(between("kl", both, one), kInfinity);
  EXPECT_NEAR(between("kl", one, both), std::log(2), 1e-15);
  EXPECT_NEAR(between("bhattacharyya", one, both), 0.5 * std::log(2), 1e-15);
  for (const char* name : {"kl", "jeffreys", "bhattacharyya", "chernoff:0.3", "renyi:0.5", "renyi:3", "max"}) {
    EXPECT_EQ(between(name, one, other), kInfinity) << name;
  }
  EXPECT_NE(message_of<InputError>([&] { between("wasserstein", one, other); }).find("classes have none"),
            std::string::npos);
}

}  // namespace
}  // namespace dissent
