// Products of large matrices in double precision, built from the small ones of linear.hpp:
//
//   multiply:      out[r][b] = (add ? out[r][b] : 0) + scale * sum_k left[r][k] * right[k][b]
//   solve_lower:   values <- L^-1 values, L lower triangular
//   solve_upper:   values <- L^-T values
//
// Blocks of the left side are copied so that they stay in the cache while the columns stream by. The order of summation
// depends only on the shapes, and a column's results only on that column. `values` are panels (panel.hpp): a row of the
// matrix is a row of the panel, of which `columns` columns count. Shapes are the caller's responsibility.
#pragma once

#include <cstddef>

#include "dissent/matrix/panel.hpp"

namespace dissent {

// A view of a matrix with any strides.
struct Strided {
  const double* data = nullptr;
  std::size_t row_stride = 0;
  std::size_t column_stride = 1;

  const double& operator()(std::size_t row, std::size_t column) const {
    return data[row * row_stride + column * column_stride];
  }
  Strided at(std::size_t row, std::size_t column) const {
    return {data + row * row_stride + column * column_stride, row_stride, column_stride};
  }
  Strided transposed() const { return {data, column_stride, row_stride}; }
};

struct Product {
  Strided left;
  double scale = 1;
  Panel<const double> right;  // right.rows: number of terms
  Panel<double> out;          // out.rows: number of results
  std::size_t columns = 0;
  bool add = false;
};

void multiply(const Product& product);

// L is square, with as many rows as `values`; its diagonal is not zero, and what lies above it is not read.
void solve_lower(const Strided& lower, Panel<double> values, std::size_t columns);
void solve_upper(const Strided& lower, Panel<double> values, std::size_t columns);

}  // namespace dissent
