// Scoring on a card: the ScoreDevice behind `device = cuda`. Diagonal mixtures of 2 to about 190 components by the
// pairwise estimators; all else is left to the CPU.
#pragma once

#include <memory>
#include <optional>

#include "dissent/device/score_pairwise.hpp"
#include "dissent/divergence/divergence.hpp"
#include "dissent/estimator/score_device.hpp"

namespace dissent {

// Of card number `card`, which must be there.
std::unique_ptr<ScoreDevice> make_cuda_scores(int card);

// How a card computes a divergence; none for those it has no kernel for.
std::optional<score::PairwiseRule> pairwise_rule(const Divergence& divergence);

}  // namespace dissent
