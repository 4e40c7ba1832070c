// Whole flows with their conditioners against golden passes of the published model (D > 1): z, log-determinants, the
// way back, and the gradient of the training loss with respect to every conditioner parameter.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "dissent/flow/flow.hpp"
#include "support/golden.hpp"

namespace dissent {
namespace {

using test::Golden;
using test::GoldenArray;

struct Case {
  const char* file;
  TransformKind kind;
  std::size_t hidden;
};

const std::string kLayer = "_transform._transforms.1.transform_net.";
const std::pair<std::string, std::string> kNames[] = {
    {"hidden0.weight", "fc1.weight"}, {"hidden0.bias", "fc1.bias"},       {"hidden1.weight", "fc2.weight"},
    {"hidden1.bias", "fc2.bias"},     {"transform.weight", "fc3.weight"}, {"transform.bias", "fc3.bias"}};

template <class T>
PanelBuffer<T> to_panel(const GoldenArray& table) {
  PanelBuffer<T> buffer(table.shape[1], table.shape[0]);
  for (std::size_t n = 0; n < table.shape[0]; ++n) {
    for (std::size_t c = 0; c < table.shape[1]; ++c) {
      buffer.panel()(c, n) = static_cast<T>(table(n, c));
    }
  }
  return buffer;
}

template <class T>
struct Model {
  Model(const Golden& golden, const Case& c)
      : batch(golden["y"].shape[0]), x(to_panel<T>(golden["x"])), y(to_panel<T>(golden["y"])) {
    const auto& order = golden["p._transform._transforms.0._permutation"].data;
    flow.emplace_back(CouplingShape{.num_inputs = golden["x"].shape[1],
                                    .num_outputs = golden["y"].shape[1],
                                    .transform = {.kind = c.kind},
                                    .hidden = {c.hidden, c.hidden}},
                      std::vector<Permutation>{Permutation(order.begin(), order.end())}, layout);
    block.resize(layout.size());
    for (const auto& [ours, theirs] : kNames) {
      const auto values = values_of(layout.find("flow.layer0." + ours), std::span<T>(block));
      const auto& weights = golden["p." + kLayer + theirs].data;
      EXPECT_EQ(values.size(), weights.size());
      std::copy(weights.begin(), weights.end(), values.begin());
    }
    workspace.emplace_back(flow[0], batch);
  }

  FlowResult<T> base() { return to_base<T>(flow[0], block, x.panel(), y.panel(), batch, workspace[0]); }

