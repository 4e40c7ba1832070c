// The inputs and outputs of the last layer of each component's network at each row: what gradient methods work from.
//
// The gradient of a loss with respect to a last layer is the outer product of its gradient with respect to the heads
// and of (last hidden activations, 1). Outer products are never formed: inner products of gradients factor,
//   <g x h, g' x h'> = <g, g'> <h, h'>.
// A component counts by its weight: its hidden part is multiplied by sqrt(M w_m), which is 1 for equal weights.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "dissent/base/executor.hpp"
#include "dissent/ensemble/ensemble.hpp"
#include "dissent/ensemble/row_blocks.hpp"
#include "dissent/matrix/panel.hpp"

namespace dissent {

struct LastLayer {
  static constexpr std::size_t kBlock = kModelBlock;

  // Panels: one column per row of the inputs; zero in columns beyond `count`.
  struct Block {
    std::size_t begin = 0;
    std::size_t count = 0;
    Panel<float> hidden;  // all components, one below the other: activations of the last hidden layer, and ones
    Panel<float> heads;   // all components: D means and D log-stddevs, in scaled units. No rows unless asked for
  };

  LastLayer() = default;
  LastLayer(LastLayer&&) = default;  // not copyable: blocks point into their own LastLayer

  std::size_t num_rows = 0;
  std::size_t num_heads = 0;               // 2 D
  std::vector<std::size_t> hidden_offset;  // component m has the rows [offset[m], offset[m + 1]) of `hidden`
  std::vector<Block> blocks;               // of kBlock rows, the last one shorter
  PanelBuffer<float> all_hidden;           // the blocks' panels, one below the other, in one allocation each:
  PanelBuffer<float> all_heads;            // many medium ones would go back to the system and fault in every time

  std::size_t num_components() const { return hidden_offset.size() - 1; }
  Panel<const float> hidden(const Block& block, std::size_t m) const {
    return block.hidden.slice(hidden_offset[m], hidden_offset[m + 1] - hidden_offset[m]);
  }
  Panel<const float> heads(const Block& block, std::size_t m) const {
    return block.heads.slice(m * num_heads, num_heads);
  }

  // Column `row` of the panels.
  std::vector<float> hidden_of(std::size_t row) const;
  std::vector<float> heads_of(std::size_t row) const;
};

// `inputs`: [N][C], finite, in the user's units.
LastLayer last_layer(const Ensemble& model, std::span<const double> inputs, bool with_heads, Executor* executor);

}  // namespace dissent
