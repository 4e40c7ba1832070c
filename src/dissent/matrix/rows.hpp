// Between row-major tables (one row per item, as users hold them) and panels (one row per feature): transposition, with
// a choice of rows on the way in. Neither allocates.
#pragma once

#include <cstddef>
#include <cstdint>

#include "dissent/matrix/panel.hpp"

namespace dissent {

template <class T>
struct RowTable {
  T* data = nullptr;
  std::size_t row_stride = 0;  // elements from one item to the next
};

// panel[c][b] = table[chosen[b]][c] for b < batch and all rows c of the panel; a null `chosen` stands for 0, 1, 2, ....
// Padding columns become zero.
void pack_rows(RowTable<const float> table, const std::uint32_t* chosen, std::size_t batch, Panel<float> panel);
void pack_rows(RowTable<const double> table, const std::uint32_t* chosen, std::size_t batch, Panel<double> panel);

// table[b][c] = panel[c][b] for b < batch.
void unpack_rows(Panel<const float> panel, std::size_t batch, RowTable<float> table);
void unpack_rows(Panel<const double> panel, std::size_t batch, RowTable<double> table);

// How numbers change on their way out of a panel: v becomes offset[c] + scale[c] * v or, if exponential, offset[c] +
// scale[c] * exp(v clamped to [low, high]), low and high finite. Arrays of panel.rows numbers.
struct UnpackMap {
  const double* offset = nullptr;
  const double* scale = nullptr;
  bool exponential = false;
  double low = 0;
  double high = 0;
};

// table[b][c] = map(panel[c][b]) for b < batch, computed in double precision.
void unpack_rows(Panel<const float> panel, std::size_t batch, const UnpackMap& map, RowTable<double> table);

}  // namespace dissent
