// Fixed points that stand for a standard normal when a base Gaussian is carried through a flow.
//
// normal_points  for whole distributions. One output: evenly spaced points over +-6.5 stddevs, weighted by the density
//                (a trapezoidal rule). More outputs: antithetic draws.
// mean_points    for the mean only: K points of equal weight. Along each output they are the means of the K cells of
//                equal probability, each once (a Latin hypercube), in antithetic pairs. A mean over one output, or a
//                sum over several, then errs by at most half a cell: between two modes by 1/(2 K) of their gap, while
//                evenly spaced points err by half of the largest weight.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "dissent/ensemble/ensemble.hpp"

namespace dissent {

struct NormalPoints {
  std::vector<double> value;   // [K][D]
  std::vector<double> weight;  // [K], sum 1
  std::size_t size() const { return weight.size(); }
};

// K is num_grid for one output, else num_draws, which must be even.
NormalPoints normal_points(std::size_t num_outputs, std::size_t num_grid, std::size_t num_draws);

// `count` must be even.
NormalPoints mean_points(std::size_t num_outputs, std::size_t count);

// The Gaussians of a model's mixture, each on K points, carried to outputs a few inputs at a time. Memory is kept from
// call to call.
class CarriedPoints {
 public:
  CarriedPoints(const Ensemble& model, NormalPoints points);

  const NormalPoints& points() const { return points_; }

  // Carries inputs [begin, end) of `inputs`; `mixture` is the prediction at `inputs`.
  void carry(std::span<const double> inputs, const Mixture<double>& mixture, std::size_t begin, std::size_t end,
             bool with_log_det, Executor* executor);

  // [end - begin][M][K][D], and their log-determinants [end - begin][M][K] if asked for.
  std::span<const double> outputs() const { return outputs_; }
  std::span<const double> log_det() const { return log_det_; }

 private:
  const Ensemble& model_;
  NormalPoints points_;
  std::vector<double> base_;
  std::vector<double> outputs_;
  std::vector<double> log_det_;
};

}  // namespace dissent
