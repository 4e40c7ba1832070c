#include "dissent/mixture/gaussian.hpp"

#include <gtest/gtest.h>

#include <Eigen/Cholesky>
#include <array>
#include <cmath>
#include <numbers>
#include <vector>

namespace dissent {
namespace {

// Covariance {{4, 1}, {1, 2}} about (1, -1): determinant 7, inverse {{2, -1}, {-1, 4}} / 7.
FullGaussian correlated() {
  Eigen::MatrixXd covariance(2, 2);
  covariance << 4, 1, 1, 2;
  return {Eigen::Vector2d(1, -1), Eigen::LLT<Eigen::MatrixXd>(covariance).matrixL()};
}

TEST(Gaussian, EntropyByItsClosedForm) {
  const std::array<double, 2> mean{3, 4};
  const std::array<double, 2> stddev{0.5, 8};
  const double unit = std::log(2 * std::numbers::pi * std::numbers::e);
  EXPECT_NEAR(entropy(DiagonalGaussian{mean, stddev}), unit + std::log(4.0), 1e-15);
  EXPECT_NEAR(entropy(correlated()), unit + 0.5 * std::log(7.0), 1e-15);
}

TEST(Gaussian, LogDensityByItsClosedForm) {
  const std::array<double, 1> mean{1};
  const std::array<double, 1> stddev{2};
  const double peak = -0.5 * std::log(2 * std::numbers::pi);
  EXPECT_NEAR(log_density(DiagonalGaussian{mean, stddev}, std::array<double, 1>{5}), peak - std::log(2.0) - 2, 1e-15);
  // y - mean = (2, 3): quadratic form (2*4 - 2*6 + 4*9) / 7 = 32 / 7
  EXPECT_NEAR(log_density(correlated(), std::array<double, 2>{3, 2}), 2 * peak - 0.5 * std::log(7.0) - 16.0 / 7, 1e-14);
}

TEST(Gaussian, LogDensityStaysFiniteForExtremeScales) {
  const std::array<double, 3> mean{0, 0, 1e30};
  const std::array<double, 3> stddev{1e-150, 1e150, 1e-20};
  EXPECT_TRUE(std::isfinite(log_density(DiagonalGaussian{mean, stddev}, mean)));
  EXPECT_NEAR(sum_log_stddev(DiagonalGaussian{mean, stddev}), std::log(1e-20), 1e-12);
}

// Sample moments over 20000 draws; a deviation of 5 standard errors has a false-alarm rate below 1e-6 per number.
template <class Gaussian>
void expect_moments(const Gaussian& g, const Eigen::Vector2d& mean, const Eigen::Matrix2d& covariance) {
  constexpr int kDraws = 20000;
  Stream stream(1, Purpose::kTest);
  Eigen::Vector2d sum = Eigen::Vector2d::Zero();
  Eigen::Matrix2d products = Eigen::Matrix2d::Zero();
  for (int k = 0; k < kDraws; ++k) {
    std::array<double, 2> y{};
    sample(g, stream, y);
    const Eigen::Vector2d centred = Eigen::Vector2d(y[0], y[1]) - mean;
    sum += centred;
    products += centred * centred.transpose();
  }
  for (int r = 0; r < 2; ++r) {
    EXPECT_NEAR(sum(r) / kDraws, 0, 5 * std::sqrt(covariance(r, r) / kDraws));
    for (int c = 0; c < 2; ++c) {
      const double variance = covariance(r, r) * covariance(c, c) + covariance(r, c) * covariance(r, c);
      EXPECT_NEAR(products(r, c) / kDraws, covariance(r, c), 5 * std::sqrt(variance / kDraws));
    }
  }
}

TEST(Gaussian, SamplesHaveTheMomentsOfTheComponent) {
  const std::array<double, 2> mean{3, -4};
  const std::array<double, 2> stddev{0.5, 8};
  expect_moments(DiagonalGaussian{mean, stddev}, {3, -4}, (Eigen::Matrix2d() << 0.25, 0, 0, 64).finished());
  expect_moments(correlated(), {1, -1}, (Eigen::Matrix2d() << 4, 1, 1, 2).finished());
}

TEST(InputComponents, WidensAndFactors) {
  Mixture<float> mixture = Mixture<float>::full(2, 1, 2);
  mixture.mean = {0, 0, 1, -1};
  mixture.covariance = {1, 0, 0, 1, 4, 1, 1, 2};
  InputComponents components;
  components.load(mixture.view(), 1, 1);
  EXPECT_FALSE(components.diagonal());
  EXPECT_EQ(components.num_components(), 1u);
  EXPECT_EQ(components.full_component(0).mean(1), -1);
  EXPECT_TRUE(components.full_component(0).factor.isApprox(correlated().factor, 1e-15));
  EXPECT_EQ(components.full_component(0).factor(0, 1), 0);
}

TEST(InputComponents, CanBeReusedForAnotherShape) {
  Mixture<double> small = Mixture<double>::diagonal(1, 1, 1);
  small.stddev = {2};
  Mixture<double> large = Mixture<double>::full(1, 3, 2);
  for (std::size_t m = 0; m < 3; ++m) {
    large.covariance[4 * m] = large.covariance[4 * m + 3] = 9;
  }
  InputComponents components;
  components.load(large.view(), 0, 0);
  components.load(small.view(), 0, 0);
  EXPECT_TRUE(components.diagonal());
  EXPECT_EQ(components.num_components(), 1u);
  EXPECT_EQ(components.diagonal_component(0).stddev[0], 2);
  components.load(large.view(), 0, 0);
  EXPECT_NEAR(components.visit(2, [](const auto& g) { return sum_log_stddev(g); }), std::log(9.0), 1e-15);
}

}  // namespace
}  // namespace dissent
