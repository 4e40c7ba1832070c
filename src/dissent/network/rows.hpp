// Between row-major tables (one row per item, as users hold them) and panels (one row per feature): transposition, with
// a choice of rows on the way in. Neither allocates.
#pragma once

#include <cstddef>
#include <cstdint>

#include "dissent/network/panel.hpp"

namespace dissent {

template <class T>
struct RowTable {
  T* data = nullptr;
  std::size_t row_stride = 0;  // elements from one item to the next
};

// panel[c][b] = table[chosen[b]][c] for b < batch, where a null `chosen` stands for 0, 1, 2, ...; zero in the padding
// columns. Rows are the panel's.
void pack_rows(RowTable<const float> table, const std::uint32_t* chosen, std::size_t batch, Panel<float> panel);
void pack_rows(RowTable<const double> table, const std::uint32_t* chosen, std::size_t batch, Panel<double> panel);

// table[b][c] = panel[c][b] for b < batch.
void unpack_rows(Panel<const float> panel, std::size_t batch, RowTable<float> table);
void unpack_rows(Panel<const double> panel, std::size_t batch, RowTable<double> table);

// One linear map per column, given by arrays of panel.rows numbers.
struct ColumnScaling {
  const double* offset = nullptr;
  const double* scale = nullptr;
};

// table[b][c] = offset[c] + scale[c] * panel[c][b] for b < batch, in double precision.
void unpack_rows(Panel<const float> panel, std::size_t batch, const ColumnScaling& scaling, RowTable<double> table);

}  // namespace dissent
