// A triangular solve works in blocks of rows: first products with the rows already solved, then a small triangle, which
// is inverted so that it too is a product.
#include "dissent/matrix/product.hpp"

#include <algorithm>

#include "dissent/matrix/linear.hpp"

namespace dissent {
namespace {

constexpr std::size_t kRowBlock = 120;
constexpr std::size_t kTermBlock = 256;
constexpr std::size_t kTriangle = 30;

// Copies the left side term by term, each a run of `rows`.
void pack(const Strided& left, double scale, std::size_t rows, std::size_t terms, double* packed) {
  for (std::size_t k = 0; k < terms; ++k) {
    const double* from = &left(0, k);
    double* to = packed + k * rows;
    if (left.row_stride == 1) {  // a case of its own, so that it vectorises
      std::transform(from, from + rows, to, [scale](double value) { return scale * value; });
      continue;
    }
    for (std::size_t r = 0; r < rows; ++r) {
      to[r] = scale * from[r * left.row_stride];
    }
  }
}

// The inverse of a small lower triangle, term by term, as in pack(): [k][r] = (L^-1)_rk.
void invert_triangle(const Strided& lower, std::size_t size, double* packed) {
  std::fill_n(packed, size * size, 0.0);
  for (std::size_t k = 0; k < size; ++k) {
    double* column = packed + k * size;
    column[k] = 1;
    for (std::size_t j = k; j < size; ++j) {
      column[j] /= lower(j, j);
      for (std::size_t r = j + 1; r < size; ++r) {
        column[r] -= lower(r, j) * column[j];
      }
    }
  }
}

// values <- triangle values, or with its transpose; through a copy of the rows.
void multiply_triangle(const double* packed, bool transposed, Panel<double> values, std::size_t columns,
                       Panel<double> copy) {
  const std::size_t size = values.rows;
  for (std::size_t r = 0; r < size; ++r) {
    std::copy_n(values.row(r), padded_batch(columns), copy.row(r));
  }
  affine(Affine<double>{.weight = packed,
                        .weight_row_stride = transposed ? size : 1,
                        .weight_column_stride = transposed ? 1 : size,
                        .in = copy.slice(0, size),
                        .out = values,
                        .batch = columns,
                        .factor = {}});
}

}  // namespace

void multiply(const Product& product) {
  const std::size_t terms = product.right.rows;
  AlignedVector<double> packed(kRowBlock * std::min(kTermBlock, terms));
  for (std::size_t row = 0; row < product.out.rows; row += kRowBlock) {
    const std::size_t rows = std::min(kRowBlock, product.out.rows - row);
    for (std::size_t term = 0; term < std::max<std::size_t>(1, terms); term += kTermBlock) {
      const std::size_t count = std::min(kTermBlock, terms - term);
      pack(product.left.at(row, term), product.scale, rows, count, packed.data());
      affine(Affine<double>{.weight = packed.data(),
                            .weight_row_stride = 1,
                            .weight_column_stride = rows,
                            .in = product.right.slice(term, count),
                            .out = product.out.slice(row, rows),
                            .batch = product.columns,
                            .factor = {},
                            .add = product.add || term > 0});
    }
  }
}

void solve_lower(const Strided& lower, Panel<double> values, std::size_t columns) {
  PanelBuffer<double> copy(kTriangle, columns);
  AlignedVector<double> inverse(kTriangle * kTriangle);
  for (std::size_t block = 0; block < values.rows; block += kRowBlock) {
    const std::size_t end = std::min(values.rows, block + kRowBlock);
    multiply({lower.at(block, 0), -1, values.slice(0, block), values.slice(block, end - block), columns, true});
    for (std::size_t row = block; row < end; row += kTriangle) {
      const Panel<double> here = values.slice(row, std::min(kTriangle, end - row));
      multiply({lower.at(row, block), -1, values.slice(block, row - block), here, columns, true});
      invert_triangle(lower.at(row, row), here.rows, inverse.data());
      multiply_triangle(inverse.data(), false, here, columns, copy.panel());
    }
  }
}

void solve_upper(const Strided& lower, Panel<double> values, std::size_t columns) {
  PanelBuffer<double> copy(kTriangle, columns);
  AlignedVector<double> inverse(kTriangle * kTriangle);
  const Strided upper = lower.transposed();
  const std::size_t size = values.rows;
  for (std::size_t end = size; end > 0;) {
    const std::size_t row = (end - 1) / kTriangle * kTriangle;
    const Panel<double> here = values.slice(row, end - row);
    if (end < size) {
      multiply({upper.at(row, end), -1, values.slice(end, size - end), here, columns, true});
    }
    invert_triangle(lower.at(row, row), here.rows, inverse.data());
    multiply_triangle(inverse.data(), true, here, columns, copy.panel());
    end = row;
  }
}

}  // namespace dissent
