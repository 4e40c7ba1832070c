// Small data for tests of Gaussian processes: normal inputs, and targets that are a smooth function of them plus noise.
#pragma once

#include <cmath>
#include <cstdint>

#include "dissent/base/random.hpp"
#include "dissent/process/kernel.hpp"

namespace dissent {

inline RowMatrix normal_rows(Eigen::Index rows, Eigen::Index columns, std::uint64_t index) {
  Stream stream(7, Purpose::kTest, index);
  RowMatrix out(rows, columns);
  stream.fill_normal(std::span(out.data(), static_cast<std::size_t>(out.size())));
  return out;
}

// sin(2 x_0) + x_1 / 2 (where there is an x_1), plus noise.
inline Eigen::VectorXd smooth_targets(const RowMatrix& inputs, double noise_stddev, std::uint64_t index) {
  Stream stream(8, Purpose::kTest, index);
  Eigen::VectorXd out(inputs.rows());
  for (Eigen::Index k = 0; k < inputs.rows(); ++k) {
    out[k] = std::sin(2 * inputs(k, 0)) + (inputs.cols() > 1 ? 0.5 * inputs(k, 1) : 0) + noise_stddev * stream.normal();
  }
  return out;
}

inline Hyperparameters some_hyperparameters(Eigen::Index columns) {
  Hyperparameters out;
  out.signal_variance = 1.3;
  out.noise_variance = 0.07;
  out.slope_variance = 0.4;
  out.length_scales = Eigen::VectorXd::LinSpaced(columns, 0.8, 2.1);
  return out;
}

}  // namespace dissent
