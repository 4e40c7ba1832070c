// Random Fourier features: one product, then cosines and sines in vectors.
#include "dissent/process/features.hpp"

#include <cmath>
#include <numbers>

#include "dissent/base/error.hpp"
#include "dissent/base/random.hpp"
#include "dissent/process/panels.hpp"
#include "dissent/process/waves.hpp"

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

PanelBuffer<double> FourierFeatures::panel_at(const Hyperparameters& hyperparameters, const RowsRef& at) const {
  const auto pairs = static_cast<std::size_t>(frequencies_.cols());
  const PanelBuffer<double> scaled = batch_of(over_length_scales(hyperparameters, at));
  PanelBuffer<double> out = make_panel(size(), at.rows());
  const Panel<double> cosine = out.panel().slice(0, pairs);
  multiply({strided(frequencies_).transposed(), 1 / (2 * std::numbers::pi), scaled.panel(), cosine, out.capacity()});
  const double scale = std::sqrt(hyperparameters.signal_variance / static_cast<double>(pairs));
  waves({cosine, scale, cosine, out.panel().slice(pairs, pairs), out.capacity()});
  const Panel<double> linear = out.panel().slice(2 * pairs, static_cast<std::size_t>(frequencies_.rows()));
  mapped(linear, at.rows()) = std::sqrt(slope_per_column(hyperparameters)) * trend_rows(at).transpose();
  return out;
}

RowMatrix FourierFeatures::at(const Hyperparameters& hyperparameters, const RowsRef& at) const {
  const PanelBuffer<double> values = panel_at(hyperparameters, at);
  return mapped(values.panel(), at.rows()).transpose();
}

}  // namespace dissent
