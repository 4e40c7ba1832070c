#include "dissent/network/rows.hpp"

#include <gtest/gtest.h>

#include <vector>

namespace dissent {
namespace {

template <class T>
void check_round_trip(std::size_t cols, std::size_t batch) {
  const std::size_t row_stride = cols + 3;
  std::vector<T> table(2 * batch * row_stride);
  for (std::size_t k = 0; k < table.size(); ++k) {
    table[k] = static_cast<T>(k + 1);
  }
  std::vector<std::uint32_t> chosen(batch);
  for (std::size_t b = 0; b < batch; ++b) {
    chosen[b] = static_cast<std::uint32_t>((7 * b + 1) % (2 * batch));
  }
  for (const bool choose : {true, false}) {
    PanelBuffer<T> buffer(cols, batch);
    for (std::size_t c = 0; c < cols; ++c) {
      std::fill_n(buffer.panel().row(c), padded_batch(batch), T(-1));
    }
    pack_rows(RowTable<const T>{table.data(), row_stride}, choose ? chosen.data() : nullptr, batch, buffer.panel());
    std::vector<T> back(batch * row_stride, T(-2));
    unpack_rows(buffer.panel(), batch, RowTable<T>{back.data(), row_stride});
    for (std::size_t b = 0; b < batch; ++b) {
      const std::size_t row = choose ? chosen[b] : b;
      for (std::size_t c = 0; c < row_stride; ++c) {
        ASSERT_EQ(back[b * row_stride + c], c < cols ? table[row * row_stride + c] : T(-2));
      }
      for (std::size_t c = 0; c < cols; ++c) {
        ASSERT_EQ(buffer.panel()(c, b), table[row * row_stride + c]);
      }
    }
    for (std::size_t c = 0; c < cols; ++c) {
      for (std::size_t b = batch; b < padded_batch(batch); ++b) {
        ASSERT_EQ(buffer.panel()(c, b), T(0));
      }
    }
  }
}

TEST(Rows, PackAndUnpackTransposeAtAwkwardSizes) {
  for (const std::size_t cols : {1, 3, 4, 5, 14, 35}) {
    for (const std::size_t batch : {1, 2, 4, 7, 16, 255, 257}) {
      check_round_trip<float>(cols, batch);
      check_round_trip<double>(cols, batch);
    }
  }
}

}  // namespace
}  // namespace dissent
