// Scoring on a card: the ScoreDevice behind `device = cuda`. score_methods.hpp says what it can score.
#pragma once

#include <memory>

#include "dissent/estimator/score_device.hpp"

namespace dissent {

// For card number `card`, which must exist.
std::unique_ptr<ScoreDevice> make_cuda_scores(int card);

}  // namespace dissent
