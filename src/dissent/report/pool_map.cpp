#include "dissent/report/pool_map.hpp"

#include <fmt/format.h>

#include <Eigen/Dense>
#include <algorithm>
#include <utility>

#include "dissent/report/chart.hpp"
#include "dissent/table/scaling.hpp"
#include "dissent/table/table.hpp"

namespace dissent::report {
namespace {

constexpr std::size_t kMostFitted = 1000;  // rows that the components are found from
using Matrix = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;

std::vector<double> column(std::span<const double> inputs, std::size_t num_columns, std::size_t which) {
  std::vector<double> values;
  for (std::size_t k = which; k < inputs.size(); k += num_columns) {
    values.push_back(inputs[k]);
  }
  return values;
}

struct Plane {
  Eigen::MatrixXd axes;  // [C][2], orthonormal
  double explained = 1;
};

// From the smaller of covariance [C][C] and Gram matrix [n][n], which have the same eigenvalues except for zeros.
Plane principal_plane(const Matrix& centred) {
  const bool wide = centred.cols() > centred.rows();
  const Eigen::MatrixXd square =
      wide ? Eigen::MatrixXd(centred * centred.transpose()) : Eigen::MatrixXd(centred.transpose() * centred);
  const Eigen::SelfAdjointEigenSolver<Eigen::MatrixXd> solver(square);
  const Eigen::MatrixXd last = solver.eigenvectors().rightCols(2).rowwise().reverse();
  Plane plane{wide ? Eigen::MatrixXd(centred.transpose() * last) : last};
  for (Eigen::Index k = 0; k < 2; ++k) {
    auto axis = plane.axes.col(k);
    if (const double length = axis.norm(); length > 0) {
      axis /= length;
    }
    Eigen::Index largest = 0;
    axis.cwiseAbs().maxCoeff(&largest);
    if (axis[largest] < 0) {
      axis = -axis;
    }
  }
  const double total = square.trace();
  plane.explained = total > 0 ? solver.eigenvalues().tail(2).sum() / total : 1;
  return plane;
}

}  // namespace

PoolMap map_rows(std::span<const double> inputs, const std::vector<std::string>& names) {
  const std::size_t C = names.size();
  if (C <= 2) {
    PoolMap map{.x = column(inputs, C, 0), .y = {}, .x_title = names[0], .y_title = ""};
    if (C == 2) {
      map.y = column(inputs, C, 1);
      map.y_title = names[1];
    }
    return map;
  }
  const std::size_t num_rows = inputs.size() / C;
  const Scaling scaling = fit_scaling(ScalingKind::kRobust, inputs, C);
  Matrix scaled(static_cast<Eigen::Index>(num_rows), static_cast<Eigen::Index>(C));
  for (std::size_t k = 0; k < inputs.size(); ++k) {
    scaled.data()[k] = scaling.scaled(k % C, inputs[k]);
  }
  const std::vector<std::size_t> fitted = drawn_rows(num_rows, kMostFitted);
  Matrix centred(static_cast<Eigen::Index>(std::max<std::size_t>(fitted.size(), 2)), scaled.cols());
  centred.setZero();
  for (std::size_t k = 0; k < fitted.size(); ++k) {
    centred.row(static_cast<Eigen::Index>(k)) = scaled.row(static_cast<Eigen::Index>(fitted[k]));
  }
  const Eigen::RowVectorXd mean = centred.topRows(static_cast<Eigen::Index>(fitted.size())).colwise().mean();
  centred.topRows(static_cast<Eigen::Index>(fitted.size())).rowwise() -= mean;
  const Plane plane = principal_plane(centred);
  const Eigen::MatrixXd placed = (scaled.rowwise() - mean) * plane.axes;
  PoolMap map{.x = {}, .y = {}, .x_title = "First principal component", .y_title = "Second principal component"};
  map.x.assign(placed.col(0).begin(), placed.col(0).end());
  map.y.assign(placed.col(1).begin(), placed.col(1).end());
  map.explained = plane.explained;
  return map;
}

}  // namespace dissent::report
