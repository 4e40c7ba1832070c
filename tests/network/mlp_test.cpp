#include "dissent/network/mlp.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "dissent/base/error.hpp"
#include "dissent/base/random.hpp"
#include "dissent/matrix/rows.hpp"
#include "dissent/network/gaussian.hpp"
#include "dissent/network/mask.hpp"
#include "support/plain_mlp.hpp"

namespace dissent {
namespace {

constexpr Activation kActivations[] = {Activation::kRelu, Activation::kTanh, Activation::kSilu};

std::vector<double> normals(std::size_t count, std::uint64_t index) {
  std::vector<double> values(count);
  Stream(11, Purpose::kTest, index).fill_normal(values);
  return values;
}

// A masked network with data, and the loss of it as the library computes it.
struct Case {
  Case(Activation activation, std::size_t num_inputs, std::size_t num_outputs, std::size_t batch,
       std::vector<std::size_t> hidden = {7, 6, 9})
      : batch(batch),
        x(normals(batch * num_inputs, 1)),
        y(normals(batch * num_outputs, 2)),
        inputs(num_inputs, batch),
        targets(num_outputs, batch) {
    full = gaussian_shape(num_inputs, hidden, num_outputs);
    full.activation = activation;
    stack = make_stack(full, {draw_mask(full, 0.5, 3, 0), draw_mask(full, 0.5, 3, 1)});
    parameters.resize(stack.layout.size());
    initialise<double>(stack, 5, true, parameters);
    pack_rows(RowTable<const double>{x.data(), num_inputs}, nullptr, batch, inputs.panel());
    pack_rows(RowTable<const double>{y.data(), num_outputs}, nullptr, batch, targets.panel());
  }

  const Mlp& mlp() const { return stack.components[1]; }

  double loss(MlpWorkspace<double>& workspace) {
    forward<double>(mlp(), parameters, inputs.panel(), batch, workspace);
    return gaussian_nll(options, workspace.outputs(), targets.panel(), batch);
  }

