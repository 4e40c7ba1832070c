// A normal approximation of the posterior of hyperparameters, from differences of gradients.
#include "dissent/process/laplace.hpp"

#include <Eigen/Eigenvalues>
#include <algorithm>
#include <cmath>

#include "dissent/base/random.hpp"

namespace dissent {
namespace {

using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::VectorXd;

constexpr double kDifference = 0.02;
// The priors alone have this much precision along every axis; less means that the search stopped short of the mode.
constexpr double kLeastPrecision = 0.25;
constexpr double kHeldPrecision = 1e8;  // of a hyperparameter that stays where it is

}  // namespace

Laplace::Laplace(const SearchResult& found, const RowsRef& inputs, const VectorRef& targets)
    : mode_(found.hyperparameters.log_vector()) {
  const RowMatrix some = inputs(found.rows, Eigen::all);
  const VectorXd some_targets = targets(found.rows);
  const double growth = static_cast<double>(inputs.rows()) / static_cast<double>(some.rows());
  const auto gradient = [&](Index k, double change) {
    VectorXd at = mode_;
    at[k] += change;
    const Evidence data = log_marginal_likelihood(Hyperparameters::from_log(at), some, some_targets);
    return VectorXd(log_prior(found.prior, at).gradient + growth * data.gradient);
  };
  MatrixXd precision(mode_.size(), mode_.size());
  for (Index k = 0; k < mode_.size(); ++k) {
    precision.col(k) = (gradient(k, -kDifference) - gradient(k, kDifference)) / (2 * kDifference);
  }
  if (found.prior.slope.log_stddev == 0) {
    precision(kLogSlope, kLogSlope) = kHeldPrecision;
  }
  const Eigen::SelfAdjointEigenSolver<MatrixXd> axes(0.5 * (precision + precision.transpose()));
  axes_ = axes.eigenvectors() * axes.eigenvalues().cwiseMax(kLeastPrecision).cwiseSqrt().cwiseInverse().asDiagonal();
}

Hyperparameters Laplace::sample(std::uint64_t seed, std::uint64_t output, std::uint64_t index) const {
  Stream stream = Stream(seed, Purpose::kSearch, output).substream(index / 2);
  VectorXd normal(mode_.size());
  stream.fill_normal(std::span(normal.data(), static_cast<std::size_t>(normal.size())));
  return Hyperparameters::from_log(mode_ + axes_ * (index % 2 == 0 ? normal : -normal));
}

double Laplace::cost(Index rows, Index columns) {
  const auto n = static_cast<double>(rows);
  const auto c = static_cast<double>(columns);
  return 2 * (c + 2) * n * n * (n + 2 * c);
}

}  // namespace dissent
