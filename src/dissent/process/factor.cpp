// Cholesky factors with a stated jitter; inverses at a third of the cost of solving for every unit vector. Everything
// goes by blocks, so that nearly all work is in the products of matrix/product.hpp. A factor is built as its transpose
// U, row by row, because products run along rows: K = U' U.
#include "dissent/process/factor.hpp"

#include <algorithm>
#include <cmath>

#include "dissent/process/panels.hpp"

namespace dissent {
namespace {

using Eigen::Index;
using Eigen::MatrixXd;

constexpr double kFirstJitter = 1e-10;
constexpr double kLargestJitter = 1.5e-4;
constexpr std::size_t kBlock = 64;  // a multiple of kLanes: blocks begin where vectors may
constexpr std::size_t kColumnBlock = 2 * kBlock;

// The panel from column `first` on.
Panel<double> from_column(Panel<double> panel, std::size_t first) {
  return {panel.data + first, panel.rows, panel.stride};
}

// Factors a diagonal block in place; false if it is not positive.
bool factor_block(Panel<double> block) {
  for (std::size_t k = 0; k < block.rows; ++k) {
    double* row = block.row(k);
    if (!(row[k] > 0) || !std::isfinite(row[k])) {
      return false;
    }
    const double root = std::sqrt(row[k]);
    for (std::size_t j = k; j < block.rows; ++j) {
      row[j] /= root;
    }
    for (std::size_t i = k + 1; i < block.rows; ++i) {
      for (std::size_t j = i; j < block.rows; ++j) {
        block(i, j) -= row[i] * row[j];
      }
    }
  }
  return true;
}

// The upper triangle of `matrix` becomes U. For each row of blocks from the top: subtracts the products of the rows
// already done, factors the diagonal block, and solves the rest of the row with it.
bool factor_in_place(Panel<double> matrix) {
  for (std::size_t begin = 0; begin < matrix.rows; begin += kBlock) {
    const std::size_t size = std::min(kBlock, matrix.rows - begin);
    const Panel<double> above = from_column(matrix.slice(0, begin), begin);
    const Panel<double> here = from_column(matrix.slice(begin, size), begin);
    const std::size_t columns = matrix.rows - begin;
    multiply({Strided{above.data, matrix.stride, 1}.transposed(), -1, above, here, columns, true});
    if (!factor_block(here)) {
      return false;
    }
    if (columns > size) {
      solve_lower(Strided{here.data, matrix.stride, 1}.transposed(), from_column(here, size), columns - size);
    }
  }
  return true;
}

}  // namespace

double CholeskyFactor::log_determinant() const {
  return 2 * mapped(upper.panel(), static_cast<Index>(upper.capacity())).diagonal().array().log().sum();
}

MatrixXd CholeskyFactor::solve(const Eigen::Ref<const MatrixXd>& b) const {
  PanelBuffer<double> values = panel_of(b);
  solve_lower(lower(), values.panel(), values.capacity());
  solve_upper(lower(), values.panel(), values.capacity());
  return mapped(values.panel(), b.cols());
}

CholeskyFactor factorise(const PanelBuffer<double>& matrix) {
  CholeskyFactor out;
  const auto size = static_cast<Index>(matrix.capacity());
  const double mean = size == 0 ? 1 : mapped(matrix.panel(), size).diagonal().mean();
  for (double share = 0; share <= kLargestJitter; share = std::max(kFirstJitter, 10 * share)) {
    out.upper = matrix;
    out.jitter = share * mean;
    mapped(out.upper.panel(), size).diagonal().array() += out.jitter;
    out.sound = factor_in_place(out.upper.panel());
    if (out.sound) {
      break;
    }
  }
  return out;
}

// For each row of blocks from the top: X_i = L_ii^-1 (I_i - sum_k<i L_ik X_k). X_k ends at its diagonal, so the sum for
// a block of columns begins with its own rows.
PanelBuffer<double> inverse_of_lower(const CholeskyFactor& factor) {
  const std::size_t n = factor.upper.capacity();
  const Strided lower = factor.lower();
  PanelBuffer<double> out(n, n);
  const Panel<double> all = out.panel();
  for (std::size_t begin = 0; begin < all.rows; begin += kBlock) {
    const std::size_t size = std::min(kBlock, all.rows - begin);
    const Panel<double> here = all.slice(begin, size);
    for (std::size_t column = 0; column < begin; column += kColumnBlock) {
      multiply({lower.at(begin, column), -1, from_column(all.slice(column, begin - column), column),
                from_column(here, column), std::min(kColumnBlock, begin - column)});
    }
    for (std::size_t k = 0; k < size; ++k) {
      here(k, begin + k) = 1;
    }
    solve_lower(lower.at(begin, begin), here, begin + size);
  }
  return out;
}

MatrixXd inverse_from(const PanelBuffer<double>& inverse_lower) {
  const Panel<const double> lower = inverse_lower.panel();
  const auto size = static_cast<Index>(lower.rows);
  PanelBuffer<double> values = make_panel(size, size);
  for (std::size_t begin = 0; begin < lower.rows; begin += kBlock) {  // row block i needs only rows >= i of L^-1
    const std::size_t rows = std::min(kBlock, lower.rows - begin);
    const Panel<const double> below = lower.slice(begin, lower.rows - begin);
    multiply({Strided{below.data + begin, lower.stride, 1}.transposed(), 1, below, values.panel().slice(begin, rows),
              begin + rows});
  }
  MatrixXd out = mapped(values.panel(), size);
  out.triangularView<Eigen::StrictlyUpper>() = out.transpose();
  return out;
}

}  // namespace dissent