  std::size_t batch;
  GaussianOptions options;
  MlpShape full;
  MlpStack stack;
  Block<double> parameters;
  std::vector<double> x;
  std::vector<double> y;
  PanelBuffer<double> inputs;
  PanelBuffer<double> targets;
};

// Central differences. A ReLU whose kink lies within the step would spoil a difference; with this seed none does.
void expect_gradient(Case& c) {
  MlpWorkspace<double> workspace(c.stack.components, c.batch);
  Block<double> gradient(c.parameters.size());
  PanelBuffer<double> input_gradient(c.full.num_inputs, c.batch);
  forward<double>(c.mlp(), c.parameters, c.inputs.panel(), c.batch, workspace);
  gaussian_nll_gradient(c.options, workspace.outputs(), c.targets.panel(), c.batch);
  backward<double>(c.mlp(), c.parameters, workspace, {.block = gradient, .inputs = input_gradient.panel()});

  const double step = 1e-6;
  const auto difference = [&](double& value) {
    const double kept = value;
    value = kept + step;
    const double above = c.loss(workspace);
    value = kept - step;
    const double below = c.loss(workspace);
    value = kept;
    return (above - below) / (2 * step);
  };
  for (std::size_t k = 0; k < c.parameters.size(); ++k) {
    ASSERT_NEAR(gradient[k], difference(c.parameters[k]), 2e-8 * (1 + std::abs(gradient[k]))) << "parameter " << k;
  }
  for (std::size_t r = 0; r < c.full.num_inputs; ++r) {
    for (std::size_t b = 0; b < std::min<std::size_t>(c.batch, 5); ++b) {
      const double exact = input_gradient.panel()(r, b);
      ASSERT_NEAR(exact, difference(c.inputs.panel()(r, b)), 2e-8 * (1 + std::abs(exact))) << "input " << r;
    }
  }
}

TEST(Mlp, GradientsMatchFiniteDifferences) {
  for (const Activation activation : kActivations) {
    for (const std::size_t batch : {1, 3, 255, 257}) {
      for (const std::size_t num_outputs : {1, 11}) {
        SCOPED_TRACE(testing::Message() << "activation " << static_cast<int>(activation) << ", batch " << batch
                                        << ", outputs " << num_outputs);
        Case c(activation, 3, num_outputs, batch);
        expect_gradient(c);
      }
    }
  }
}

TEST(Mlp, GradientsMatchFiniteDifferencesAtEveryDepth) {
  for (const std::vector<std::size_t>& hidden : {std::vector<std::size_t>{}, {5}, {5, 9}, {5, 9, 4}, {1, 70, 3, 8}}) {
    SCOPED_TRACE(testing::Message() << hidden.size() << " hidden layers");
    Case c(Activation::kSilu, 5, 2, 21, hidden);
    expect_gradient(c);
  }
}

TEST(Mlp, CompactEqualsTheFullNetworkWithMasks) {
  for (const Activation activation : kActivations) {
    Case c(activation, 4, 3, 19);
    Layout layout;
    const Mlp full(c.full, layout);
    Block<double> full_parameters(layout.size());
    initialise<double>(full, Stream(5, Purpose::kInitialise, 1), full_parameters);
    std::vector<std::vector<double>> flags;
    for (std::size_t l = 0; l < c.full.hidden.size(); ++l) {
      flags.emplace_back(c.full.hidden[l], 0.0);
      for (const std::uint32_t unit : c.stack.masks[1].kept[l]) {
        flags.back()[unit] = 1;
      }
    }
    const std::vector<double> expected = test::plain_forward(full, full_parameters, c.x, flags);
    MlpWorkspace<double> workspace(c.mlp(), c.batch);
    const Panel<double> outputs = forward<double>(c.mlp(), c.parameters, c.inputs.panel(), c.batch, workspace);
    ASSERT_EQ(outputs.rows, 6U);
    for (std::size_t n = 0; n < c.batch; ++n) {
      for (std::size_t r = 0; r < outputs.rows; ++r) {
        ASSERT_NEAR(outputs(r, n), expected[n * outputs.rows + r], 1e-13);
      }
    }
    EXPECT_NEAR(c.loss(workspace), test::plain_nll(expected, c.y, 3), 1e-12);
  }
}

TEST(Mlp, SinglePrecisionFollowsDouble) {
  for (const Activation activation : kActivations) {
    Case c(activation, 14, 11, 100);
    const std::vector<float> x(c.x.begin(), c.x.end());
    const Block<float> parameters(c.parameters.begin(), c.parameters.end());
    PanelBuffer<float> inputs(14, 100);
    pack_rows(RowTable<const float>{x.data(), 14}, nullptr, 100, inputs.panel());
    MlpWorkspace<float> single(c.mlp(), 100);
    MlpWorkspace<double> precise(c.mlp(), 100);
    const Panel<float> outputs = forward<float>(c.mlp(), parameters, inputs.panel(), 100, single);
    const Panel<double> expected = forward<double>(c.mlp(), c.parameters, c.inputs.panel(), 100, precise);
    for (std::size_t r = 0; r < outputs.rows; ++r) {
      for (std::size_t b = 0; b < 100; ++b) {
        ASSERT_NEAR(outputs(r, b), expected(r, b), 2e-6);
      }
    }
  }
}

TEST(Mlp, ALinearMapNeedsNoHiddenLayer) {
  Layout layout;
  const Mlp mlp({2, {}, {{"out", 1}}, Activation::kRelu}, layout);
  Block<double> parameters(layout.size());
  parameters[mlp.layers()[0].weight] = 2;
  parameters[mlp.layers()[0].weight + 1] = -3;
  parameters[mlp.layers()[0].bias] = 0.5;
  PanelBuffer<double> inputs(2, 1);
  inputs.panel()(0, 0) = 10;
  inputs.panel()(1, 0) = 1;
  MlpWorkspace<double> workspace(mlp, 1);
  const Panel<double> outputs = forward<double>(mlp, parameters, inputs.panel(), 1, workspace);
  EXPECT_DOUBLE_EQ(outputs(0, 0), 17.5);
  outputs(0, 0) = 1;
  Block<double> gradient(layout.size(), 1.0);  // backward adds
  PanelBuffer<double> second_input(1, 1);
  backward<double>(mlp, parameters, workspace, {.block = gradient, .inputs = second_input.panel(), .first_input = 1});
  EXPECT_DOUBLE_EQ(gradient[mlp.layers()[0].weight], 11);
  EXPECT_DOUBLE_EQ(gradient[mlp.layers()[0].bias], 2);
  EXPECT_DOUBLE_EQ(second_input.panel()(0, 0), -3);
}

// A smaller batch after a larger one must not see what the larger one left in the padding.
// L = sum of outputs^2 / 2 + 3 outputs, whose gradient is outputs + 3.
class SquareLoss final : public OutputLoss<double> {
 public:
  void differentiate(Panel<double> outputs, std::size_t first) override {
    EXPECT_EQ(first, next);
    next += outputs.rows;
    for (std::size_t r = 0; r < outputs.rows; ++r) {
      for (std::size_t c = 0; c < outputs.stride; ++c) {  // padding too: it must not count
        outputs(r, c) += 3;
      }
    }
  }

