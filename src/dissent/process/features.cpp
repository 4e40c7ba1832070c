// Random Fourier features: one product, then cosines and sines in vectors.
#include "dissent/process/features.hpp"

#include <cmath>
#include <numbers>

#include "dissent/base/error.hpp"
#include "dissent/base/random.hpp"

namespace dissent {

using Eigen::Index;

FourierFeatures::FourierFeatures(Index pairs, Index columns, std::uint64_t seed) : frequencies_(columns, pairs) {
  check(pairs > 0 && pairs % 8 == 0, "Gaussian process: feature pairs = {} must be a positive multiple of 8", pairs);
  const Stream stream(seed, Purpose::kPath, 0);
  for (Index p = 0; p < pairs; ++p) {
    Stream own = stream.substream(static_cast<std::uint64_t>(p));
    double chi_squared = 0;
    for (int k = 0; k < 5; ++k) {
      chi_squared += std::pow(own.normal(), 2);
    }
    const double scale = std::sqrt(5 / chi_squared);
    for (Index c = 0; c < columns; ++c) {
      frequencies_(c, p) = scale * own.normal();
    }
  }
}

RowMatrix FourierFeatures::at(const Hyperparameters& hyperparameters, const RowsRef& at) const {
  using Single = Eigen::Array<float, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
  const Index pairs = frequencies_.cols();
  RowMatrix turns(at.rows(), pairs);
  turns.noalias() = over_length_scales(hyperparameters, at) * frequencies_;
  turns *= 1 / (2 * std::numbers::pi);
  turns.array() -= turns.array().round();
  const Single angle = (2 * std::numbers::pi * turns.array()).cast<float>();
  const double scale = std::sqrt(hyperparameters.signal_variance / static_cast<double>(pairs));
  const Single cosine = angle.cos();
  const Single sine = angle.sin();
  RowMatrix out(at.rows(), size());
  out.leftCols(pairs) = scale * cosine.cast<double>();
  out.middleCols(pairs, pairs) = scale * sine.cast<double>();
  out.rightCols(at.cols()) = std::sqrt(slope_per_column(hyperparameters)) * trend_rows(at);
  return out;
}

}  // namespace dissent
