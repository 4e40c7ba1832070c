// A certified interval for the mutual information of each input, with no sampling.
//
//   lower: the largest of the Chernoff estimates over alpha in (0, 1). Each Chernoff divergence is concave in alpha and
//          the estimate is a concave, increasing function of them, so it has one peak: golden-section search finds it.
//          Any alpha gives a valid bound, so the interval holds however far the search went.
//   upper: the KL estimate, which is never above EPKL nor above H(weights).
// epistemic is the middle of the interval; log_deficit agrees with it. Extras: lower, upper, alpha (of the lower
// bound), lower_log_deficit and upper_log_deficit: the ends once more, as ln(H(weights) - end).
#pragma once

#include "dissent/estimator/estimator.hpp"

namespace dissent {

template <class T>
Uncertainty bounds(const MixtureView<T>& mixture, const Weights& weights, const EstimateOptions& options);

}  // namespace dissent
