#include "dissent/matrix/rows.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
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

// By the formula, and to the bit the same for an item alone and among others.
TEST(Rows, UnpackMapsInDoublePrecision) {
  for (const std::size_t cols : {1, 3, 4, 5, 21}) {
    for (const std::size_t batch : {1, 4, 7, 33}) {
      PanelBuffer<float> buffer(cols, batch);
      std::vector<double> offset(cols);
      std::vector<double> scale(cols);
      for (std::size_t c = 0; c < cols; ++c) {
        offset[c] = 0.1 * static_cast<double>(c) - 1;
        scale[c] = 3 + static_cast<double>(c);
        for (std::size_t b = 0; b < batch; ++b) {
          buffer.panel()(c, b) = 0.3F * static_cast<float>((5 * b + 3 * c) % 17) - 2;
        }
      }
      for (const bool exponential : {false, true}) {
        const UnpackMap map{offset.data(), scale.data(), exponential, -1.5, 2};
        std::vector<double> all(batch * (cols + 2), -7.0);
        unpack_rows(buffer.panel(), batch, map, {all.data(), cols + 2});
        for (std::size_t b = 0; b < batch; ++b) {
          PanelBuffer<float> one(cols, 1);
          std::vector<double> alone(cols);
          for (std::size_t c = 0; c < cols; ++c) {
            const double value = one.panel()(c, 0) = buffer.panel()(c, b);
            const double image = exponential ? std::exp(std::clamp(value, -1.5, 2.0)) : value;
            ASSERT_NEAR(all[b * (cols + 2) + c], offset[c] + scale[c] * image, 1e-13 * scale[c] * 8);
          }
          unpack_rows(one.panel(), 1, map, {alone.data(), cols});
          ASSERT_TRUE(
              std::equal(alone.begin(), alone.end(), all.begin() + static_cast<std::ptrdiff_t>(b * (cols + 2))));
          ASSERT_EQ(all[b * (cols + 2) + cols], -7.0);
        }
      }
    }
  }
}

}  // namespace
}  // namespace dissent
