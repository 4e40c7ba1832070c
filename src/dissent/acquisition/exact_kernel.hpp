// How much correlated Gaussians tell about each other, for many rows at once, vectorised in double precision.
#pragma once

#include <cstddef>
#include <span>

#include "dissent/matrix/panel.hpp"

namespace dissent {

// Candidates [begin, begin + size) against the rows of an aim.
struct Dependence {
  static constexpr std::size_t kMostCandidates = 256;
  static constexpr double kMostCorrelated = 1 - 1e-9;  // squared; rounding could exceed it

  Panel<const double> covariance;         // [A][N], padded
  std::span<const double> aim_precision;  // [A]: 1 over the variance, noise included
  std::span<const double> precision;      // of these candidates, likewise; at most kMostCandidates
  std::size_t begin = 0;                  // a multiple of kMostCandidates
};

// sum[n] += -sum_a ln(1 - squared correlation of candidate n and aim row a).
void add_dependence(const Dependence& rows, std::span<double> sum);

}  // namespace dissent
