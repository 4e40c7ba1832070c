// quadrature: the mutual information of a mixture with one output by numerical integration, to 1e-10 or better. The
// truth that everything else is tested against.
//
// With x_j = p(y) / p_j(y) - 1 and f(x) = x - log(1 + x) both integrands are >= 0, so nothing cancels near either end:
//   I        = integral sum_j w_j p_j f(x_j) dy          (the term in x_j integrates to 0)
//   H(w) - I = integral p H(posterior) dy = integral sum_j w_j p_j log1p(sum_{i != j} w_i p_i / (w_j p_j)) dy
// The line is cut where components begin, end and cross; each piece is integrated by adaptive Gauss-Kronrod on the
// integrand scaled by its maximum, so that the deficit has its relative accuracy at any separation.
#pragma once

#include "dissent/estimator/estimator.hpp"

namespace dissent {

// Throws unless D = 1.
template <class T>
Uncertainty quadrature(const MixtureView<T>& mixture, const Weights& weights, const EstimateOptions& options);

}  // namespace dissent
