// How far hyperparameters may lie from the best ones: a normal approximation around the mode of their posterior.
// Its precision is the Hessian of minus the log density, from differences of gradients on the rows searched. With n
// rows in all, the data's part is multiplied by n / rows.
#pragma once

#include <cstdint>

#include "dissent/process/search.hpp"

namespace dissent {

class Laplace {
 public:
  // Around the result of a search in these inputs and targets.
  Laplace(const SearchResult& found, const RowsRef& inputs, const VectorRef& targets);

  // Sample `index`, the same whatever else is sampled. Samples 2k and 2k + 1 lie opposite each other about the mode, so
  // that an even number of them is centred there.
  Hyperparameters sample(std::uint64_t seed, std::uint64_t output, std::uint64_t index) const;

  // How many operations the Hessian costs, to decide beforehand: the number of gradients times the work of one.
  static double cost(Eigen::Index rows, Eigen::Index columns);

 private:
  Eigen::VectorXd mode_;
  Eigen::MatrixXd axes_;  // columns: standard deviations along the principal axes
};

}  // namespace dissent
