// The methods that score each row by itself, behind the registry (acquisition.hpp): random, variance, the pairwise
// estimates, the best of the Chernoff bounds and Monte Carlo.
#pragma once

#include <cstddef>
#include <memory>
#include <span>

#include "dissent/acquisition/acquisition.hpp"
#include "dissent/acquisition/ranking.hpp"

namespace dissent {

// Made once per choice, then called block by block.
class RowScorer {
 public:
  virtual ~RowScorer() = default;

  // How many rows to score at a time: as many as stay in the cache.
  virtual std::size_t block_rows() const { return 512; }

  // Fills `score` of the rows [n][C], whose numbers are set, and `second`: their epistemic uncertainty, if the method
  // estimates it. Called from several threads at once, each with its own number.
  virtual void score(std::span<const double> inputs, std::span<Ranked> rows, std::size_t thread) = 0;
};

// The task, its model and the acquisition must outlive the scorer.
std::unique_ptr<RowScorer> random_scorer(const Acquisition& acquisition, const AcquisitionTask& task);
// Variance over the components of their means in output space, summed over outputs in scaled units. A flow carries each
// component's base mean to outputs, which is not the mean of the component there: that would take samples.
std::unique_ptr<RowScorer> variance_scorer(const Acquisition& acquisition, const AcquisitionTask& task);
std::unique_ptr<RowScorer> pairwise_scorer(const Acquisition& acquisition, const AcquisitionTask& task);
// The best lower bound in closed form: two dozen times the work of one divergence.
std::unique_ptr<RowScorer> best_chernoff_scorer(const Acquisition& acquisition, const AcquisitionTask& task);
std::unique_ptr<RowScorer> monte_carlo_scorer(const Acquisition& acquisition, const AcquisitionTask& task);

}  // namespace dissent