  std::size_t batch;
  Layout layout;
  std::vector<Flow> flow;
  Block<T> block;
  PanelBuffer<T> x, y;
  std::vector<FlowWorkspace<T>> workspace;
};

class FlowGolden : public testing::TestWithParam<Case> {};

template <class T>
void expect_forward(const Case& c, double tolerance) {
  const auto golden = Golden::open(c.file);
  Model<T> model(golden, c);
  const FlowResult<T> base = model.base();
  const double num_terms = static_cast<double>(model.flow[0].layers()[0].num_transformed());
  for (std::size_t n = 0; n < model.batch; ++n) {
    // The log-determinant is a sum of that many terms of order one, whatever it adds up to.
    EXPECT_NEAR(base.log_det[n], golden["logabsdet"](n), tolerance * num_terms) << n;
    for (std::size_t d = 0; d < golden["y"].shape[1]; ++d) {
      const double want = golden["z"](n, d);
      EXPECT_NEAR(base.values(d, n), want, tolerance * std::max(1.0, std::abs(want))) << n << " " << d;
    }
  }
}

TEST_P(FlowGolden, ToBaseDouble) {
  DISSENT_REQUIRE_GOLDEN();
  expect_forward<double>(GetParam(), 1e-9);
}
TEST_P(FlowGolden, ToBaseFloat) {
  DISSENT_REQUIRE_GOLDEN();
  expect_forward<float>(GetParam(), 1e-4);
}

TEST_P(FlowGolden, FromBaseDouble) {
  DISSENT_REQUIRE_GOLDEN();
  const auto golden = Golden::open(GetParam().file);
  Model<double> model(golden, GetParam());
  const auto z = to_panel<double>(golden["z"]);
  const auto back =
      from_base<double>(model.flow[0], model.block, model.x.panel(), z.panel(), model.batch, model.workspace[0]);
  for (std::size_t n = 0; n < model.batch; ++n) {
    EXPECT_NEAR(back.log_det[n], golden["inv_logabsdet"](n), 1e-9 * std::max(1.0, std::abs(golden["logabsdet"](n))));
    for (std::size_t d = 0; d < golden["y"].shape[1]; ++d) {
      const double want = golden["y"](n, d);
      EXPECT_NEAR(back.values(d, n), want, 1e-12 * std::max(1.0, std::abs(want))) << n << " " << d;
    }
  }
}

// loss = -mean_n [ln N(z_n; mean_n, stddev_n) + ln|det|_n] with the golden base of member 2.
template <class T>
void expect_gradient(const Case& c, double tolerance) {
  const auto golden = Golden::open(c.file);
  Model<T> model(golden, c);
  const FlowResult<T> base = model.base();
  const std::size_t D = golden["y"].shape[1];
  PanelBuffer<T> grad_base(D, model.batch);
  const double over_batch = 1.0 / static_cast<double>(model.batch);
  for (std::size_t n = 0; n < model.batch; ++n) {
    for (std::size_t d = 0; d < D; ++d) {
      const double stddev = golden["base_std"](n, 2, d);
      grad_base.panel()(d, n) =
          static_cast<T>(over_batch * (base.values(d, n) - golden["base_mean"](n, 2, d)) / (stddev * stddev));
    }
  }
  AlignedVector<T> grad_log_det(padded_batch(model.batch), static_cast<T>(-over_batch));
  Block<T> gradient(model.layout.size());
  backward<T>(model.flow[0], model.block, model.workspace[0], {grad_base.panel(), grad_log_det.data(), gradient});
  for (const auto& [ours, theirs] : kNames) {
    const auto got = values_of(model.layout.find("flow.layer0." + ours), std::span<T>(gradient));
    const auto& want = golden["g." + kLayer + theirs].data;
    double largest = 0;
    for (const double g : want) {
      largest = std::max(largest, std::abs(g));
    }
    ASSERT_GT(largest, 0);
    for (std::size_t k = 0; k < want.size(); ++k) {
      EXPECT_NEAR(got[k], want[k], tolerance * largest) << theirs << "[" << k << "]";
    }
  }
}

TEST_P(FlowGolden, GradientDouble) {
  DISSENT_REQUIRE_GOLDEN();
  const bool stored_in_float = std::string(GetParam().file).find("D257") != std::string::npos;
  expect_gradient<double>(GetParam(), stored_in_float ? 1e-7 : 1e-9);
}
TEST_P(FlowGolden, GradientFloat) {
  DISSENT_REQUIRE_GOLDEN();
  expect_gradient<float>(GetParam(), 1e-4);
}

INSTANTIATE_TEST_SUITE_P(NflowsBase, FlowGolden,
                         testing::Values(Case{"nflowsbase_D3_hids20.npz", TransformKind::kCubic, 20},
                                         Case{"nflowsbase_D11_hids20.npz", TransformKind::kCubic, 20},
                                         Case{"nflowsbase_D11_hids50.npz", TransformKind::kCubic, 50},
                                         Case{"nflowsbase_D11_hids20_rqs.npz", TransformKind::kRationalQuadratic, 20},
                                         Case{"nflowsbase_D27_hids20.npz", TransformKind::kCubic, 20},
                                         Case{"nflowsbase_D257_hids20.npz", TransformKind::kCubic, 20}),
                         [](const auto& info) {
                           const std::string file = info.param.file;
                           return file.substr(0, file.size() - 4);
                         });

// Which values a layer transforms, and how permutations act.
TEST(CouplingGolden, MasksAndPermutations) {
  DISSENT_REQUIRE_GOLDEN();
  const auto golden = Golden::open("coupling_mask_perm.npz");
  for (const std::size_t D : {2, 3, 4, 11, 27, 257}) {
    const std::string suffix = fmt::format("_{}", D);
    const auto& order = golden["perm" + suffix].data;
    const Permutation permutation(order.begin(), order.end());
    Layout layout;
    const Coupling layer({.num_inputs = 1, .num_outputs = D}, permutation, layout, "");
    EXPECT_EQ(layer.num_transformed(), golden["transform_features" + suffix].size());
    EXPECT_EQ(layer.num_kept(), golden["identity_features" + suffix].size());
    const Permutation inverse = inverse_permutation(permutation);
    for (std::size_t k = 0; k < D; ++k) {
      EXPECT_EQ(k < layer.num_transformed(), golden["mask" + suffix](k) == 1);
      EXPECT_EQ(permutation[k], golden["perm_forward_of_arange" + suffix](k));
      EXPECT_EQ(inverse[k], golden["perm_inverse_of_arange" + suffix](k));
    }
  }
}

}  // namespace
}  // namespace dissent
