// Training steps as fit() runs them: no allocation, and golden losses, gradients and Adam steps of the published
// models.
#include "dissent/ensemble/trainer.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "dissent/base/threads.hpp"
#include "dissent/ensemble/network_model.hpp"
#include "dissent/ensemble/output_map.hpp"
#include "ensemble/sample_rows.hpp"
#include "support/count_allocations.hpp"
#include "support/golden.hpp"
#include "support/masks.hpp"

namespace dissent {
namespace {

using test::Golden;
using test::GoldenArray;

ScaledRows scaled(const test::SampleRows& data) {
  const EnsembleColumns columns = data.columns();
  return {apply_scaling(columns.input_scaling, data.x), apply_scaling(columns.target_scaling, data.y)};
}

TEST(Trainer, NoStepAllocates) {
  ThreadPool pool(2);
  for (const std::size_t D : {1, 11}) {
    const test::SampleRows data = test::wide(100, D);
    for (const EnsembleOptions& options :
         {EnsembleOptions{.model = Model::kPne}, EnsembleOptions{.model = Model::kFlow},
          EnsembleOptions{.model = Model::kPne, .share_weights = true},
          EnsembleOptions{.model = Model::kFlow, .share_weights = true}}) {
      for (Executor* threads : std::initializer_list<Executor*>{nullptr, &pool}) {
        Ensemble model(options, data.columns());
        Trainer trainer(model, {.batch_size = 32}, scaled(data), 10);
        trainer.plan_epochs(10);
        const std::size_t before = test::num_allocations;
        for (std::size_t unit = 0; unit < trainer.num_units(); ++unit) {
          EXPECT_TRUE(std::isfinite(trainer.run_epochs(unit, 0, 3, threads)));
          EXPECT_TRUE(std::isfinite(trainer.validation_loss(unit)));
        }
        EXPECT_EQ(test::num_allocations, before) << model_name(options.model) << " " << D;
      }
    }
  }
  const std::size_t before = test::num_allocations;
  ::operator delete(::operator new(1));          // a new-expression might be left out by the compiler
  EXPECT_EQ(test::num_allocations, before + 1);  // the count counts
}

TEST(Trainer, RowsOutOfABootstrapSampleAreHeldOut) {
  const test::SampleRows data = test::wide(50, 1);
  for (const bool bootstrap : {false, true}) {
    Ensemble model({.bootstrap = bootstrap}, data.columns());
    EXPECT_EQ(Trainer(model, {}, scaled(data), 0).holds_out(0), bootstrap);
    EXPECT_TRUE(Trainer(model, {}, scaled(data), 1).holds_out(0));
    EXPECT_FALSE(Trainer(model, fit_preset("paper").train, scaled(data), 0).holds_out(0));
  }
}

// The validation loss of an ensemble of one component is the mean over the rows its sample left out.
TEST(Trainer, ValidationIsTheLossOfTheRowsLeftOut) {
  const test::SampleRows data = test::wide(60, 2);
  for (const Model kind : {Model::kPne, Model::kFlow}) {
    Ensemble model({.model = kind, .num_components = 1, .seed = 3}, data.columns());
    Trainer trainer(model, {.batch_size = 8}, scaled(data), 0);
    std::vector<bool> drawn(60);
    Stream stream(3, Purpose::kBootstrap, 0);
    for (int k = 0; k < 60; ++k) {
      drawn[stream.below(60)] = true;
    }
    const std::vector<double> density = model.log_density(data.x, data.y);
    std::vector<double> left_out;
    for (std::size_t n = 0; n < 60; ++n) {
      if (!drawn[n]) {
        left_out.push_back(-density[n]);
      }
    }
    const double loss = 2 * (trainer.validation_loss(0) + 0.5 * kLogTwoPi);
    EXPECT_NEAR(loss + model.columns().target_scaling.log_scale_sum(), test::mean_of(left_out), 1e-4);
  }
}

// The published models share one set of weights under five masks and train one of them a step. So does an ensemble of
// one component with shared weights, whose state is handed from mask to mask.
class GoldenModel {
 public:
  explicit GoldenModel(const std::string& file) : golden(Golden::open(file)), flow_(golden.contains("z")) {
    const auto name = [&](const char* array, std::vector<std::string>& names, Scaling& scaling) {
      for (std::size_t k = 0; k < golden[array].shape[1]; ++k) {
        names.push_back(fmt::format("{}{}", array, k));
        scaling.offset.push_back(0);
        scaling.scale.push_back(1);
      }
    };
    name("x", columns_.inputs, columns_.input_scaling);
    name("y", columns_.targets, columns_.target_scaling);
  }

