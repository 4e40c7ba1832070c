// Under independent Gaussian processes, one per output, with v the posterior variance, c(x, a) the posterior covariance
// and s the noise variance,
//   I(y(x); y(a)) = -1/2 sum_d ln(1 - c(x, a)^2 / ((v(x) + s) (v(a) + s))).
// A pick x changes the posterior as its label would, which no one need know: with u = c(x, .) / sqrt(v(x) + s),
//   v(z) <- v(z) - u(z)^2,   c(z, a) <- c(z, a) - u(z) u(a).
#include <Eigen/Core>
#include <algorithm>
#include <cmath>
#include <numeric>
#include <vector>

#include "dissent/acquisition/aim_information.hpp"
#include "dissent/ensemble/process_model.hpp"

namespace dissent {
namespace {

using Eigen::ArrayXd;
using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::VectorXd;

constexpr std::size_t kBlock = 256;           // candidates a thread takes at a time
constexpr double kMostCorrelated = 1 - 1e-9;  // squared; rounding could make more of it
constexpr Index kFactorsPerLogarithm = 8;

// One output at the aim, as it is before any pick.
struct OutputAim {
  const Posterior* posterior = nullptr;
  double noise = 0;
  MatrixXd weights;   // n x A: K^-1 k(X, a)
  VectorXd variance;  // A
};

// One output between candidates and the aim, after the picks.
struct OutputState {
  VectorXd variance;      // N
  VectorXd aim_variance;  // A
  MatrixXd covariance;    // N x A
  MatrixXd picks;         // N x picks: u of each
};

// Gains of the candidates [begin, begin + count) from one output.
ArrayXd gains_of(const OutputState& state, double noise, Index begin, Index count) {
  const ArrayXd inverse = (state.variance.segment(begin, count).array() + noise).inverse();
  ArrayXd sum = ArrayXd::Zero(count);
  ArrayXd product = ArrayXd::Ones(count);
  const Index A = state.covariance.cols();
  for (Index a = 0; a < A; ++a) {
    const double scale = 1 / (state.aim_variance[a] + noise);
    product *=
        1 - (state.covariance.col(a).segment(begin, count).array().square() * inverse * scale).min(kMostCorrelated);
    if ((a + 1) % kFactorsPerLogarithm == 0 || a + 1 == A) {
      sum -= product.log();
      product.setOnes();
    }
  }
  return sum / static_cast<double>(2 * A);
}

class ExactInformation : public AimInformation {
 public:
  explicit ExactInformation(const AimTask& task)
      : model_(task.model), executor_(task.executor), aim_(standard_rows(task.aim)), outputs_(task.outputs.size()) {
    const GaussianProcess& process = model_.process().process();
    for_blocks(executor_, outputs_.size(), 1, [&](std::size_t k, std::size_t, std::size_t) {
      const Posterior& posterior = process.posterior(task.outputs[k]);
      const Hyperparameters& h = posterior.hyperparameters();
      const MatrixXd between = covariance(h, posterior.inputs(), aim_);
      OutputAim& own = outputs_[k];
      own.posterior = &posterior;
      own.noise = h.noise_variance;
      own.weights = posterior.factor().solve(between);
      own.variance =
          (prior_variance(h, aim_).array() - between.cwiseProduct(own.weights).colwise().sum().transpose().array())
              .max(0);
    });
  }

  void alone(std::span<const double> rows, std::span<double> gain) const override {
    const std::size_t C = model_.num_input_columns();
    for_blocks(executor_, gain.size(), kBlock, [&](std::size_t begin, std::size_t end, std::size_t) {
      const RowMatrix block = standard_rows(rows.subspan(begin * C, (end - begin) * C));
      ArrayXd sum = ArrayXd::Zero(block.rows());
      for (const OutputAim& output : outputs_) {
        sum += gains_of(state_at(output, block), output.noise, 0, block.rows());
      }
      std::ranges::copy(sum, gain.begin() + static_cast<std::ptrdiff_t>(begin));
    });
  }

  void begin(std::span<const double> candidates) override {
    candidates_ = standard_rows(candidates);
    states_.resize(outputs_.size());
    for_blocks(executor_, states_.size(), 1,
               [&](std::size_t k, std::size_t, std::size_t) { states_[k] = state_at(outputs_[k], candidates_); });
  }

  void gains(std::span<double> gain) const override {
    for_blocks(executor_, gain.size(), kBlock, [&](std::size_t begin, std::size_t end, std::size_t) {
      const auto count = static_cast<Index>(end - begin);
      ArrayXd sum = ArrayXd::Zero(count);
      for (std::size_t k = 0; k < states_.size(); ++k) {
        sum += gains_of(states_[k], outputs_[k].noise, static_cast<Index>(begin), count);
      }
      std::ranges::copy(sum, gain.begin() + static_cast<std::ptrdiff_t>(begin));
    });
  }

  void take(std::size_t candidate) override {
    for_blocks(executor_, states_.size(), 1, [&](std::size_t k, std::size_t, std::size_t) {
      take_of(outputs_[k], states_[k], static_cast<Index>(candidate));
    });
  }

 private:
  RowMatrix standard_rows(std::span<const double> inputs) const {
    return model_.process().standard_rows(model_.columns().input_scaling, inputs);
  }

  OutputState state_at(const OutputAim& output, const RowMatrix& rows) const {
    const Posterior& posterior = *output.posterior;
    const Hyperparameters& h = posterior.hyperparameters();
    OutputState state{posterior.variance(rows), output.variance, covariance(h, rows, aim_), MatrixXd(rows.rows(), 0)};
    state.covariance.noalias() -= covariance(h, rows, posterior.inputs()) * output.weights;
    return state;
  }

  void take_of(const OutputAim& output, OutputState& state, Index row) const {
    const Posterior& posterior = *output.posterior;
    const Hyperparameters& h = posterior.hyperparameters();
    const RowMatrix own = candidates_.row(row);
    const VectorXd weights = posterior.factor().solve(covariance(h, posterior.inputs(), own));
    VectorXd with = covariance(h, candidates_, own);
    with.noalias() -= covariance(h, candidates_, posterior.inputs()) * weights;
    with.noalias() -= state.picks * state.picks.row(row).transpose();
    const double root = std::sqrt(state.variance[row] + output.noise);
    const VectorXd u = with / root;
    const VectorXd at_aim = state.covariance.row(row).transpose() / root;
    state.variance = (state.variance.array() - u.array().square()).max(0);
    state.aim_variance = (state.aim_variance.array() - at_aim.array().square()).max(0);
    state.covariance.noalias() -= u * at_aim.transpose();
    state.picks.conservativeResize(Eigen::NoChange, state.picks.cols() + 1);
    state.picks.rightCols(1) = u;
  }

  const Ensemble& model_;
  Executor* executor_;
  RowMatrix aim_;
  std::vector<OutputAim> outputs_;
  RowMatrix candidates_;
  std::vector<OutputState> states_;
};

}  // namespace

std::unique_ptr<AimInformation> exact_information(const AimTask& task) {
  return std::make_unique<ExactInformation>(task);
}

}  // namespace dissent
