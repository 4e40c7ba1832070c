// Probabilistic networks against golden values: forward, density, loss, gradients and three Adam steps with shared
// weights under changing masks, in double (1e-9 relative to the largest value) and single precision (1e-4).
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <optional>
#include <string>
#include <vector>

#include "dissent/matrix/rows.hpp"
#include "dissent/mixture/gaussian.hpp"
#include "dissent/network/adam.hpp"
#include "dissent/network/gaussian.hpp"
#include "dissent/network/mask.hpp"
#include "dissent/network/mlp.hpp"
#include "support/golden.hpp"
#include "support/masks.hpp"

namespace dissent {
namespace {

using test::Golden;
using test::GoldenArray;

constexpr const char* kFiles[] = {"pne_D1_layers3_width50.npz", "pne_D11_layers1_width100.npz",
                                  "pne_D11_layers3_width50.npz", "pne_D27_layers3_width50.npz",
                                  "pne_D257_layers3_width50.npz"};

std::string golden_name(const std::string& slice) {
  std::string name = slice;
  if (name.starts_with("hidden")) {
    return "fc" + std::to_string(name[6] - '0' + 1) + name.substr(7);
  }
  return (name.starts_with("mean") ? "mean_linear" : "log_std_linear") + name.substr(name.find('.'));
}

// Values of one array must agree within `tolerance` of its largest.
template <class T>
void expect_close(const GoldenArray& expected, const std::vector<T>& values, double tolerance,
                  const std::string& what) {
  ASSERT_EQ(expected.data.size(), values.size()) << what;
  double scale = 0;
  for (const double v : expected.data) {
    scale = std::max(scale, std::abs(v));
  }
  for (std::size_t k = 0; k < values.size(); ++k) {
    ASSERT_NEAR(values[k], expected.data[k], tolerance * scale) << what << "[" << k << "]";
  }
}

template <class T>
struct Network {
  explicit Network(const std::string& file) : golden(Golden::open(file)) {
    const GoldenArray& x = golden["x"];
    batch = x.shape[0];
    num_outputs = golden["y"].shape[1];
    std::size_t depth = 0;
    while (golden.contains("p.fc" + std::to_string(depth + 1) + ".weight")) {
      ++depth;
    }
    const std::size_t width = golden["masks"].shape[2];
    shape = gaussian_shape(x.shape[1], std::vector<std::size_t>(depth, width), num_outputs);
    full.emplace(shape, full_layout);
    full_parameters = read("p.");
    std::vector<Mask> masks;
    for (std::size_t m = 0; m < golden["masks"].shape[0]; ++m) {
      std::vector<std::vector<double>> flags;
      for (std::size_t l = 0; l < depth; ++l) {
        flags.push_back(golden["masks"].row(m, l));
      }
      masks.push_back(test::mask_from_flags(flags));
    }
    stack = make_stack(shape, masks);
    inputs = PanelBuffer<T>(x.shape[1], batch);
    targets = PanelBuffer<T>(num_outputs, batch);
    const std::vector<T> x_values = x.as<T>();
    const std::vector<T> y_values = golden["y"].as<T>();
    pack_rows(RowTable<const T>{x_values.data(), x.shape[1]}, nullptr, batch, inputs.panel());
    pack_rows(RowTable<const T>{y_values.data(), num_outputs}, nullptr, batch, targets.panel());
  }

  Block<T> read(const std::string& kind) const {
    Block<T> block(full_layout.size());
    for (const Slice& slice : full_layout.slices()) {
      std::ranges::copy(golden[kind + golden_name(slice.name)].template as<T>(), block.begin() + slice.offset);
    }
    return block;
  }

  // One member's outputs, from the shared full weights.
  Panel<T> evaluate(std::size_t member, MlpWorkspace<T>& workspace, Block<T>& compact) {
    gather<T>({*full, stack.components[member], stack.masks[member]}, full_parameters, compact);
    return forward<T>(stack.components[member], compact, inputs.panel(), batch, workspace);
  }

  // Loss of one member; `full_gradient` becomes its gradient with respect to the shared full weights.
  double differentiate(std::size_t member, MlpWorkspace<T>& workspace, Block<T>& full_gradient) {
    Block<T> compact(stack.layout.size());
    Block<T> gradient(stack.layout.size());
    evaluate(member, workspace, compact);
    const double loss = gaussian_nll_gradient(kLoss, workspace.outputs(), targets.panel(), batch);
    backward<T>(stack.components[member], compact, workspace, {.block = gradient});
    std::ranges::fill(full_gradient, T(0));
    scatter_add<T>({*full, stack.components[member], stack.masks[member]}, gradient, full_gradient);
    return loss;
  }

  void expect_block(const std::string& kind, const Block<T>& block, double tolerance) const {
    for (const Slice& slice : full_layout.slices()) {
      const std::string name = kind + golden_name(slice.name);
      expect_close(golden[name],
                   std::vector<T>(block.begin() + slice.offset, block.begin() + slice.offset + slice.size()), tolerance,
                   name);
    }
  }

