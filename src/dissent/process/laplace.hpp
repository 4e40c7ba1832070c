// How far hyperparameters may lie from the best ones: a normal approximation around the mode of their posterior.
// Its precision is the Hessian of minus the log density, by differences of gradients on the rows that were searched.
// For n rows in all, the data's part grows by n / rows.
#pragma once

#include <cstdint>

#include "dissent/process/search.hpp"

namespace dissent {

class Laplace {
 public:
  // Around what a search in these inputs and targets has found.
  Laplace(const SearchResult& found, const RowsRef& inputs, const VectorRef& targets);

  // Sample `index`, the same whatever else is sampled. Samples 2k and 2k + 1 lie opposite each other about the mode, so
  // that an even number of them is centred there.
  Hyperparameters sample(std::uint64_t seed, std::uint64_t output, std::uint64_t index) const;

  // Operations that the Hessian costs, to be weighed before: gradients times the work of one.
  static double cost(Eigen::Index rows, Eigen::Index columns);

 private:
  Eigen::VectorXd mode_;
  Eigen::MatrixXd axes_;  // columns: standard deviations along the principal axes
};

}  // namespace dissent
