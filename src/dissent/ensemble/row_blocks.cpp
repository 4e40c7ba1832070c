#include "dissent/ensemble/row_blocks.hpp"

#include <algorithm>

#include "dissent/matrix/rows.hpp"

namespace dissent {

RowPacker::RowPacker(const Scaling& scaling)
    : scaling_(scaling), scaled_(kModelBlock * scaling.num_columns()), panel_(scaling.num_columns(), kModelBlock) {}

Panel<const float> RowPacker::pack(std::span<const double> rows) {
  return pack_repeated(rows, 1, 0, rows.size() / scaling_.num_columns());
}

Panel<const float> RowPacker::pack_repeated(std::span<const double> rows, std::size_t times, std::size_t begin,
                                            std::size_t end) {
  const std::size_t num_columns = scaling_.num_columns();
  for (std::size_t row = begin; row < end; ++row) {
    const double* const from = rows.data() + row / times * num_columns;
    float* const to = scaled_.data() + (row - begin) * num_columns;
    if (row > begin && row % times != 0) {  // the same as the row before
      std::copy_n(to - num_columns, num_columns, to);
      continue;
    }
    for (std::size_t c = 0; c < num_columns; ++c) {
      to[c] = static_cast<float>(scaling_.scaled(c, from[c]));
    }
  }
  pack_rows({scaled_.data(), num_columns}, nullptr, end - begin, panel_.panel());
  return panel_.panel();
}

}  // namespace dissent
