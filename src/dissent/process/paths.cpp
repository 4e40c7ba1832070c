// Pathwise conditioning: weights on features and on training rows, drawn once; evaluation is two products.
#include "dissent/process/paths.hpp"

#include <cmath>
#include <span>

#include "dissent/base/random.hpp"
#include "dissent/process/panels.hpp"

namespace dissent {

using Eigen::Index;
using Eigen::MatrixXd;

PathGroup::PathGroup(const Posterior& posterior, const FourierFeatures& features, const DrawSource& source, Index count)
    : hyperparameters_(posterior.hyperparameters()),
      data_weights_(1 + count, posterior.inputs().rows()),
      feature_weights_(count, features.size()) {
  MatrixXd residual(posterior.inputs().rows(), count);
  const auto fill = [](auto part, Stream& stream) {
    stream.fill_normal(std::span(part.data(), static_cast<std::size_t>(part.size())));
  };
  for (Index m = 0; m < count; ++m) {
    const auto draw = source.first + static_cast<std::uint64_t>(m);
    Stream stream = Stream(source.seed, Purpose::kPath, 1 + draw).substream(source.output);
    fill(feature_weights_.row(m), stream);
    fill(residual.col(m), stream);
  }
  if (posterior.extra_noise().size() == 0) {
    residual *= -std::sqrt(hyperparameters_.noise_variance);
  } else {
    residual.array().colwise() *= -(hyperparameters_.noise_variance + posterior.extra_noise().array()).sqrt();
  }
  const PanelBuffer<double> at_inputs = features.panel_at(hyperparameters_, posterior.inputs());
  PanelBuffer<double> prior = make_panel(count, posterior.inputs().rows());
  multiply({strided(feature_weights_), 1, at_inputs.panel(), prior.panel(), prior.capacity()});
  residual -= mapped(prior.panel(), residual.rows()).transpose();
  data_weights_.row(0) = posterior.weights().transpose();
  data_weights_.bottomRows(count) = posterior.factor().solve(residual).transpose();
}

PathValues PathGroup::at(const RowsRef& rows, const RowsRef& inputs, const FourierFeatures& features) const {
  const PanelBuffer<double> cross = covariance_panel(hyperparameters_, inputs, rows);
  const PanelBuffer<double> waves = features.panel_at(hyperparameters_, rows);
  PanelBuffer<double> values = make_panel(1 + size(), rows.rows());
  multiply({strided(data_weights_), 1, cross.panel(), values.panel(), values.capacity()});
  const Panel<double> residual = values.panel().slice(1, values.panel().rows - 1);
  multiply({strided(feature_weights_), 1, waves.panel(), residual, values.capacity(), true});
  return {mapped(values.panel().slice(0, 1), rows.rows()).row(0), mapped(residual, rows.rows()).transpose()};
}

}  // namespace dissent
