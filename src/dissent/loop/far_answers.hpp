// Answers that look like mistakes: outside the range of all labels, and far from what the model expects.
//
// With a model, an answer is far if it is more than 6 standard deviations from its prediction, in the space of the fit:
// ln y for a target that is fitted by its logarithm. Without one, it is far if it is farther from the labels than they
// are from each other. The first value that is not positive, when all labels are, is always named: from then on
// logarithms cannot be fitted.
#pragma once

#include <vector>

#include "dissent/ensemble/ensemble.hpp"
#include "dissent/loop/answers.hpp"

namespace dissent {

// `campaign` is as it was before it took the answers; `model` is its model then, or null.
std::vector<FarAnswer> far_answers(const Campaign& campaign, const Problem& data, const Answers& answers,
                                   const Ensemble* model, Executor* executor = nullptr);

}  // namespace dissent
