// The spline of the training kernels, run on the host, against the reference and its exact gradient.
#include "dissent/device/cubic_spline.cuh"

#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <vector>

#include "dissent/base/random.hpp"
#include "dissent/flow/transform_reference.hpp"
#include "flow/dual.hpp"

namespace dissent::device {
namespace {

using test::Dual;

constexpr int kBins = 10;
constexpr int kParams = 2 * kBins + 2;
constexpr float kBound = 1.2F;

struct Loss {
  double value;
  double log_slope;
  double loss;
  std::vector<double> by_raw;
};

Loss reference_loss(float x, const std::array<float, kParams>& raw, const SplinePull& pull) {
  std::vector<Dual> parameters;
  for (std::size_t p = 0; p < kParams; ++p) {
    parameters.push_back(Dual::variable(raw[p], p, kParams));
  }
  const Transform transform{.kind = TransformKind::kCubic, .num_bins = kBins, .tail_bound = kBound};
  const Transformed<Dual> result = reference_forward<Dual>(transform, Dual(x), std::span<const Dual>(parameters));
  const Dual away = result.value - Dual(pull.center);
  const Dual loss = Dual(0.5 * pull.curvature) * away * away + Dual(pull.grad_log_slope) * result.log_slope;
  Loss found{result.value.value, result.log_slope.value, loss.value, std::vector<double>(kParams, 0.0)};
  for (std::size_t p = 0; p < loss.partial.size(); ++p) {
    found.by_raw[p] = loss.partial[p];
  }
  return found;
}

SplineResult step(float x, const SplinePull& pull, std::array<float, kParams> raw, std::array<float, kParams>& grad) {
  grad.fill(NAN);  // all must be written
  return cubic_step<kBins>(x, kBound, pull, raw.data(),
                           [&](int p, float value) { grad[static_cast<std::size_t>(p)] = value; });
}

void check_at(float x, const std::array<float, kParams>& raw, const SplinePull& pull) {
  const Loss expected = reference_loss(x, raw, pull);
  std::array<float, kParams> grad;
  const SplineResult found = step(x, pull, raw, grad);
  EXPECT_NEAR(found.value, expected.value, 1e-6 * (1 + std::exp(expected.log_slope)));
  EXPECT_NEAR(found.log_slope, expected.log_slope, 1e-5 * (1 + std::abs(expected.log_slope)));
  double size = 1;
  for (const double g : expected.by_raw) {
    size = std::max(size, std::abs(g));
  }
  for (std::size_t p = 0; p < kParams; ++p) {
    EXPECT_NEAR(grad[p], expected.by_raw[p], 2e-4 * size) << "x " << x << " parameter " << p;
  }
}

TEST(CubicSpline, IsTheReferenceWithItsGradient) {
  Stream stream(1, Purpose::kTest, 77);
  for (int n = 0; n < 400; ++n) {
    std::array<float, kParams> raw;
    for (float& value : raw) {
      value = static_cast<float>(1.5 * stream.normal());
    }
    const auto x = static_cast<float>(0.9 * kBound * (2 * stream.uniform() - 1));
    check_at(x, raw, {static_cast<float>(stream.normal()), 0.7F, -0.4F});
  }
}

TEST(CubicSpline, BordersAndClampedEndsAreTheReferences) {
  std::array<float, kParams> raw{};
  raw[2 * kBins] = 40;  // clamped: no gradient
  raw[2 * kBins + 1] = -40;
  for (const float x : {-kBound, -0.999F * kBound, 0.999F * kBound}) {
    check_at(x, raw, {0.3F, 1.0F, -0.5F});
  }
}

TEST(CubicSpline, OutsideItsSquareNothingMoves) {
  for (const float x : {-5.0F, 1.2001F, 1e6F}) {
    std::array<float, kParams> raw;
    raw.fill(0.3F);
    std::array<float, kParams> grad;
    const SplineResult found = step(x, {0.0F, 1.0F, -1.0F}, raw, grad);
    EXPECT_EQ(found.value, x);
    EXPECT_EQ(found.log_slope, 0.0F);
    for (const float g : grad) {
      EXPECT_EQ(g, 0.0F);
    }
  }
}

}  // namespace
}  // namespace dissent::device
