// Under independent Gaussian processes, one per output, with v the posterior variance, c(x, a) the posterior covariance
// and s the noise variance,
//   I(y(x); y(a)) = -1/2 sum_d ln(1 - c(x, a)^2 / ((v(x) + s) (v(a) + s))).
// A pick x changes the posterior as its label would, whatever that label is: with u = c(x, .) / sqrt(v(x) + s),
//   v(z) <- v(z) - u(z)^2,   c(z, a) <- c(z, a) - u(z) u(a).
#include <Eigen/Core>
#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

#include "dissent/acquisition/aim_information.hpp"
#include "dissent/acquisition/exact_kernel.hpp"
#include "dissent/ensemble/process_model.hpp"
#include "dissent/process/panels.hpp"

namespace dissent {
namespace {

using Eigen::ArrayXd;
using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::VectorXd;

constexpr std::size_t kBlock = Dependence::kMostCandidates;  // candidates a thread takes at a time
constexpr std::size_t kMostKept = 8'000'000;                 // values of `half`, over all outputs

// One output at the aim, before any pick.
struct OutputAim {
  const Posterior* posterior = nullptr;
  double noise = 0;
  PanelBuffer<double> half;  // [n][A]: L^-1 k(X, a)
  VectorXd variance;         // A
};

// One output between candidates and the aim, after the picks.
struct OutputState {
  VectorXd variance;               // N
  VectorXd aim_variance;           // A
  PanelBuffer<double> covariance;  // [A][N]
  MatrixXd picks;                  // N x picks: u of each
  PanelBuffer<double> half = {};   // [n][N]: L^-1 k(X, x), if there is room for it
};

VectorXd variance_of(const Posterior& posterior, const RowsRef& rows, const PanelBuffer<double>& half) {
  return (prior_variance(posterior.hyperparameters(), rows).array() -
          mapped(half.panel(), rows.rows()).colwise().squaredNorm().transpose().array())
      .max(0);
}

// Gains of the candidates [begin, begin + count) from one output.
ArrayXd gains_of(const OutputState& state, double noise, Index begin, Index count) {
  const ArrayXd precision = (state.variance.segment(begin, count).array() + noise).inverse();
  const ArrayXd aim_precision = (state.aim_variance.array() + noise).inverse();
  ArrayXd sum = ArrayXd::Zero(count);
  add_dependence({.covariance = state.covariance.panel(),
                  .aim_precision = std::span(aim_precision.data(), static_cast<std::size_t>(aim_precision.size())),
                  .precision = std::span(precision.data(), static_cast<std::size_t>(count)),
                  .begin = static_cast<std::size_t>(begin)},
                 std::span(sum.data(), static_cast<std::size_t>(count)));
  return sum / static_cast<double>(2 * aim_precision.size());
}

class ExactInformation : public AimInformation {
 public:
  explicit ExactInformation(const AimTask& task)
      : model_(task.model), executor_(task.executor), aim_(standard_rows(task.aim)), outputs_(task.outputs.size()) {
    const GaussianProcess& process = model_.process().process();
    for_blocks(executor_, outputs_.size(), 1, [&](std::size_t k, std::size_t, std::size_t) {
      OutputAim& own = outputs_[k];
      own.posterior = &process.posterior(task.outputs[k]);
      own.noise = own.posterior->hyperparameters().noise_variance;
      own.half = own.posterior->half_panel(aim_);
      own.variance = variance_of(*own.posterior, aim_, own.half);
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
    const auto num_rows = static_cast<std::size_t>(outputs_[0].posterior->inputs().rows() * candidates_.rows());
    const bool keep = num_rows * outputs_.size() <= kMostKept;
    for_blocks(executor_, states_.size(), 1,
               [&](std::size_t k, std::size_t, std::size_t) { states_[k] = state_at(outputs_[k], candidates_, keep); });
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

  OutputState state_at(const OutputAim& output, const RowMatrix& rows, bool keep_half = false) const {
    const Posterior& posterior = *output.posterior;
    PanelBuffer<double> half = posterior.half_panel(rows);
    OutputState state{variance_of(posterior, rows, half), output.variance,
                      covariance_panel(posterior.hyperparameters(), aim_, rows), MatrixXd(rows.rows(), 0)};
    const Panel<const double> aim = output.half.panel();
    multiply({.left = Strided{aim.data, aim.stride, 1}.transposed(),
              .scale = -1,
              .right = half.panel(),
              .out = state.covariance.panel(),
              .columns = state.covariance.capacity(),
              .add = true});
    if (keep_half) {
      state.half = std::move(half);
    }
    return state;
  }

  // Covariances of the candidates with one of them, given the earlier picks.
  VectorXd covariance_with(const OutputAim& output, const OutputState& state, Index row) const {
    const Posterior& posterior = *output.posterior;
    const Hyperparameters& h = posterior.hyperparameters();
    const RowMatrix own = candidates_.row(row);
    PanelBuffer<double> with = covariance_panel(h, own, candidates_);
    const auto subtract = [&](const VectorXd& weights, Panel<const double> right) {
      multiply({.left = {weights.data(), 0, 1},
                .scale = -1,
                .right = right,
                .out = with.panel(),
                .columns = with.capacity(),
                .add = true});
    };
    if (state.half.capacity() > 0) {
      subtract(mapped(state.half.panel(), candidates_.rows()).col(row), state.half.panel());
    } else {
      subtract(posterior.factor().solve(covariance(h, posterior.inputs(), own)),
               covariance_panel(h, posterior.inputs(), candidates_).panel());
    }
    return mapped(with.panel(), candidates_.rows()).row(0).transpose() - state.picks * state.picks.row(row).transpose();
  }

  void take_of(const OutputAim& output, OutputState& state, Index row) const {
    const double root = std::sqrt(state.variance[row] + output.noise);
    const VectorXd u = covariance_with(output, state, row) / root;
    PanelMap with_aim = mapped(state.covariance.panel(), candidates_.rows());
    const VectorXd at_aim = with_aim.col(row) / root;
    state.variance = (state.variance.array() - u.array().square()).max(0);
    state.aim_variance = (state.aim_variance.array() - at_aim.array().square()).max(0);
    with_aim.noalias() -= at_aim * u.transpose();
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
