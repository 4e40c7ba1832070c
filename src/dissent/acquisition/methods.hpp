// The methods that weigh the rows of a batch against each other, behind the registry (acquisition.hpp). Each source
// says how it works. `candidates`: [N][C], finite, at least as many as the batch.
#pragma once

#include <cstddef>
#include <functional>
#include <span>
#include <vector>

#include "dissent/acquisition/acquisition.hpp"

namespace dissent {

// Greedily the largest joint pairwise estimate of the batch.
Choice choose_joint(const Divergence& divergence, const AcquisitionTask& task, std::span<const double> candidates);
Choice choose_joint_there(const Divergence& divergence, const PoolTask& task);

// The largest pairwise estimates, of rows on a device; pairwise_scorer() is for those of a model.
Choice choose_pairwise_there(const Divergence& divergence, const PoolTask& task);

// Greedily the rows whose labels tell most about predictions at the aim: exactly, with a model that has a posterior, or
// by the divergence between components.
Choice choose_aim(const Divergence& divergence, bool exact, const AcquisitionTask& task,
                  std::span<const double> candidates);

// Greedily the largest joint mutual information by Monte Carlo.
Choice batchbald(std::size_t num_samples, const AcquisitionTask& task, std::span<const double> candidates);

// k-means++ on gradients of the components' last layers.
Choice badge(const AcquisitionTask& task, std::span<const double> candidates);

// How badge draws its picks, from rows of which only distances are known.
struct KMeansPlusPlus {
  std::size_t first = 0;  // the first pick, unless there are known rows: then it is drawn as well
  double first_score = 0;
  std::size_t num_known = 0;  // rows after those to pick from; they count as earlier picks
  std::size_t batch = 1;
  // Squared distances from one row to all, known ones included.
  std::function<void(std::size_t centre, std::span<double> squared)> distances;
  std::function<double()> uniform;           // on (0, 1)
  std::vector<double>* utilities = nullptr;  // gets the squared distances before each draw, NaN for rows taken
};

// Rows and scores (squared distance to the nearest earlier pick) of the picks among num_rows >= batch rows. A draw u
// takes the first row at which the running share of the squared distances reaches u; if that row is taken, it draws
// again. When all rows left coincide with picks, the rest are uniform.
Choice k_means_plus_plus(std::size_t num_rows, const KMeansPlusPlus& task);

// The batch that leaves the least of the last layers' Fisher information unexplained. Scores: gains.
Choice bait(const AcquisitionTask& task, std::span<const double> candidates);

// The farthest row of the largest cluster, by last-layer features.
Choice lcmd(const AcquisitionTask& task, std::span<const double> candidates);

// The same by random projections of gradients with respect to all layers.
Choice lcmd_grad(const AcquisitionTask& task, std::span<const double> candidates);

}  // namespace dissent
