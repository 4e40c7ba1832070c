// Closed forms between two categorical components, like those of closed_forms.hpp for Gaussians:
//   kl           sum_k p_k ln(p_k / q_k) = sum_k p_k f(q_k / p_k - 1), f(x) = x - log(1 + x): no term is negative
//   chernoff     -ln sum_k p_k^a q_k^(1-a); for a > 1 negative, and -infinity if p has a class that q excludes
// A class that neither can take adds nothing; one that only p can take makes kl infinite. Equal components give 0.
#pragma once

#include "dissent/mixture/categorical.hpp"

namespace dissent {

double kl(const Categorical& p, const Categorical& q);
double chernoff(double alpha, const Categorical& p, const Categorical& q);

// InputError: there is no distance between classes.
double wasserstein(const Categorical& p, const Categorical& q);

}  // namespace dissent
