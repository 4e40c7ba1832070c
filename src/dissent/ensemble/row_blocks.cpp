#include "dissent/ensemble/pack_scaled.hpp"

#include "dissent/matrix/rows.hpp"

namespace dissent {

void pack_scaled(const Scaling& scaling, std::span<const double> rows, std::span<float> scratch, Panel<float> panel) {
  const std::size_t num_columns = scaling.num_columns();
  const std::size_t num_rows = rows.size() / num_columns;
  for (std::size_t b = 0; b < num_rows; ++b) {
    for (std::size_t c = 0; c < num_columns; ++c) {
      scratch[b * num_columns + c] = static_cast<float>(scaling.scaled(c, rows[b * num_columns + c]));
    }
  }
  pack_rows({scratch.data(), num_columns}, nullptr, num_rows, panel);
}

}  // namespace dissent
