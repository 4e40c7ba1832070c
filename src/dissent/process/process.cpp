// Fits, draws and predicts output by output, in blocks of outputs or rows, so that threads change nothing.
#include "dissent/process/process.hpp"

#include <algorithm>
#include <cmath>
#include <optional>
#include <utility>

#include "dissent/base/error.hpp"
#include "dissent/process/stray_rows.hpp"

namespace dissent {
namespace {

using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::VectorXd;

constexpr std::size_t kRowsPerBlock = 256;
// Beyond this many rows hyperparameters are well known, and a factor for each component costs more than it is worth.
constexpr Index kMostRowsToVary = 1000;
// Operations for a Hessian: about a second.
constexpr double kMostCostToVary = 8e9;

void check_finite(const RowsRef& values, const char* name) {
  for (Index row = 0; row < values.rows(); ++row) {
    for (Index column = 0; column < values.cols(); ++column) {
      check(std::isfinite(values(row, column)), "Gaussian process: {}[{}][{}] = {} is not finite", name, row, column,
            values(row, column));
    }
  }
}

void check_fit(const ProcessOptions& options, const RowsRef& inputs, const RowsRef& targets) {
  check(options.components > 0, "Gaussian process: components = {} must be at least 1", options.components);
  check(options.within >= 0 && options.within <= 1, "Gaussian process: within = {} must be in [0, 1]", options.within);
  check(options.weights.empty() || static_cast<Index>(options.weights.size()) == options.components,
        "Gaussian process: {} weights for {} components", options.weights.size(), options.components);
  check(inputs.rows() > 0, "Gaussian process: no rows to fit");
  check(inputs.rows() <= GaussianProcess::kMostRows,
        "Gaussian process: {} rows are too many; at most {}, since the work grows with their cube", inputs.rows(),
        GaussianProcess::kMostRows);
  check(targets.rows() == inputs.rows(), "Gaussian process: {} rows of targets for {} rows of inputs", targets.rows(),
        inputs.rows());
  check(targets.cols() > 0, "Gaussian process: no targets to fit");
  check_finite(inputs, "inputs");
  check_finite(targets, "targets");
}

// Residual paths [N x M] shifted so that their weighted mean is 0 everywhere; 1 / (1 - sum of squared weights) keeps
// the variance between them unbiased.
MatrixXd recentred(const MatrixXd& residual, const VectorXd& weights) {
  const double apart = 1 - weights.squaredNorm();
  const double scale = apart > 1e-9 ? 1 / std::sqrt(apart) : 0;
  return scale * (residual.colwise() - residual * weights);
}

VectorXd weights_of(const ProcessOptions& options) {
  if (options.weights.empty()) {
    return VectorXd::Constant(options.components, 1 / static_cast<double>(options.components));
  }
  return Eigen::Map<const VectorXd>(options.weights.data(), static_cast<Index>(options.weights.size()));
}

}  // namespace

OutputHyperparameters GaussianProcess::search(const ProcessOptions& options, const RowsRef& inputs,
                                              const VectorRef& targets, std::uint64_t output,
                                              const std::function<bool()>& go_on) {
  RobustSearchResult robust = find_robustly(inputs, targets, options.search, output, go_on);
  const SearchResult& found = robust.found;
  OutputHyperparameters out{found.hyperparameters, {}, std::move(robust.extra_noise)};
  const auto searched = static_cast<Index>(found.rows.size());
  if (options.vary_hyperparameters && inputs.rows() <= kMostRowsToVary &&
      Laplace::cost(searched, inputs.cols()) <= kMostCostToVary) {
    if (go_on && !go_on()) {
      out.components.assign(static_cast<std::size_t>(options.components), out.mode);
      return out;
    }
    const Laplace around(found, inputs, targets);
    for (Index m = 0; m < options.components; ++m) {
      out.components.push_back(around.sample(options.search.seed, output, static_cast<std::uint64_t>(m)));
    }
  }
  return out;
}

GaussianProcess::GaussianProcess(const ProcessOptions& options, const RowsRef& inputs, const RowsRef& targets,
                                 std::vector<OutputHyperparameters> hyperparameters, Executor* executor)
    : options_(options),
      inputs_(inputs),
      targets_(targets),
      hyperparameters_(std::move(hyperparameters)),
      features_(options.feature_pairs, inputs.cols(), options.search.seed) {
  check_fit(options, inputs, targets);
  for (const OutputHyperparameters& own : hyperparameters_) {
    check(own.components.empty() || static_cast<Index>(own.components.size()) == options.components,
          "Gaussian process: hyperparameters of {} components for {}", own.components.size(), options.components);
    check(own.extra_noise.size() == 0 || (own.extra_noise.size() == inputs.rows() && own.extra_noise.minCoeff() >= 0),
          "Gaussian process: extra noise of {} rows for {}, or less than 0", own.extra_noise.size(), inputs.rows());
  }
  check(static_cast<Index>(hyperparameters_.size()) == targets.cols(),
        "Gaussian process: hyperparameters of {} outputs for {} targets", hyperparameters_.size(), targets.cols());
  draw(executor);
}

void GaussianProcess::draw(Executor* executor) {
  const auto outputs = static_cast<std::size_t>(targets_.cols());
  groups_.resize(outputs);
  std::vector<std::optional<Posterior>> modes(outputs);
  for_blocks(executor, outputs, 1, [&](std::size_t d, std::size_t, std::size_t) {
    const OutputHyperparameters& own = hyperparameters_[d];
    const VectorXd targets = targets_.col(static_cast<Index>(d));
    const auto source = [&](std::size_t first) { return DrawSource{options_.search.seed, d, first}; };
    if (own.components.empty() || options_.within > 0) {
      modes[d].emplace(own.mode, inputs_, targets, own.extra_noise);
    }
    if (own.components.empty()) {
      groups_[d].emplace_back(*modes[d], features_, source(0), options_.components);
    }
    for (std::size_t m = 0; m < own.components.size(); ++m) {
      groups_[d].emplace_back(Posterior(own.components[m], inputs_, targets, own.extra_noise), features_, source(m), 1);
    }
  });
  for (std::optional<Posterior>& mode : modes) {
    if (options_.within > 0) {
      modes_.push_back(std::move(*mode));
    }
  }
}

void GaussianProcess::predict(const RowsRef& rows, std::span<double> mean, std::span<double> stddev,
                              Executor* executor) const {
  check(rows.cols() == inputs_.cols(), "Gaussian process: rows have {} columns, the model has {}", rows.cols(),
        inputs_.cols());
  const auto width = static_cast<std::size_t>(options_.components * targets_.cols());
  const auto count = static_cast<std::size_t>(rows.rows());
  check(mean.size() == count * width && stddev.size() == mean.size(),
        "Gaussian process: room for {} means and {} stddevs, where {} are predicted", mean.size(), stddev.size(),
        count * width);
  check_finite(rows, "rows");
  for_blocks(executor, count, kRowsPerBlock, [&](std::size_t begin, std::size_t end, std::size_t) {
    predict_block(rows.middleRows(static_cast<Index>(begin), static_cast<Index>(end - begin)), &mean[begin * width],
                  &stddev[begin * width]);
  });
}

void GaussianProcess::predict_block(const RowsRef& rows, double* mean, double* stddev) const {
  const Index components = options_.components;
  const Index outputs = targets_.cols();
  const auto of_output = [&](double* values, Index d) {
    return Eigen::Map<MatrixXd, 0, Eigen::Stride<Eigen::Dynamic, Eigen::Dynamic>>(
        values + d, rows.rows(), components,
        Eigen::Stride<Eigen::Dynamic, Eigen::Dynamic>(outputs, components * outputs));
  };
  for (Index d = 0; d < outputs; ++d) {
    MatrixXd residual(rows.rows(), components);
    VectorXd own_variance = VectorXd::Zero(rows.rows());
    if (options_.within > 0) {
      own_variance = options_.within * modes_[static_cast<std::size_t>(d)].variance(rows);
    }
    auto centre = of_output(mean, d);
    auto spread = of_output(stddev, d);
    Index first = 0;
    for (const PathGroup& group : groups_[static_cast<std::size_t>(d)]) {
      const PathValues values = group.at(rows, inputs_, features_);
      residual.middleCols(first, group.size()) = values.residual;
      centre.middleCols(first, group.size()).colwise() = values.mean;
      spread.middleCols(first, group.size()).colwise() =
          (group.noise_variance() + own_variance.array()).sqrt().matrix();
      first += group.size();
    }
    centre +=
        std::sqrt(1 - options_.within) * (options_.recentre ? recentred(residual, weights_of(options_)) : residual);
  }
}

}  // namespace dissent
