// badge: k-means++ on gradients of the negative log-likelihood with respect to the components' last layers (BADGE, Ash
// et al. 2020, carried over to regression).
//
// Each row gets one target, drawn from the mixture (a flow: in base space), and every component's gradient at it; their
// concatenation is the row's embedding. So a row's embedding is long where components disagree. The first pick is the
// longest; each next one is drawn with probability proportional to the squared distance to the nearest pick.
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

Choice badge(const AcquisitionTask& task, std::span<const double> candidates);

}  // namespace dissent
