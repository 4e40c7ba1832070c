#include "dissent/acquisition/gradient_sketch.hpp"

#include <algorithm>
#include <cmath>

#include "dissent/ensemble/network_model.hpp"
#include "dissent/matrix/linear.hpp"
#include "dissent/network/mlp.hpp"

namespace dissent {
namespace {

constexpr std::size_t kFeaturesAtATime = 32;  // whose factors stay in the cache
constexpr float kFarthest = 1e15F;            // so that products of rows far outside the data stay finite

std::vector<float> normal_values(std::size_t count, double factor, Stream& draw) {
  std::vector<float> values(count);
  std::ranges::generate(values, [&] { return static_cast<float>(factor * draw.normal()); });
  return values;
}

std::vector<float> output_directions(std::size_t num_outputs, Stream& draw) {
  const bool signs = num_outputs > GradientSketch::kMostDirections;
  const std::size_t count = std::min(num_outputs, GradientSketch::kMostDirections);
  std::vector<float> directions(count * num_outputs);
  if (signs) {
    std::ranges::generate(directions, [&] { return draw.below(2) == 0 ? -1.0F : 1.0F; });
  } else {
    for (std::size_t d = 0; d < count; ++d) {
      directions[d * num_outputs + d] = static_cast<float>(std::sqrt(static_cast<double>(num_outputs)));
    }
  }
  return directions;
}

std::vector<PanelBuffer<float>> buffers(std::span<const Mlp> networks) {
  std::vector<PanelBuffer<float>> result;
  for (std::size_t l = 0; l < networks.front().shape().hidden.size(); ++l) {
    std::size_t width = 0;
    for (const Mlp& network : networks) {
      width = std::max(width, network.shape().hidden[l]);
    }
    result.emplace_back(width, kModelBlock);
  }
  return result;
}

}  // namespace

// What a thread computes for one component and a block of rows. Index l: layer l's outputs.
struct GradientSketch::Scratch {
  explicit Scratch(const MlpStack& stack)
      : parameters(stack.scratch_size), hidden(buffers(stack.components)), delta(buffers(stack.components)) {}

  // The input of layer l.
  Panel<const float> input_of(const Mlp& network, std::size_t l) {
    return l == 0 ? inputs : hidden[l - 1].panel(network.layers()[l].num_inputs);
  }

