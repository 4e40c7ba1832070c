#include "dissent/acquisition/last_layer.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "dissent/base/executor.hpp"
#include "dissent/ensemble/pack_scaled.hpp"
#include "dissent/network/mlp.hpp"

namespace dissent {
namespace {

std::vector<float> column(Panel<const float> panel, std::size_t at) {
  std::vector<float> values(panel.rows);
  for (std::size_t r = 0; r < panel.rows; ++r) {
    values[r] = panel(r, at);
  }
  return values;
}

constexpr float kFarthest = 1e15F;  // of an activation, so that products of rows far outside of the data stay finite

struct Scratch {
  explicit Scratch(const Ensemble& model)
      : rows(LastLayer::kBlock * model.num_inputs()),
        inputs(model.num_inputs(), LastLayer::kBlock),
        network(model.stack().components, LastLayer::kBlock),
        component(model.stack().scratch_size) {}
  std::vector<float> rows;  // scaled
  PanelBuffer<float> inputs;
  MlpWorkspace<float> network;
  Block<float> component;  // of shared weights
};

void fill_block(const Ensemble& model, std::span<const double> inputs, const LastLayer& layout, Scratch& scratch,
                LastLayer::Block& block) {
  const std::size_t C = model.num_inputs();
  const std::size_t D = model.num_outputs();
  pack_scaled(model.columns().input_scaling, inputs.subspan(block.begin * C, block.count * C), scratch.rows,
              scratch.inputs.panel());
  const Panel<const float> packed = scratch.inputs.panel();
  for (std::size_t m = 0; m < model.num_components(); ++m) {
    const Mlp& mlp = model.stack().components[m];
    const std::span<const float> own = component_block<float>(model.stack(), m, model.parameters(), scratch.component);
    if (block.heads.rows > 0) {
      const Panel<float> said = forward<float>(mlp, own, packed, block.count, scratch.network);
      for (std::size_t r = 0; r < said.rows; ++r) {
        // As in predictions (Ensemble::limit_certainty).
        const float least = r < D ? -std::numeric_limits<float>::infinity() : model.log_stddev_floor()[m * D + (r - D)];
        std::transform(said.row(r), said.row(r) + block.count, block.heads.row(m * layout.num_heads + r),
                       [&](float v) { return std::max(v, least); });
      }
    } else {
      forward_hidden<float>(mlp, own, packed, block.count, scratch.network);
    }
    const Panel<const float> seen = last_hidden(mlp, scratch.network);
    const auto factor =
        static_cast<float>(std::sqrt(static_cast<double>(model.num_components()) * model.weights().value[m]));
    const Panel<float> hidden = block.hidden.slice(layout.hidden_offset[m], seen.rows + 1);
    for (std::size_t r = 0; r < seen.rows; ++r) {
      std::transform(seen.row(r), seen.row(r) + block.count, hidden.row(r),
                     [&](float v) { return std::clamp(factor * v, -kFarthest, kFarthest); });
    }
    std::fill_n(hidden.row(seen.rows), block.count, factor);
  }
}

}  // namespace

std::vector<float> LastLayer::hidden_of(std::size_t row) const {
  return column(blocks[row / kBlock].hidden, row % kBlock);
}

std::vector<float> LastLayer::heads_of(std::size_t row) const {
  return column(blocks[row / kBlock].heads, row % kBlock);
}

LastLayer last_layer(const Ensemble& model, std::span<const double> inputs, bool with_heads, Executor* executor) {
  LastLayer result;
  result.num_rows = inputs.size() / model.num_inputs();
  result.num_heads = 2 * model.num_outputs();
  result.hidden_offset = {0};
  for (const Mlp& mlp : model.stack().components) {
    result.hidden_offset.push_back(result.hidden_offset.back() + mlp.layers().back().num_inputs + 1);
  }
  result.blocks.resize((result.num_rows + LastLayer::kBlock - 1) / LastLayer::kBlock);
  const std::size_t num_hidden = result.hidden_offset.back();
  const std::size_t num_heads = with_heads ? model.num_components() * result.num_heads : 0;
  result.all_hidden = PanelBuffer<float>(result.blocks.size() * num_hidden, LastLayer::kBlock);
  result.all_heads = PanelBuffer<float>(result.blocks.size() * num_heads, LastLayer::kBlock);
  const auto make = [&] { return Scratch(model); };
  for_blocks(executor, result.num_rows, LastLayer::kBlock, make,
             [&](std::size_t begin, std::size_t end, Scratch& scratch) {
               LastLayer::Block& block = result.blocks[begin / LastLayer::kBlock];
               block.begin = begin;
               block.count = end - begin;
               block.hidden = result.all_hidden.panel().slice(begin / LastLayer::kBlock * num_hidden, num_hidden);
               block.heads = result.all_heads.panel().slice(begin / LastLayer::kBlock * num_heads, num_heads);
               fill_block(model, inputs, result, scratch, block);
             });
  return result;
}

}  // namespace dissent
