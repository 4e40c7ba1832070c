// The methods that weigh the rows of a batch against each other, behind the registry (acquisition.hpp). Each source
// says how it works. `candidates`: [N][C], finite, at least as many as the batch.
#pragma once

#include <cstddef>
#include <span>

#include "dissent/acquisition/acquisition.hpp"

namespace dissent {

// Greedily the largest joint pairwise estimate of the batch.
Choice choose_joint(const Divergence& divergence, const AcquisitionTask& task, std::span<const double> candidates);

// Greedily the largest joint mutual information by Monte Carlo.
Choice batchbald(std::size_t num_samples, const AcquisitionTask& task, std::span<const double> candidates);

// k-means++ on gradients of the components' last layers.
Choice badge(const AcquisitionTask& task, std::span<const double> candidates);

// The batch that leaves least of the last layers' Fisher information unexplained. Scores: gains.
Choice bait(const AcquisitionTask& task, std::span<const double> candidates);

// The farthest row of the largest cluster, by last-layer features.
Choice lcmd(const AcquisitionTask& task, std::span<const double> candidates);

}  // namespace dissent
