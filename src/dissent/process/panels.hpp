// The matrices of Gaussian processes: Eigen's, and panels (matrix/panel.hpp) as Eigen sees them.
#pragma once

#include <Eigen/Core>

#include "dissent/matrix/panel.hpp"
#include "dissent/matrix/product.hpp"

namespace dissent {

using RowMatrix = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
using RowsRef = Eigen::Ref<const RowMatrix>;
using VectorRef = Eigen::Ref<const Eigen::VectorXd>;
using PanelMap = Eigen::Map<RowMatrix, 0, Eigen::OuterStride<>>;

// The first `columns` columns of a panel.
inline PanelMap mapped(Panel<double> panel, Eigen::Index columns) {
  return PanelMap(panel.data, static_cast<Eigen::Index>(panel.rows), columns,
                  Eigen::OuterStride<>(static_cast<Eigen::Index>(panel.stride)));
}

inline Eigen::Map<const RowMatrix, 0, Eigen::OuterStride<>> mapped(Panel<const double> panel, Eigen::Index columns) {
  return {panel.data, static_cast<Eigen::Index>(panel.rows), columns,
          Eigen::OuterStride<>(static_cast<Eigen::Index>(panel.stride))};
}

inline PanelBuffer<double> make_panel(Eigen::Index rows, Eigen::Index columns) {
  return PanelBuffer<double>(static_cast<std::size_t>(rows), static_cast<std::size_t>(columns));
}

template <class Derived>
PanelBuffer<double> panel_of(const Eigen::MatrixBase<Derived>& matrix) {
  PanelBuffer<double> out = make_panel(matrix.rows(), matrix.cols());
  mapped(out.panel(), matrix.cols()) = matrix;
  return out;
}

// Rows [N x C] as the batch of a panel: C x N.
inline PanelBuffer<double> batch_of(const RowsRef& rows) { return panel_of(rows.transpose()); }

// For a matrix that lies in memory: a plain one, a map or a reference.
template <class Matrix>
Strided strided(const Matrix& matrix) {
  return {matrix.data(), static_cast<std::size_t>(matrix.rowStride()), static_cast<std::size_t>(matrix.colStride())};
}

}  // namespace dissent
