// batchbald's sampling on a card against the processor's: shapes, components without weight, deficits that only a
// logarithm can hold, rows chosen before.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cmath>
#include <memory>
#include <vector>

#include "device/card.hpp"
#include "dissent/acquisition/sampled.hpp"
#include "dissent/base/random.hpp"
#include "dissent/device/device.hpp"
#include "dissent/estimator/score_device.hpp"

namespace dissent {
namespace {

using test::OnCard;

struct Case {
  std::size_t num_rows, num_components, num_outputs;
  double apart;  // how far components lie from each other, in standard deviations
};

Mixture<double> drawn(const Case& shape) {
  Mixture<double> mixture = Mixture<double>::diagonal(shape.num_rows, shape.num_components, shape.num_outputs);
  Stream stream(1, Purpose::kTest, 0);
  for (std::size_t k = 0; k < mixture.mean.size(); ++k) {
    mixture.mean[k] = shape.apart * stream.normal();
    mixture.stddev[k] = std::exp(0.3 * stream.normal());
  }
  std::vector<double> weights(shape.num_components, 1.0 / static_cast<double>(shape.num_components));
  if (shape.num_components > 3) {
    weights[1] += weights[2];
    weights[2] = 0;
  }
  mixture.weights = Weights::from(weights, shape.num_components);
  return mixture;
}

class JointOnCard : public OnCard, public testing::WithParamInterface<Case> {};

TEST_P(JointOnCard, WeighsRowsAsTheProcessorDoes) {
  constexpr std::size_t kSamples = 700;
  const Mixture<double> mixture = drawn(GetParam());
  const Stream stream(7, Purpose::kTest, 1);
  const SampleNoise first(mixture.weights, kSamples, mixture.num_outputs, stream, 100);
  const SampleNoise second(mixture.weights, kSamples, mixture.num_outputs, stream, 200);
  ChosenRatios chosen = no_ratios(first);
  const std::unique_ptr<RowsOnDevice> rows = device_->scores().take_rows(mixture.view());
  ASSERT_NE(rows, nullptr);
  const double most = std::log(mixture.weights.entropy);
  std::vector<double> expected(mixture.num_inputs);
  std::vector<double> got(mixture.num_inputs);
  for (const SampleNoise* noise : {&first, &second}) {
    sampled_log_deficit(*noise, mixture.view(), chosen, expected);
    rows->log_deficits(component_noise(*noise, chosen), most, got);
    for (std::size_t n = 0; n < got.size(); ++n) {
      ASSERT_NEAR(got[n], expected[n], 1e-11 * std::max(1.0, std::abs(expected[n]))) << "row " << n;
    }
    add_ratios(*noise, mixture.view(), 0, chosen);
  }
}

INSTANTIATE_TEST_SUITE_P(Shapes, JointOnCard,
                         testing::Values(Case{50, 2, 1, 1}, Case{33, 5, 11, 1}, Case{7, 5, 257, 0.1},
                                         Case{20, 8, 3, 0.01}, Case{9, 5, 1, 300}, Case{5, 3, 40, 100}),
                         [](const auto& info) {
                           const Case& shape = info.param;
                           return fmt::format("{}_rows_{}_components_{}_outputs", shape.num_rows, shape.num_components,
                                              shape.num_outputs);
                         });

TEST_F(OnCard, RowsOfShapesWithoutAKernelAreLeftToTheProcessor) {
  EXPECT_EQ(device_->scores().take_rows(drawn({3, 9, 2, 1}).view()), nullptr);
  EXPECT_EQ(device_->scores().take_rows(drawn({3, 5, 5000, 1}).view()), nullptr);
}

}  // namespace
}  // namespace dissent
