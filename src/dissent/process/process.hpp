// An ensemble of functions drawn from Gaussian processes, one independent process per output.
// Component m is a path of the posterior, with the process's noise around it. With few rows, hyperparameters differ
// from component to component, since few rows leave them uncertain.
// Layout: inputs [n x C] and targets [n x D] are row-major and in scaled units; predictions are [N x M x D].
// Everything follows from options, inputs, targets and the hyperparameters found: a saved model needs no more.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "dissent/base/executor.hpp"
#include "dissent/process/laplace.hpp"
#include "dissent/process/paths.hpp"
#include "dissent/process/posterior.hpp"

namespace dissent {

struct ProcessOptions {
  Eigen::Index components = 10;
  Eigen::Index feature_pairs = 256;
  // Shifts and scales the paths together so that their mean is the exact posterior mean at every input, and the
  // variance between them stays unbiased. Without it the mean of M paths is off by stddev / sqrt(M).
  bool recentre = true;
  // The share of the posterior variance that each component carries itself, beside the noise. The paths are drawn
  // together by as much, so that the mixture's variance stays. With 0, components are plain paths: where noise is small
  // and data are far, they are M needles with almost no density between them. The variance is that of the mode's
  // hyperparameters, and costs n^2 operations per input.
  double within = 0.2;
  std::vector<double> weights = {};  // of the components in the mixture, which is centred by them; empty: uniform
  bool vary_hyperparameters = true;  // if rows and columns are few enough for it to be cheap
  SearchOptions search = {};         // with the seed of everything
};

// What the search has found for one output.
struct OutputHyperparameters {
  Hyperparameters mode;
  std::vector<Hyperparameters> components;  // M, or none: all components have the mode
  Eigen::VectorXd extra_noise;              // n: variances of rows that do not fit (stray_rows.hpp); empty: none
};

class GaussianProcess {
 public:
  static constexpr Eigen::Index kMostRows = 4000;

  // The hyperparameters of output number `output`; targets [n]. `go_on` as in find_hyperparameters().
  static OutputHyperparameters search(const ProcessOptions& options, const RowsRef& inputs, const VectorRef& targets,
                                      std::uint64_t output, const std::function<bool()>& go_on = {});
  // Draws the paths of processes with the hyperparameters that search() has found. Throws InputError for no rows or
  // more than kMostRows, for shapes that do not agree, values that are not finite, and options out of range. `executor`
  // may be null.
  GaussianProcess(const ProcessOptions& options, const RowsRef& inputs, const RowsRef& targets,
                  std::vector<OutputHyperparameters> hyperparameters, Executor* executor = nullptr);

  const ProcessOptions& options() const { return options_; }
  const RowMatrix& inputs() const { return inputs_; }
  const RowMatrix& targets() const { return targets_; }
  const std::vector<OutputHyperparameters>& hyperparameters() const { return hyperparameters_; }

  // The exact posterior of an output, at the mode of its hyperparameters; options().within must be > 0.
  const Posterior& posterior(std::size_t output) const { return modes_[output]; }

  // Means and standard deviations of the components at rows [N x C], into mean[n][m][d] and stddev[n][m][d].
  void predict(const RowsRef& rows, std::span<double> mean, std::span<double> stddev,
               Executor* executor = nullptr) const;

 private:
  void draw(Executor* executor);
  void predict_block(const RowsRef& rows, double* mean, double* stddev) const;

  ProcessOptions options_;
  RowMatrix inputs_;
  RowMatrix targets_;
  std::vector<OutputHyperparameters> hyperparameters_;
  FourierFeatures features_;
  std::vector<std::vector<PathGroup>> groups_;  // D, each of 1 or M
  std::vector<Posterior> modes_;                // D, or none if options().within is 0
};

}  // namespace dissent
