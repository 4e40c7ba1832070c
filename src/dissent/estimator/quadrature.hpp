// quadrature: the mutual information of a mixture with one output by numerical integration, to 1e-10 or better. The
// truth that everything else is tested against.
//
// With the posterior q_j = w_j p_j / p over components at an output y, both integrands are >= 0 term by term, so
// nothing cancels near either end:
//   I        = integral p KL(q || w) dy = integral p sum_j (w_j - q_j + q_j ln(q_j / w_j)) dy
//   H(w) - I = integral p H(q) dy
// The line is cut where components begin, end and cross. Outputs are held as a sum of two doubles, so that components
// far from the origin (or from each other) keep their digits. Pieces are integrated by Gauss-Kronrod on the integrand
// scaled by its maximum and halved until their error is nothing beside the whole; so the deficit has its relative
// accuracy at any separation, up to rounding of the log densities (1e-16 times their size).
#pragma once

#include "dissent/estimator/estimator.hpp"

namespace dissent {

// Throws unless D = 1.
template <class T>
Uncertainty quadrature(const MixtureView<T>& mixture, const Weights& weights, const EstimateOptions& options);

}  // namespace dissent