  Ensemble ensemble(std::vector<std::size_t> members) const {
    const GoldenArray& flags = golden["masks"];
    const std::size_t depth = golden.contains("p.fc2.weight") || flow_ ? flags.shape[1] : 1;
    EnsembleOptions options{.model = flow_ ? Model::kFlow : Model::kPne,
                            .num_components = members.size(),
                            .hidden = std::vector<std::size_t>(depth, flags.shape[2]),
                            .share_weights = true,
                            .scaling = ScalingKind::kNone};
    std::vector<Mask> masks;
    for (const std::size_t member : members) {
      std::vector<std::vector<double>> layers;
      for (std::size_t l = 0; l < depth; ++l) {
        layers.push_back(flags.row(member, l));
      }
      masks.push_back(test::mask_from_flags(layers));
    }
    std::vector<Permutation> permutations;
    if (flow_) {
      const std::vector<double>& order = golden["p._transform._transforms.0._permutation"].data;
      permutations.emplace_back(order.begin(), order.end());
      options.flow_hidden.assign(2, golden["p." + kFlow + "fc1.bias"].size());
      if (golden["p." + kFlow + "fc3.bias"].size() == (columns_.targets.size() + 1) / 2 * 29) {
        options.transform.kind = TransformKind::kRationalQuadratic;
      }
    }
    Ensemble model(options, columns_, masks, permutations);
    for (const Slice& slice : model.stack().layout.slices()) {
      std::ranges::copy(values("p.", slice), values_of(slice, model.parameters()).begin());
    }
    return model;
  }

  ScaledRows rows() const { return {golden["x"].as<float>(), golden["y"].as<float>()}; }

  // Each array of a block, times `factor`, must agree within `tolerance` of its largest value.
  void expect_block(const Ensemble& model, std::span<const float> block, double factor, const std::string& kind,
                    double tolerance) const {
    for (const Slice& slice : model.stack().layout.slices()) {
      const std::vector<double> expected = values(kind, slice);
      double scale = 0;
      for (const double value : expected) {
        scale = std::max(scale, std::abs(value));
      }
      const std::span<const float> found = values_of(slice, block);
      for (std::size_t k = 0; k < found.size(); ++k) {
        ASSERT_NEAR(factor * static_cast<double>(found[k]), expected[k], tolerance * scale)
            << kind << slice.name << "[" << k << "]";
      }
    }
  }

  // Parameters after three steps. Adam divides a gradient by its own size: one that is lost in the rounding of the
  // others (below 1e-4 of the largest) takes whole steps in either direction. Few are.
  void expect_adam(const Ensemble& model, std::span<const float> second_moment) const {
    std::size_t num_lost = 0;
    for (const Slice& slice : model.stack().layout.slices()) {
      const std::vector<double> expected = values("a3.", slice);
      const std::span<const float> found = values_of(slice, std::span<const float>(model.parameters()));
      const std::span<const float> squares = values_of(slice, second_moment);
      const float largest = *std::ranges::max_element(squares);
      double scale = 0;
      for (const double value : expected) {
        scale = std::max(scale, std::abs(value));
      }
      for (std::size_t k = 0; k < found.size(); ++k) {
        const bool lost = squares[k] > 0 && squares[k] < 1e-8F * largest;
        num_lost += lost ? 1 : 0;
        ASSERT_NEAR(found[k], expected[k], lost ? 2 * 3 * 5e-4 : 1e-4 * scale) << slice.name << "[" << k << "]";
      }
    }
    EXPECT_LT(num_lost, model.parameters().size() / 50);
  }

  // Published losses are per row for flows; per output, without the constant, for networks alone.
  double loss(double ours) const { return loss_factor() * (ours + (flow_ ? 0.5 * kLogTwoPi : 0)); }
  double loss_factor() const { return flow_ ? static_cast<double>(columns_.targets.size()) : 1; }

  Golden golden;

 private:
  static inline const std::string kFlow = "_transform._transforms.1.transform_net.";
  static inline const std::string kBase = "_distribution._context_encoder.";

  // What golden arrays say of a slice. Theirs has both heads of a base in one matrix, ours after each other.
  std::vector<double> values(const std::string& kind, const Slice& slice) const {
    const std::string name = slice.name.substr(slice.name.rfind('.', slice.name.rfind('.') - 1) + 1);
    const std::string layer = name.substr(0, name.find('.'));
    const std::string end = name.substr(name.find('.'));
    const std::string hidden = layer.starts_with("hidden") ? fmt::format("fc{}", layer[6] - '0' + 1) : "";
    if (slice.name.starts_with("flow.")) {
      return golden[kind + kFlow + (hidden.empty() ? "fc3" : hidden) + end].data;
    }
    if (!hidden.empty()) {
      return golden[kind + (flow_ ? kBase : "") + hidden + end].data;
    }
    if (!flow_) {
      return golden[kind + (layer == "mean" ? "mean_linear" : "log_std_linear") + end].data;
    }
    const std::vector<double>& both = golden[kind + kBase + "fc3" + end].data;
    const auto half = static_cast<std::ptrdiff_t>(both.size() / 2);
    return layer == "mean" ? std::vector<double>(both.begin(), both.begin() + half)
                           : std::vector<double>(both.begin() + half, both.end());
  }

