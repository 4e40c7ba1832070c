#include "dissent/ensemble/trend.hpp"

#include <Eigen/Dense>
#include <algorithm>
#include <cmath>
#include <limits>

#include "dissent/base/error.hpp"

namespace dissent {
namespace {

using Matrix = Eigen::MatrixXd;
using Vector = Eigen::VectorXd;

constexpr double kMostUnexplained = 0.05;  // share of a target's variance that a trend may leave
constexpr double kBeyond = 3;              // a line goes on for this many ranges of a column
constexpr std::size_t kMostColumns = 500;
constexpr std::size_t kMostRows = 5000;  // more tell hardly anything new about a line
constexpr std::size_t kFewestRows = 20;
constexpr double kRidges[] = {1e-6, 1e-4, 1e-2, 1};  // times the number of rows, of columns with unit variance

// Centred columns of the rows used, and their scales.
struct Rows {
  Matrix values;
  Vector mean;
  Vector scale;
};

Rows centred(std::span<const double> values, std::size_t num_columns, std::size_t stride) {
  const auto count = static_cast<Eigen::Index>((values.size() / num_columns + stride - 1) / stride);
  const auto columns = static_cast<Eigen::Index>(num_columns);
  Rows rows{Matrix(count, columns), Vector(columns), Vector(columns)};
  for (Eigen::Index k = 0; k < count * columns; ++k) {
    const auto row = static_cast<std::size_t>(k / columns) * stride;
    rows.values(k / columns, k % columns) = values[row * num_columns + static_cast<std::size_t>(k % columns)];
  }
  rows.mean = rows.values.colwise().mean();
  rows.values.rowwise() -= rows.mean.transpose();
  rows.scale = (rows.values.colwise().squaredNorm() / static_cast<double>(count)).cwiseSqrt();
  for (Eigen::Index c = 0; c < columns; ++c) {
    const bool constant = !(rows.scale[c] > 1e-12 * std::abs(rows.mean[c]) && rows.scale[c] > 0);
    rows.scale[c] = constant ? 1 : rows.scale[c];
    rows.values.col(c) /= rows.scale[c];
  }
  return rows;
}

void limit_inputs(std::span<const double> inputs, std::size_t num_columns, Trend& trend) {
  trend.low.assign(num_columns, std::numeric_limits<double>::max());
  trend.high.assign(num_columns, std::numeric_limits<double>::lowest());
  for (std::size_t k = 0; k < inputs.size(); ++k) {
    trend.low[k % num_columns] = std::min(trend.low[k % num_columns], inputs[k]);
    trend.high[k % num_columns] = std::max(trend.high[k % num_columns], inputs[k]);
  }
  for (std::size_t c = 0; c < num_columns; ++c) {
    const double reach = kBeyond * (trend.high[c] - trend.low[c]);
    trend.low[c] -= reach;
    trend.high[c] += reach;
  }
}

}  // namespace

void Trend::add(std::span<const double> inputs, std::size_t points_per_input, double factor,
                std::span<double> values) const {
  if (empty()) {
    return;
  }
  const std::size_t C = centre.size();
  const std::size_t D = slope.size() / C;
  std::vector<double> x(C);
  std::vector<double> shift(D);
  double* at = values.data();
  for (std::size_t n = 0; n < inputs.size() / C; ++n) {
    for (std::size_t c = 0; c < C; ++c) {
      x[c] = std::clamp(inputs[n * C + c], low[c], high[c]) - centre[c];
    }
    for (std::size_t d = 0; d < D; ++d) {
      double sum = 0;
      for (std::size_t c = 0; c < C; ++c) {
        sum += slope[d * C + c] * x[c];
      }
      shift[d] = factor * sum;
    }
    for (std::size_t k = 0; k < points_per_input * D; ++k) {
      *at++ += shift[k % D];
    }
  }
}

void Trend::check_values(std::size_t num_input_columns, std::size_t num_outputs) const {
  if (empty()) {
    return;
  }
  check(centre.size() == num_input_columns && low.size() == num_input_columns && high.size() == num_input_columns &&
            slope.size() == num_input_columns * num_outputs,
        "a trend of {} slopes for {} input columns and {} targets", slope.size(), num_input_columns, num_outputs);
  const auto finite = [](const std::vector<double>& values) {
    return std::ranges::all_of(values, [](double value) { return std::isfinite(value); });
  };
  check(finite(centre) && finite(low) && finite(high) && finite(slope), "a trend must be finite");
  for (std::size_t c = 0; c < num_input_columns; ++c) {
    check(low[c] <= high[c], "a trend from {} to {} of column {}", low[c], high[c], c);
  }
}

// With the eigenvectors V of the inputs' covariance, ridge regression is diagonal, and so is the share h of a row in
// its own prediction; leaving the row out changes its error to error / (1 - h).
Trend fit_trend(std::span<const double> inputs, std::size_t num_input_columns, std::span<const double> targets,
                std::size_t num_outputs) {
  const std::size_t num_rows = inputs.size() / num_input_columns;
  Trend trend;
  if (num_rows < kFewestRows || num_input_columns > kMostColumns) {
    return trend;
  }
  const std::size_t stride = (num_rows + kMostRows - 1) / kMostRows;
  const Rows x = centred(inputs, num_input_columns, stride);
  const Rows y = centred(targets, num_outputs, stride);
  if (!x.values.allFinite() || !y.values.allFinite() || !x.scale.allFinite() || !y.scale.allFinite()) {
    return trend;  // numbers whose squares overflow
  }
  const auto n = static_cast<double>(x.values.rows());
  const Eigen::SelfAdjointEigenSolver<Matrix> eigen(x.values.transpose() * x.values);
  const Matrix u = x.values * eigen.eigenvectors();
  const Matrix squares = u.cwiseAbs2();
  const Matrix uy = u.transpose() * y.values;
  const double rows_of_mean = 1 - 1 / n;
  Vector least = Vector::Constant(y.values.cols(), kMostUnexplained * n / (rows_of_mean * rows_of_mean));
  Matrix best = Matrix::Zero(uy.rows(), uy.cols());
  for (const double ridge : kRidges) {
    const Vector inverse = (eigen.eigenvalues().array().max(0) + ridge * n).inverse();
    const Matrix weights = inverse.asDiagonal() * uy;
    const Vector kept = (rows_of_mean - (squares * inverse).array()).max(1e-6);
    const Matrix errors = kept.cwiseInverse().asDiagonal() * (y.values - u * weights);
    for (Eigen::Index d = 0; d < errors.cols(); ++d) {
      const double error = errors.col(d).squaredNorm();
      if (error < least[d]) {
        least[d] = error;
        best.col(d) = weights.col(d);
      }
    }
  }
  if (best.isZero(0) || !best.allFinite()) {
    return trend;
  }
  const Matrix slope =
      y.scale.asDiagonal() * (eigen.eigenvectors() * best).transpose() * x.scale.cwiseInverse().asDiagonal();
  trend.centre.assign(x.mean.begin(), x.mean.end());
  for (Eigen::Index d = 0; d < slope.rows(); ++d) {
    trend.slope.insert(trend.slope.end(), slope.row(d).begin(), slope.row(d).end());
  }
  limit_inputs(inputs, num_input_columns, trend);
  return trend;
}

}  // namespace dissent
