// Scoring on a card: the ScoreDevice behind `device = cuda`. Diagonal mixtures of 2 to 192 components (float64: about
// 140) by the pairwise estimators and EPKL; all else is left to the CPU.
#pragma once

#include <cstddef>
#include <memory>
#include <optional>

#include "dissent/device/score_pairwise.hpp"
#include "dissent/estimator/score_device.hpp"
#include "dissent/mixture/mixture.hpp"

namespace dissent {

// Of card number `card`, which must be there.
std::unique_ptr<ScoreDevice> make_cuda_scores(int card);

// How a card computes an estimator over pairs of components; none where it has no kernel.
std::optional<score::PairwiseRule> pairwise_rule(const Estimator& estimator);

// Whether pairwise kernels take mixtures of this shape and weights.
template <class T>
bool pairwise_takes(std::size_t num_components, std::size_t num_outputs, const Weights& weights);

}  // namespace dissent