  dissent::Block<float> parameters;        // of shared weights
  std::span<const float> block;            // where the component finds its parameters
  Panel<const float> inputs;               // of the network
  std::vector<PanelBuffer<float>> hidden;  // activations
  std::vector<PanelBuffer<float>> delta;   // gradients with respect to the pre-activations
  PanelBuffer<float> left{kFeaturesAtATime, kModelBlock};
  PanelBuffer<float> right{kFeaturesAtATime, kModelBlock};
};

GradientSketch::GradientSketch(const Ensemble& model, Stream& draw)
    : model_(model), num_outputs_(model.num_outputs()), directions_(output_directions(num_outputs_, draw)) {
  const auto M = static_cast<double>(model.num_components());
  for (std::size_t m = 0; m < model.num_components(); ++m) {
    const Mlp& network = model.stack().components[m];
    const double factor = std::sqrt(M * model.weights().value[m] / static_cast<double>(kFeatures));
    std::vector<Layer>& layers = layers_.emplace_back();
    for (std::size_t l = 0; l < network.layers().size(); ++l) {
      const bool heads = l + 1 == network.layers().size();
      const Mlp::Layer& layer = network.layers()[l];
      const double scale = heads ? factor * std::sqrt(static_cast<double>(num_outputs_)) : factor;
      Layer& projection = layers.emplace_back();
      projection.delta = normal_values(heads ? 0 : kFeatures * layer.num_outputs, 1, draw);
      projection.input = normal_values(kFeatures * layer.num_inputs, scale, draw);
      projection.bias = normal_values(kFeatures, scale, draw);
    }
  }
}

void GradientSketch::forward(std::size_t component, const RowBlock& rows, Scratch& scratch) const {
  const Mlp& network = model_.stack().components[component];
  scratch.block = component_block<float>(model_.stack(), component, model_.parameters(), scratch.parameters);
  scratch.inputs = rows.scaled;
  for (std::size_t l = 0; l + 1 < network.layers().size(); ++l) {
    const Mlp::Layer& layer = network.layers()[l];
    affine(Affine<float>{.weight = scratch.block.data() + layer.weight,
                         .weight_row_stride = layer.num_inputs,
                         .bias = scratch.block.data() + layer.bias,
                         .in = scratch.input_of(network, l),
                         .out = scratch.hidden[l].panel(layer.num_outputs),
                         .batch = rows.count,
                         .finish = Finish::kRelu,
                         .factor = {}});
  }
}

// Takes the direction at the heads, which all rows share, down to the first hidden layer.
void GradientSketch::backward(std::size_t component, std::size_t g, std::size_t count, Scratch& scratch) const {
  const Mlp& network = model_.stack().components[component];
  const std::size_t num_hidden = scratch.hidden.size();
  if (num_hidden == 0) {
    return;
  }
  const Mlp::Layer& heads = network.layers().back();
  for (std::size_t j = 0; j < heads.num_inputs; ++j) {
    float sum = 0;
    for (std::size_t d = 0; d < num_outputs_; ++d) {
      sum += direction(g)[d] * scratch.block[heads.weight + d * heads.num_inputs + j];
    }
    const float* active = scratch.hidden[num_hidden - 1].panel().row(j);
    float* delta = scratch.delta[num_hidden - 1].panel().row(j);
    std::transform(active, active + padded_batch(count), delta, [&](float h) { return h > 0 ? sum : 0.0F; });
  }
  for (std::size_t l = num_hidden; l-- > 1;) {
    const Mlp::Layer& layer = network.layers()[l];
    affine(Affine<float>{.weight = scratch.block.data() + layer.weight,
                         .weight_row_stride = 1,
                         .weight_column_stride = layer.num_inputs,
                         .in = scratch.delta[l].panel(layer.num_outputs),
                         .out = scratch.delta[l - 1].panel(layer.num_inputs),
                         .batch = count,
                         .finish = Finish::kReluDerivative,
                         .factor = scratch.hidden[l - 1].panel(layer.num_inputs)});
  }
}

// Adds to the features of direction g: products of the projected factors, layer by layer.
void GradientSketch::add_products(std::size_t component, std::size_t g, std::size_t count, Scratch& scratch,
                                  Panel<float> features) const {
  const Mlp& network = model_.stack().components[component];
  const std::size_t end = first_feature(g + 1);
  for (std::size_t first = first_feature(g); first < end; first += kFeaturesAtATime) {
    const std::size_t num = std::min(kFeaturesAtATime, end - first);
    const auto project = [&](const std::vector<float>& onto, const float* bias, Panel<const float> in,
                             Panel<float> out) {
      affine(Affine<float>{.weight = onto.data() + first * in.rows,
                           .weight_row_stride = in.rows,
                           .bias = bias,
                           .in = in,
                           .out = out,
                           .batch = count,
                           .factor = {}});
    };
    const Panel<float> left = scratch.left.panel(num);
    const Panel<float> right = scratch.right.panel(num);
    for (std::size_t l = 0; l < network.layers().size(); ++l) {
      const Layer& onto = layer(component, l);
      project(onto.input, onto.bias.data() + first, scratch.input_of(network, l), right);
      const bool heads = onto.delta.empty();
      if (!heads) {
        project(onto.delta, nullptr, scratch.delta[l].panel(network.layers()[l].num_outputs), left);
      }
      for (std::size_t k = 0; k < num; ++k) {
        float* sum = features.row(first + k);
        for (std::size_t b = 0; b < count; ++b) {
          const float product = (heads ? 1 : left(k, b)) * std::clamp(right(k, b), -kFarthest, kFarthest);
          sum[b] = std::clamp(sum[b] + product, -kFarthest, kFarthest);
        }
      }
    }
  }
}

GradientSketch::Features GradientSketch::features(std::span<const double> inputs, Executor* executor) const {
  Features result;
  result.num_rows = inputs.size() / model_.num_input_columns();
  const std::size_t num_blocks = (result.num_rows + kModelBlock - 1) / kModelBlock;
  result.values = PanelBuffer<float>(num_blocks * kFeatures, kModelBlock);
  for_row_blocks(
      model_.columns().input_scaling, inputs, executor, [&] { return Scratch(model_.stack()); },
      [&](const RowBlock& rows, Scratch& scratch) {
        const Panel<float> features = result.values.panel().slice(rows.begin / kModelBlock * kFeatures, kFeatures);
        for (std::size_t m = 0; m < model_.num_components(); ++m) {
          forward(m, rows, scratch);
          for (std::size_t g = 0; g < num_directions(); ++g) {
            backward(m, g, rows.count, scratch);
            add_products(m, g, rows.count, scratch, features);
          }
        }
      });
  return result;
}

RowFeatures GradientSketch::Features::view() const {
  RowFeatures result{.num_rows = num_rows, .blocks = {}};
  for (std::size_t begin = 0; begin < num_rows; begin += kModelBlock) {
    result.blocks.push_back({.begin = begin,
                             .count = std::min(kModelBlock, num_rows - begin),
                             .values = values.panel().slice(begin / kModelBlock * kFeatures, kFeatures)});
  }
  return result;
}

}  // namespace dissent
