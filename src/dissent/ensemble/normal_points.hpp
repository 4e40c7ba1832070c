// Points that stand for a standard normal where a base Gaussian is carried through a flow: with one output evenly
// spaced ones over +-6.5 stddevs, weighted by the density (a trapezoidal rule); with more, antithetic draws, always the
// same.
#pragma once

#include <cstddef>
#include <vector>

namespace dissent {

struct NormalPoints {
  std::vector<double> value;   // [K][D]
  std::vector<double> weight;  // [K], sum 1
  std::size_t size() const { return weight.size(); }
};

// K is num_grid points for one output, else num_draws, which is even.
NormalPoints normal_points(std::size_t num_outputs, std::size_t num_grid, std::size_t num_draws);

}  // namespace dissent
