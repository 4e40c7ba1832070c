// L-BFGS (Nocedal 1980) with the weak Wolfe line search of Lewis and Overton (2013): bisection and doubling, no
// derivatives beyond the gradient, sound with a function that is infinite outside of its domain.
#pragma once

#include <Eigen/Core>
#include <functional>

namespace dissent {

struct MinimiseOptions {
  int iterations = 100;
  int evaluations = 200;
  int memory = 10;
  double tolerance = 1e-3;  // stops when two iterations in a row improve the value by less than this
  double largest_step = 2;  // of any coordinate in one iteration
};

struct Minimum {
  Eigen::VectorXd at;
  double value = 0;
  int evaluations = 0;
};

// Returns f and writes its gradient. May return infinity or NaN, both "outside": the gradient is then not read.
using Objective = std::function<double(const Eigen::VectorXd& at, Eigen::VectorXd& gradient)>;

// From `start`, where the objective must be finite; if it is not, returns the start with its value.
Minimum minimise(const Objective& objective, const Eigen::VectorXd& start, const MinimiseOptions& options);

}  // namespace dissent
