// k-means++ over rows of which only distances are known: how badge draws its picks.
#pragma once

#include <cstddef>
#include <functional>
#include <span>
#include <vector>

#include "dissent/acquisition/acquisition.hpp"

namespace dissent {

struct KMeansPlusPlus {
  std::size_t first = 0;
  double first_score = 0;
  std::size_t batch = 1;
  std::function<void(std::size_t centre, std::span<double> squared)> distances;  // from one row to all, squared
  std::function<double()> uniform;                                               // on (0, 1)
  std::vector<double>* utilities = nullptr;  // gets the squared distances before each draw, NaN for rows taken
};

// rows and scores (squared distance to the nearest pick before) of the picks among num_rows >= batch rows. A draw u
// takes the first row whose share of the squared distances, summed up to it, reaches u; a row already picked is drawn
// again. When all that is left coincides with picks, the rest is uniform.
Choice k_means_plus_plus(std::size_t num_rows, const KMeansPlusPlus& task);

}  // namespace dissent
