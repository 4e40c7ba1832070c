#include "dissent/acquisition/gradient_sketch.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "acquisition/models.hpp"
#include "dissent/acquisition/methods.hpp"
#include "dissent/ensemble/network_model.hpp"
#include "dissent/network/mlp.hpp"

namespace dissent {
namespace {

using test::drawn_model;
using test::drawn_rows;

using Gradient = std::vector<double>;  // a block of the component's network

double dot(const Gradient& a, const Gradient& b) {
  double sum = 0;
  for (std::size_t k = 0; k < a.size(); ++k) {
    sum += a[k] * b[k];
  }
  return sum;
}

// The gradient of <s, means of a component> at one row, by the network's own backward pass in double precision.
Gradient explicit_gradient(const Ensemble& model, std::size_t component, std::span<const double> row,
                           std::span<const float> s) {
  const Mlp& network = model.stack().components[component];
  std::vector<float> scratch(model.stack().scratch_size);
  const std::span<const float> block =
      component_block<float>(model.stack(), component, model.parameters(), std::span(scratch));
  const Block<double> parameters(block.begin(), block.end());
  PanelBuffer<double> inputs(row.size(), 1);
  for (std::size_t c = 0; c < row.size(); ++c) {
    const Scaling& scaling = model.columns().input_scaling;
    inputs.panel()(c, 0) = (row[c] - scaling.offset[c]) / scaling.scale[c];
  }
  MlpWorkspace<double> workspace(network, 1);
  const Panel<double> outputs = forward<double>(network, parameters, inputs.panel(), 1, workspace);
  for (std::size_t r = 0; r < outputs.rows; ++r) {
    outputs(r, 0) = r < s.size() ? static_cast<double>(s[r]) : 0.0;
  }
  Block<double> gradient(parameters.size());
  backward<double>(network, parameters, workspace, {.block = gradient});
  return {gradient.begin(), gradient.end()};
}

// Feature k of one row from outer products, as the header says.
double explicit_feature(const Ensemble& model, const GradientSketch& sketch, std::span<const double> row, std::size_t k,
                        std::span<const float> s) {
  double sum = 0;
  for (std::size_t m = 0; m < model.num_components(); ++m) {
    const Mlp& network = model.stack().components[m];
    const Gradient gradient = explicit_gradient(model, m, row, s);
    for (std::size_t l = 0; l < network.layers().size(); ++l) {
      const Mlp::Layer& layer = network.layers()[l];
      const GradientSketch::Layer& onto = sketch.layer(m, l);
      const bool heads = onto.delta.empty();
      // At the heads the gradient is s x (h, 1), of which <s, .> / D leaves (h, 1).
      for (std::size_t r = 0; r < (heads ? s.size() : layer.num_outputs); ++r) {
        const double left =
            static_cast<double>(heads ? s[r] / static_cast<float>(s.size()) : onto.delta[k * layer.num_outputs + r]);
        double right = static_cast<double>(onto.bias[k]) * gradient[layer.bias + r];
        for (std::size_t c = 0; c < layer.num_inputs; ++c) {
          right += static_cast<double>(onto.input[k * layer.num_inputs + c]) *
                   gradient[layer.weight + r * layer.num_inputs + c];
        }
        sum += left * right;
      }
    }
  }
  return sum;
}

// Of all outputs and components: what inner products of features estimate.
double explicit_product(const Ensemble& model, std::span<const double> a, std::span<const double> b) {
  double sum = 0;
  for (std::size_t m = 0; m < model.num_components(); ++m) {
    for (std::size_t d = 0; d < model.num_outputs(); ++d) {
      std::vector<float> s(model.num_outputs());
      s[d] = 1;
      sum += static_cast<double>(model.num_components()) * model.weights().value[m] *
             dot(explicit_gradient(model, m, a, s), explicit_gradient(model, m, b, s));
    }
  }
  return sum;
}

Gradient feature_of(const GradientSketch& sketch, std::span<const double> rows, std::size_t row) {
  const GradientSketch::Features features = sketch.features(rows, nullptr);
  const std::vector<float> column = features.view().of(row);
  return {column.begin(), column.end()};
}

// One output, a direction for each, and more outputs than directions.
TEST(GradientSketch, ProjectsTheGradientsOfAllLayers) {
  for (const std::size_t num_outputs : {1UL, 3UL, 20UL}) {
    const Ensemble model = drawn_model(
        {.num_inputs = 2, .num_outputs = num_outputs, .num_components = 2, .weights = {0.25, 0.75}, .gain = 1});
    Stream draw(5, Purpose::kTest);
    const GradientSketch sketch(model, draw);
    const std::vector<double> rows = drawn_rows(300, 2, 3);
    EXPECT_EQ(sketch.num_directions(), std::min<std::size_t>(num_outputs, GradientSketch::kMostDirections));
    const GradientSketch::Features features = sketch.features(rows, nullptr);
    for (const std::size_t row : {0UL, 255UL, 299UL}) {
      const std::vector<float> found = features.view().of(row);
      for (std::size_t g = 0; g < sketch.num_directions(); ++g) {
        for (const std::size_t k : {sketch.first_feature(g), sketch.first_feature(g + 1) - 1}) {
          const double expected =
              explicit_feature(model, sketch, std::span(rows).subspan(2 * row, 2), k, sketch.direction(g));
          EXPECT_NEAR(static_cast<double>(found[k]), expected, 1e-4 * (1 + std::abs(expected))) << row << " " << k;
        }
      }
    }
  }
}

// Means over 60 sketches of 512 features. The draws are fixed, so the test passes or fails for good; with others a
// relative error beyond 0.1 is one of more than four standard errors.
TEST(GradientSketch, InnerProductsAreThoseOfGradientsOnAverage) {
  for (const std::size_t num_outputs : {1UL, 3UL, 20UL}) {
    const Ensemble model = drawn_model(
        {.num_inputs = 2, .num_outputs = num_outputs, .num_components = 2, .weights = {0.25, 0.75}, .gain = 1});
    const std::vector<double> rows = drawn_rows(2, 2, 3);
    const std::span<const double> a = std::span(rows).first(2);
    const std::span<const double> b = std::span(rows).last(2);
    const double aa = explicit_product(model, a, a);
    const double bb = explicit_product(model, b, b);
    double found_aa = 0;
    double found_ab = 0;
    constexpr int kSketches = 60;
    for (int seed = 0; seed < kSketches; ++seed) {
      Stream draw(static_cast<std::uint64_t>(seed), Purpose::kTest);
      const GradientSketch sketch(model, draw);
      const Gradient feature_a = feature_of(sketch, rows, 0);
      found_aa += dot(feature_a, feature_a) / kSketches;
      found_ab += dot(feature_a, feature_of(sketch, rows, 1)) / kSketches;
    }
    EXPECT_NEAR(found_aa, aa, 0.1 * aa);
    EXPECT_NEAR(found_ab, explicit_product(model, a, b), 0.1 * std::sqrt(aa * bb));
  }
}

TEST(GradientSketch, KnowsSharedWeights) {
  EnsembleOptions options{.model = Model::kPne, .num_components = 2, .hidden = {6, 5}};
  options.share_weights = true;
  const Scaling unit{{0, 0}, {1, 1}};
  const Ensemble model(options, {numbered_names("x", 2), {"y"}, unit, Scaling{{0}, {1}}});
  Stream draw(5, Purpose::kTest);
  const GradientSketch sketch(model, draw);
  const std::vector<double> rows = drawn_rows(1, 2, 3);
  EXPECT_NEAR(feature_of(sketch, rows, 0)[7], explicit_feature(model, sketch, rows, 7, sketch.direction(0)), 1e-5);
}

TEST(LcmdGrad, TakesRowsFarFromThoseTakenAndLabelled) {
  const Ensemble model = drawn_model({.num_inputs = 2});
  std::vector<double> candidates = drawn_rows(300, 2, 1);
  const std::vector<double> training(candidates.begin(), candidates.begin() + 100);  // the first 50 candidates
  candidates[2 * 299] = 40;                                                          // far away
  std::copy_n(candidates.begin() + 2 * 298, 2, candidates.begin() + 2 * 297);        // two rows that are the same
  const Choice choice = lcmd_grad({model, {training, {}}, 30, Stream(1, Purpose::kAcquire), nullptr}, candidates);
  EXPECT_EQ(choice.rows.front(), 299U);
  EXPECT_TRUE(std::ranges::all_of(choice.rows, [](std::size_t row) { return row >= 50; }));
  EXPECT_LE(std::ranges::count_if(choice.rows, [](std::size_t row) { return row == 297 || row == 298; }), 1);
}

}  // namespace
}  // namespace dissent
