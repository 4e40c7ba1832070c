// Every instruction set that this processor has must give the same training step, up to rounding.
#include <gtest/gtest.h>
#include <hwy/targets.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "dissent/matrix/rows.hpp"
#include "dissent/network/adam.hpp"
#include "dissent/network/gaussian.hpp"
#include "dissent/network/mask.hpp"
#include "dissent/network/mlp.hpp"

namespace dissent {
namespace {

void use_targets(std::int64_t targets) {  // 0: all
  hwy::SetSupportedTargetsForTest(targets);
  hwy::GetChosenTarget().DeInit();
}

// Everything one step computes: outputs, loss, gradients and updated parameters, one after the other.
template <class T>
std::vector<double> run_step(Activation activation, std::size_t batch) {
  MlpShape shape = gaussian_shape(6, {30, 70}, 7);
  shape.activation = activation;
  const MlpStack stack = make_stack(shape, {draw_mask(shape, 0.6, 2, 0)});
  const Mlp& mlp = stack.components[0];
  Block<T> parameters(stack.layout.size());
  Block<T> gradient(stack.layout.size());
  Block<T> first(stack.layout.size());
  Block<T> second(stack.layout.size());
  initialise<T>(stack, 2, true, parameters);
  Stream stream(2, Purpose::kTest);
  std::vector<T> table(batch * 13);
  std::ranges::generate(table, [&] { return static_cast<T>(stream.normal()); });
  PanelBuffer<T> inputs(6, batch);
  PanelBuffer<T> targets(7, batch);
  PanelBuffer<T> input_gradient(2, batch);
  pack_rows(RowTable<const T>{table.data(), 13}, nullptr, batch, inputs.panel());
  pack_rows(RowTable<const T>{table.data() + 6, 13}, nullptr, batch, targets.panel());
  MlpWorkspace<T> workspace(mlp, batch);
  const Panel<T> heads = forward<T>(mlp, parameters, inputs.panel(), batch, workspace);
  std::vector<T> outputs(batch * heads.rows);
  unpack_rows(heads, batch, RowTable<T>{outputs.data(), heads.rows});
  std::vector<double> all(outputs.begin(), outputs.end());
  all.push_back(gaussian_nll({.variance_floor = 0.5}, heads, targets.panel(), batch));
  all.push_back(gaussian_nll_gradient({}, heads, targets.panel(), batch));
  backward<T>(mlp, parameters, workspace, {.block = gradient, .inputs = input_gradient.panel(), .first_input = 3});
  all.push_back(adam_step({.learning_rate = 0.01, .epsilon = 1e-3, .clip_norm = 0.1}, 1,
                          AdamRange<T>{parameters, gradient, first, second}));
  all.insert(all.end(), gradient.begin(), gradient.end());
  all.insert(all.end(), parameters.begin(), parameters.end());
  for (std::size_t b = 0; b < batch; ++b) {
    all.push_back(input_gradient.panel()(1, b));
  }
  return all;
}

template <class T>
void compare_targets() {
  const double tolerance = 500 * std::numeric_limits<T>::epsilon();
  use_targets(0);
  const std::int64_t supported = hwy::SupportedTargets();
  for (const Activation activation : {Activation::kRelu, Activation::kTanh, Activation::kSilu}) {
    for (const std::size_t batch : {1, 50, 129}) {
      use_targets(0);
      const std::vector<double> best = run_step<T>(activation, batch);
      for (std::int64_t rest = supported; rest != 0; rest &= rest - 1) {
        const std::int64_t target = rest & -rest;
        use_targets(target);
        SCOPED_TRACE(testing::Message() << hwy::TargetName(target) << ", batch " << batch);
        const std::vector<double> values = run_step<T>(activation, batch);
        ASSERT_EQ(values.size(), best.size());
        for (std::size_t k = 0; k < values.size(); ++k) {
          ASSERT_NEAR(values[k], best[k], tolerance * (1 + std::abs(best[k]))) << "value " << k;
        }
      }
    }
  }
  use_targets(0);
}

TEST(Targets, AgreeInSinglePrecision) { compare_targets<float>(); }
TEST(Targets, AgreeInDoublePrecision) { compare_targets<double>(); }

}  // namespace
}  // namespace dissent
