// Scoring on a card: the ScoreDevice behind `device = cuda`. score_methods.hpp says what it takes.
#pragma once

#include <memory>

#include "dissent/estimator/score_device.hpp"

namespace dissent {

// Of card number `card`, which must be there.
std::unique_ptr<ScoreDevice> make_cuda_scores(int card);

}  // namespace dissent
