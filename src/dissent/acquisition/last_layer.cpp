#include "dissent/acquisition/last_layer.hpp"

#include <algorithm>
#include <cmath>

#include "dissent/ensemble/network_model.hpp"
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

constexpr float kFarthest = 1e15F;  // of an activation, so that products of rows far outside the data stay finite

// Copies the results of one component into its part of the block.
void fill_block(const Ensemble& model, const HeadBlock& from, const LastLayer& layout, LastLayer::Block& block) {
  const std::size_t m = from.component;
  for (std::size_t r = 0; r < from.heads.rows; ++r) {
    std::copy_n(from.heads.row(r), block.count, block.heads.row(m * layout.num_heads + r));
  }
  const auto factor =
      static_cast<float>(std::sqrt(static_cast<double>(model.num_components()) * model.weights().value[m]));
  const Panel<float> hidden = block.hidden.slice(layout.hidden_offset[m], from.hidden.rows + 1);
  for (std::size_t r = 0; r < from.hidden.rows; ++r) {
    std::transform(from.hidden.row(r), from.hidden.row(r) + block.count, hidden.row(r),
                   [&](float v) { return std::clamp(factor * v, -kFarthest, kFarthest); });
  }
  std::fill_n(hidden.row(from.hidden.rows), block.count, factor);
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
  result.num_rows = inputs.size() / model.num_input_columns();
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
  for (std::size_t at = 0; at < result.blocks.size(); ++at) {
    LastLayer::Block& block = result.blocks[at];
    block.begin = at * LastLayer::kBlock;
    block.count = std::min(LastLayer::kBlock, result.num_rows - block.begin);
    block.hidden = result.all_hidden.panel().slice(at * num_hidden, num_hidden);
    block.heads = result.all_heads.panel().slice(at * num_heads, num_heads);
  }
  model.visit_heads(inputs, with_heads, executor, [&](const HeadBlock& from) {
    fill_block(model, from, result, result.blocks[from.begin / LastLayer::kBlock]);
  });
  return result;
}

}  // namespace dissent
