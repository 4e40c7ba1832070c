#include "dissent/acquisition/joint_kernel.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "dissent/base/random.hpp"
#include "dissent/estimator/combine.hpp"

namespace dissent {
namespace {

// ln(H / deficit) by the plain function, from the end that has the digits.
double plain_information(const Weights& weights, std::span<const double> divergence) {
  const Combined plain = combine(weights, divergence);
  return plain.epistemic < 0.5 * weights.entropy ? -std::log1p(-plain.epistemic / weights.entropy)
                                                 : std::log(weights.entropy) - plain.log_deficit;
}

TEST(JointKernel, AgreesWithThePlainFunctionAtEverySize) {
  Stream stream(1, Purpose::kTest);
  for (const Weights& weights :
       {Weights::uniform(2), Weights::uniform(5), Weights::from(std::vector<double>{0.6, 0.0, 0.3, 0.1}, 4),
        Weights::from(std::vector<double>{0.999, 0.001 - 1e-6, 1e-6}, 3)}) {
    const JointPairs pairs(weights);
    const std::size_t M = weights.size();
    for (const std::size_t count : {1UL, 15UL, 16UL, 37UL}) {
      for (double size = 1e-6; size < 1e9; size *= 10) {
        PanelBuffer<float> divergence(pairs.pairs.size(), count);
        RunningSums running(pairs);
        for (std::size_t k = 0; k < pairs.pairs.size(); ++k) {
          running.add(k, static_cast<double>(static_cast<float>(size * stream.uniform())));
          for (std::size_t n = 0; n < count; ++n) {
            // Some rows far, some near, so that vectors are mixed.
            divergence.panel()(k, n) = static_cast<float>(size * (n % 3 == 0 ? 20 : 1) * stream.uniform());
          }
        }
        running.update();
        EXPECT_EQ(running.taken_off > 0, std::ranges::min(running.sums) > pairs.saturated);
        AlignedVector<float> information(padded_batch(count));
        joint_information(pairs, divergence.panel(), running, count, information.data());
        for (std::size_t n = 0; n < count; ++n) {
          std::vector<double> sum(M * M);
          for (std::size_t k = 0; k < pairs.pairs.size(); ++k) {
            sum[pairs.pairs[k].i * M + pairs.pairs[k].j] =
                static_cast<double>(divergence.panel()(k, n)) + running.sums[k];
          }
          const double plain = plain_information(weights, sum) - running.taken_off;
          EXPECT_NEAR(information[n], plain, 4e-6 * (running.taken_off > 0 ? 1 + std::abs(plain) : plain)) << size;
        }
      }
    }
  }
}

// A component of hardly any weight, far from two that agree: what it tells must not drown what they do.
TEST(JointKernel, LightComponentsKeepTheDigitsOfOthers) {
  for (const double light : {0.02, 5e-3, 1.1e-3, 1e-4, 1e-9, 1e-12, 1e-29}) {
    const Weights weights = Weights::from(std::vector<double>{0.6, 0.4 - light, light}, 3);
    const JointPairs pairs(weights);
    RunningSums running(pairs);
    running.update();
    PanelBuffer<float> divergence(pairs.pairs.size(), 1);
    std::vector<double> sum(9);
    for (std::size_t k = 0; k < pairs.pairs.size(); ++k) {
      const JointPairs::Pair& pair = pairs.pairs[k];
      divergence.panel()(k, 0) = pair.i == 2 || pair.j == 2 ? 90.0F : 1e-4F;
      sum[pair.i * 3 + pair.j] = static_cast<double>(divergence.panel()(k, 0));
    }
    AlignedVector<float> information(padded_batch(1));
    joint_information(pairs, divergence.panel(), running, 1, information.data());
    const double plain = plain_information(weights, sum);
    EXPECT_NEAR(information[0], plain, 4e-6 * plain) << light;
  }
}

// Where sums begin to count as saturated, what is neglected is negligible, whatever the weights.
TEST(JointKernel, SaturatedSumsKeepTheirDigits) {
  for (const double light : {0.2, 1e-3, 1e-8, 1e-29}) {
    const Weights weights = Weights::from(std::vector<double>{0.5, 0.5 - light, light}, 3);
    const JointPairs pairs(weights);
    RunningSums running(pairs);
    running.update();
    for (const double beyond : {-0.1, 0.1}) {
      PanelBuffer<float> divergence(pairs.pairs.size(), 1);
      std::vector<double> sum(9);
      for (std::size_t k = 0; k < pairs.pairs.size(); ++k) {
        divergence.panel()(k, 0) = static_cast<float>(pairs.saturated + beyond);
        sum[pairs.pairs[k].i * 3 + pairs.pairs[k].j] = static_cast<double>(divergence.panel()(k, 0));
      }
      AlignedVector<float> information(padded_batch(1));
      joint_information(pairs, divergence.panel(), running, 1, information.data());
      const double plain = plain_information(weights, sum);
      EXPECT_NEAR(information[0], plain, 4e-6 * plain) << light;
    }
  }
}

// Many heavy components add up beside a light one.
TEST(JointKernel, SaturatedSumsOfManyComponentsKeepTheirDigits) {
  constexpr std::size_t kHeavy = 139;
  std::vector<double> weight(kHeavy, 1 / (kHeavy + 0.01));
  weight.push_back(0.01 / (kHeavy + 0.01));
  const Weights weights = Weights::from(weight, weight.size());
  const JointPairs pairs(weights);
  RunningSums running(pairs);
  running.update();
  PanelBuffer<float> divergence(pairs.pairs.size(), 1);
  std::vector<double> sum(weight.size() * weight.size());
  for (std::size_t k = 0; k < pairs.pairs.size(); ++k) {
    const JointPairs::Pair& pair = pairs.pairs[k];
    const bool light = pair.i == kHeavy || pair.j == kHeavy;
    divergence.panel()(k, 0) = light ? static_cast<float>(pairs.saturated + 0.05) : 60;
    sum[pair.i * weight.size() + pair.j] = static_cast<double>(divergence.panel()(k, 0));
  }
  AlignedVector<float> information(padded_batch(1));
  joint_information(pairs, divergence.panel(), running, 1, information.data());
  const double plain = plain_information(weights, sum);
  EXPECT_NEAR(information[0], plain, 4e-6 * plain);
}

}  // namespace
}  // namespace dissent