  bool flow_;
  EnsembleColumns columns_;
};

constexpr const char* kGoldenFiles[] = {
    "nflowsbase_D3_hids20.npz",      "nflowsbase_D11_hids20.npz",    "nflowsbase_D11_hids50.npz",
    "nflowsbase_D11_hids20_rqs.npz", "nflowsbase_D27_hids20.npz",    "nflowsbase_D257_hids20.npz",
    "pne_D1_layers3_width50.npz",    "pne_D11_layers1_width100.npz", "pne_D11_layers3_width50.npz",
    "pne_D27_layers3_width50.npz",   "pne_D257_layers3_width50.npz"};

TEST(TrainerGolden, PredictionsAndDensities) {
  DISSENT_REQUIRE_GOLDEN();
  for (const char* file : kGoldenFiles) {
    SCOPED_TRACE(file);
    const GoldenModel published(file);
    const Golden& golden = published.golden;
    const Ensemble model = published.ensemble({0, 1, 2, 3, 4});
    const Mixture<double> mixture = model.predict(golden["x"].data);
    const bool flow = model.output_map().flow() != nullptr;
    for (const auto& [ours, theirs] : {std::pair(&mixture.mean, flow ? "base_mean" : "mean"),
                                       std::pair(&mixture.stddev, flow ? "base_std" : "std")}) {
      const std::vector<double>& expected = golden[theirs].data;
      const double scale = *std::ranges::max_element(expected);
      for (std::size_t k = 0; k < expected.size(); ++k) {
        ASSERT_NEAR((*ours)[k], expected[k], 1e-4 * scale) << theirs << "[" << k << "]";
      }
    }
    const std::vector<double> density = model.log_density(golden["x"].data, golden["y"].data);
    for (std::size_t n = 0; n < density.size(); ++n) {
      const double expected = golden["ens_loglik"](n);
      ASSERT_NEAR(density[n], expected, 1e-4 * std::max(10.0, std::abs(expected))) << n;
    }
  }
}

// After the first step from zero moments, the first moment is a tenth of the gradient.
TEST(TrainerGolden, LossAndGradientOfAStep) {
  DISSENT_REQUIRE_GOLDEN();
  for (const char* file : kGoldenFiles) {
    SCOPED_TRACE(file);
    const GoldenModel published(file);
    Ensemble model = published.ensemble({2});
    Trainer trainer(model,
                    {.batch_size = 0, .cosine_decay = false, .weight_decay = 0, .flow_weight_decay = 0, .clip_norm = 0},
                    published.rows(), 0);
    const double loss = trainer.run_epochs(0, 0, 1, nullptr);
    EXPECT_NEAR(published.loss(loss) / published.golden["loss_mask2"].scalar(), 1, 1e-4);
    published.expect_block(model, trainer.first_moment(), 10 * published.loss_factor(), "g.", 1e-4);
  }
}

TEST(TrainerGolden, ThreeStepsOfAdamUnderThreeMasks) {
  DISSENT_REQUIRE_GOLDEN();
  for (const char* file : kGoldenFiles) {
    SCOPED_TRACE(file);
    const GoldenModel published(file);
    if (!published.golden.contains("adam3_losses")) {
      continue;
    }
    std::vector<std::vector<float>> state;
    for (const std::size_t step : {0, 1, 2}) {
      const std::size_t masks[] = {0, 3, 1};
      Ensemble model = published.ensemble({masks[step]});
      Trainer trainer(model,
                      {.batch_size = 0,
                       .learning_rate = 5e-4,
                       .cosine_decay = false,
                       .weight_decay = 0,
                       .flow_weight_decay = 0,
                       .clip_norm = 0},
                      published.rows(), 0);
      const std::span<float> blocks[] = {model.parameters(), trainer.first_moment(), trainer.second_moment()};
      for (std::size_t k = 0; k < state.size(); ++k) {
        std::ranges::copy(state[k], blocks[k].begin());
      }
      const double loss = trainer.run_epochs(0, step, step + 1, nullptr);
      EXPECT_NEAR(published.loss(loss) / published.golden["adam3_losses"](step), 1, 1e-4);
      state.clear();
      for (const std::span<float> block : blocks) {
        state.emplace_back(block.begin(), block.end());
      }
      if (step == 2) {
        published.expect_adam(model, trainer.second_moment());
      }
    }
  }
}

}  // namespace
}  // namespace dissent
