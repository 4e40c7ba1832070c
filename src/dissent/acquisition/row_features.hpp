// Features of rows in blocks, as methods that compare distances read them; a view that owns nothing.
#pragma once

#include <cstddef>
#include <vector>

#include "dissent/ensemble/row_blocks.hpp"
#include "dissent/matrix/panel.hpp"

namespace dissent {

struct RowFeatures {
  static constexpr std::size_t kBlock = kModelBlock;

  struct Block {
    std::size_t begin = 0;
    std::size_t count = 0;
    Panel<const float> values;  // a column for each row
  };

  std::size_t num_rows = 0;
  std::vector<Block> blocks;  // of kBlock rows, the last one shorter

  std::vector<float> of(std::size_t row) const {
    const Panel<const float> values = blocks[row / kBlock].values;
    std::vector<float> column(values.rows);
    for (std::size_t k = 0; k < values.rows; ++k) {
      column[k] = values(k, row % kBlock);
    }
    return column;
  }
};

}  // namespace dissent