  static constexpr GaussianOptions kLoss{.variance_floor = 1e-6};
  Golden golden;
  MlpShape shape;
  std::size_t batch;
  std::size_t num_outputs;
  Layout full_layout;
  std::optional<Mlp> full;
  Block<T> full_parameters;
  MlpStack stack;
  PanelBuffer<T> inputs;
  PanelBuffer<T> targets;
};

template <class T>
struct GoldenPne : testing::Test {
  static constexpr double kTolerance = sizeof(T) == 8 ? 1e-9 : 1e-4;
};
using Precisions = testing::Types<float, double>;
TYPED_TEST_SUITE(GoldenPne, Precisions);

TYPED_TEST(GoldenPne, ForwardDensityAndLoss) {
  using T = TypeParam;
  DISSENT_REQUIRE_GOLDEN();
  for (const char* file : kFiles) {
    SCOPED_TRACE(file);
    Network<T> network(file);
    const Golden& golden = network.golden;
    MlpWorkspace<T> workspace(network.stack.components, network.batch);
    Block<T> compact(network.stack.layout.size());
    const std::size_t num_members = network.stack.components.size();
    std::vector<T> mean(golden["mean"].size());
    std::vector<T> stddev(mean.size());
    for (std::size_t m = 0; m < num_members; ++m) {
      const Panel<T> heads = network.evaluate(m, workspace, compact);
      const double loss = gaussian_nll(network.kLoss, heads, network.targets.panel(), network.batch);
      EXPECT_NEAR(loss / golden["train_loss"](m), 1, this->kTolerance);
      exponentiate_log_stddev({}, heads.slice(network.num_outputs, network.num_outputs), network.batch);
      const std::size_t row_stride = num_members * network.num_outputs;
      unpack_rows(heads.slice(0, network.num_outputs), network.batch,
                  RowTable<T>{mean.data() + m * network.num_outputs, row_stride});
      unpack_rows(heads.slice(network.num_outputs, network.num_outputs), network.batch,
                  RowTable<T>{stddev.data() + m * network.num_outputs, row_stride});
    }
    expect_close(golden["mean"], mean, this->kTolerance, "mean");
    expect_close(golden["std"], stddev, this->kTolerance, "std");
    const std::vector<double> means(mean.begin(), mean.end());
    const std::vector<double> stddevs(stddev.begin(), stddev.end());
    const std::vector<double> y = golden["y"].template as<double>();
    const std::size_t D = network.num_outputs;
    std::vector<T> log_densities;
    for (std::size_t k = 0; k < num_members * network.batch; ++k) {
      const std::size_t b = k % network.batch;
      const std::size_t at = (b * num_members + k / network.batch) * D;
      const DiagonalGaussian component{std::span(means).subspan(at, D), std::span(stddevs).subspan(at, D)};
      log_densities.push_back(static_cast<T>(log_density(component, std::span(y).subspan(b * D, D))));
    }
    expect_close(golden["log_prob"], log_densities, this->kTolerance, "log_prob");
  }
}

TYPED_TEST(GoldenPne, Gradient) {
  using T = TypeParam;
  DISSENT_REQUIRE_GOLDEN();
  for (const char* file : kFiles) {
    SCOPED_TRACE(file);
    Network<T> network(file);
    MlpWorkspace<T> workspace(network.stack.components, network.batch);
    Block<T> gradient(network.full_layout.size());
    const double loss = network.differentiate(2, workspace, gradient);
    EXPECT_NEAR(loss / network.golden["loss_mask2"].scalar(), 1, this->kTolerance);
    network.expect_block("g.", gradient, this->kTolerance);
  }
}

TYPED_TEST(GoldenPne, ThreeAdamStepsWithSharedWeights) {
  using T = TypeParam;
  DISSENT_REQUIRE_GOLDEN();
  for (const char* file : {"pne_D1_layers3_width50.npz", "pne_D11_layers3_width50.npz"}) {
    SCOPED_TRACE(file);
    Network<T> network(file);
    MlpWorkspace<T> workspace(network.stack.components, network.batch);
    Block<T> gradient(network.full_layout.size());
    Block<T> first(gradient.size());
    Block<T> second(gradient.size());
    const std::size_t members[] = {0, 3, 1};
    for (std::size_t step = 0; step < 3; ++step) {
      const double loss = network.differentiate(members[step], workspace, gradient);
      EXPECT_NEAR(loss / network.golden["adam3_losses"](step), 1, this->kTolerance);
      adam_step({.learning_rate = 5e-4}, step + 1, AdamRange<T>{network.full_parameters, gradient, first, second});
    }
    network.expect_block("a3.", network.full_parameters, this->kTolerance);
  }
}

}  // namespace
}  // namespace dissent
