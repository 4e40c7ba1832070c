// The elementwise work of a Gaussian process, in vectors along the batch (matrix/panel.hpp); chosen at run time for the
// processor's instruction set. A number's result does not depend on its place. Padding columns must be finite.
//
//   matern:  out[k][b] = s (1 + q + q^2 / 3) exp(-q),   slope[k][b] = 5/3 s (1 + q) exp(-q),
//            q^2 = 5 sum_c (rows[c][b] - others[k][c])^2, q at most 800
//   waves:   cosine[p][b] = scale cos(2 pi turns[p][b]), sine[p][b] likewise; to 1e-10 of the scale
#pragma once

#include <cstddef>

#include "dissent/matrix/panel.hpp"

namespace dissent {

struct Matern {
  Panel<const double> rows;        // C x N, over the length scales
  const double* others = nullptr;  // K x C, row-major, over the length scales
  double signal_variance = 1;
  Panel<double> out;    // K x N
  Panel<double> slope;  // K x N, or without data: not wanted
  std::size_t columns = 0;
};

struct Waves {
  Panel<const double> turns;
  double scale = 1;
  Panel<double> cosine;  // may be `turns`
  Panel<double> sine;
  std::size_t columns = 0;
};

void matern(const Matern& m);
void waves(const Waves& w);

}  // namespace dissent