  std::size_t next = 0;
};

TEST(Mlp, ForwardBackwardInPartsIsForwardThenBackward) {
  for (const std::vector<std::size_t>& hidden : {std::vector<std::size_t>{}, {5}, {7, 6, 9}}) {
    for (const std::size_t at_a_time : {1, 4, 22, 100}) {
      Case c(Activation::kTanh, 3, 11, 37, hidden);
      MlpWorkspace<double> workspace(c.stack.components, c.batch);
      Block<double> expected(c.parameters.size());
      Block<double> gradient(c.parameters.size());
      PanelBuffer<double> expected_inputs(2, c.batch);
      PanelBuffer<double> inputs(2, c.batch);
      SquareLoss loss;
      loss.differentiate(forward<double>(c.mlp(), c.parameters, c.inputs.panel(), c.batch, workspace), 0);
      backward<double>(c.mlp(), c.parameters, workspace,
                       {.block = expected, .inputs = expected_inputs.panel(), .first_input = 1});
      loss.next = 0;
      forward_backward<double>(c.mlp(), c.parameters, c.inputs.panel(), c.batch, workspace, at_a_time, loss,
                               {.block = gradient, .inputs = inputs.panel(), .first_input = 1});
      EXPECT_EQ(loss.next, 22);
      for (std::size_t k = 0; k < gradient.size(); ++k) {
        ASSERT_NEAR(gradient[k], expected[k], 1e-12 * (1 + std::abs(expected[k]))) << at_a_time << ", parameter " << k;
      }
      for (std::size_t b = 0; b < c.batch; ++b) {
        ASSERT_NEAR(inputs.panel()(1, b), expected_inputs.panel()(1, b), 1e-12);
      }
    }
  }
}

TEST(Mlp, GradientOfABatchIgnoresWhatStoodInTheWorkspaceBefore) {
  Case large(Activation::kSilu, 3, 2, 40);
  Case small(Activation::kSilu, 3, 2, 5);
  MlpWorkspace<double> used(large.mlp(), 40);
  MlpWorkspace<double> fresh(small.mlp(), 40);
  Block<double> from_used(small.parameters.size());
  Block<double> from_fresh(small.parameters.size());
  forward<double>(large.mlp(), large.parameters, large.inputs.panel(), 40, used);
  for (auto& [workspace, gradient] : {std::pair{&used, &from_used}, std::pair{&fresh, &from_fresh}}) {
    const Panel<double> outputs = forward<double>(small.mlp(), small.parameters, small.inputs.panel(), 5, *workspace);
    for (std::size_t r = 0; r < outputs.rows; ++r) {
      std::fill_n(outputs.row(r), 16, 1.0);  // also in the padding, which backward clears
    }
    backward<double>(small.mlp(), small.parameters, *workspace, {.block = *gradient});
  }
  EXPECT_EQ(from_used, from_fresh);
  EXPECT_DOUBLE_EQ(from_used[small.mlp().layers().back().bias], 5);
}

TEST(Mlp, RejectsWhatDoesNotFit) {
  Layout layout;
  const Mlp mlp(gaussian_shape(3, {4}, 1), layout);
  const Mlp deeper(gaussian_shape(3, {4, 4}, 1), layout, "deeper.");
  const Block<double> parameters(layout.size());
  MlpWorkspace<double> workspace(mlp, 8);
  const PanelBuffer<double> narrow(2, 8);
  const PanelBuffer<double> inputs(3, 64);
  EXPECT_THROW(forward<double>(mlp, parameters, narrow.panel(), 8, workspace), InputError);
  EXPECT_THROW(forward<double>(mlp, parameters, inputs.panel(), 9, workspace), InputError);
  EXPECT_THROW(Mlp(gaussian_shape(3, {4}, 1), layout), InputError);  // names taken
  EXPECT_THROW(Mlp({3, {4}, {}, Activation::kRelu}, layout, "headless."), InputError);
  EXPECT_THROW(MlpWorkspace<double>(std::vector<Mlp>{mlp, deeper}, 8), InputError);
  Block<double> gradient(layout.size());
  PanelBuffer<double> wanted(2, 8);
  forward<double>(mlp, parameters, inputs.panel(), 8, workspace);
  EXPECT_THROW(
      backward<double>(mlp, parameters, workspace, {.block = gradient, .inputs = wanted.panel(), .first_input = 2}),
      InputError);
}

}  // namespace
}  // namespace dissent
