// The element-wise step of bait, vectorised: what a pick changes for one block of parameters at every row.
#pragma once

#include <cstddef>

namespace dissent {

// With v = sqrt(scale) h: own = v'Av, cross = v'AFAv; along = h'u, beyond = h'AFu of the pick's u.
struct BaitStep {
  const double* scale;   // [count]
  const double* along;   // [count]
  const double* beyond;  // [count]
  double* own;           // [count], updated
  double* cross;         // [count], updated
  double* gain;          // [count]: multiplicity * cross / (1 + own) is added
  std::size_t count;     // a multiple of kLanes; arrays are aligned
  double shrink;         // g of A <- A - g u u'; 0 leaves own and cross as they are
  double norm;           // u'Fu
  double multiplicity;
};

void bait_step(const BaitStep& step);

}  // namespace dissent
