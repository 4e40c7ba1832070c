// Answers that look like mistakes: outside of every label there is, and far from what the model expects.
//
// With a model, an answer is far when it is beyond 6 standard deviations of its prediction, in the space of the fit:
// of ln y for a target that is fitted by its logarithm. Without one, when it is farther from the labels than they are
// from each other. The first value that is not positive, where all labels are, is always named: from then on
// logarithms cannot be fitted.
#pragma once

#include <vector>

#include "dissent/ensemble/ensemble.hpp"
#include "dissent/loop/answers.hpp"

namespace dissent {

// To be asked before they are taken. `model` is the campaign's present one, or null.
std::vector<FarAnswer> far_answers(const Campaign& campaign, const Problem& data, const Answers& answers,
                                   const Ensemble* model, Executor* executor = nullptr);

}  // namespace dissent
