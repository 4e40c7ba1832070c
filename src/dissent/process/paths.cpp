// Pathwise conditioning: weights on features and on training rows, drawn once; evaluation is two products.
#include "dissent/process/paths.hpp"

#include <cmath>
#include <span>

#include "dissent/base/random.hpp"

namespace dissent {

using Eigen::Index;
using Eigen::MatrixXd;

PathGroup::PathGroup(const Posterior& posterior, const FourierFeatures& features, const DrawSource& source, Index count)
    : hyperparameters_(posterior.hyperparameters()),
      mean_weights_(posterior.weights()),
      data_weights_(posterior.inputs().rows(), count),
      feature_weights_(features.size(), count) {
  const auto fill = [](auto column, Stream& stream) {
    stream.fill_normal(std::span(column.data(), static_cast<std::size_t>(column.size())));
  };
  for (Index m = 0; m < count; ++m) {
    const auto draw = source.first + static_cast<std::uint64_t>(m);
    Stream stream = Stream(source.seed, Purpose::kPath, 1 + draw).substream(source.output);
    fill(feature_weights_.col(m), stream);
    fill(data_weights_.col(m), stream);
  }
  data_weights_ *= -std::sqrt(hyperparameters_.noise_variance);
  data_weights_.noalias() -= features.at(hyperparameters_, posterior.inputs()) * feature_weights_;
  data_weights_ = posterior.factor().solve(data_weights_);
}

PathValues PathGroup::at(const RowsRef& rows, const RowsRef& inputs, const FourierFeatures& features) const {
  const MatrixXd cross = covariance(hyperparameters_, rows, inputs);
  PathValues out;
  out.mean = cross * mean_weights_;
  out.residual.noalias() = features.at(hyperparameters_, rows) * feature_weights_;
  out.residual.noalias() += cross * data_weights_;
  return out;
}

}  // namespace dissent
