// Recalibration: one factor per output that makes the predicted spread fit rows the model was not trained on.
//
// Every component's stddev of output d is multiplied by f_d; means, weights and the flow stay as they are. The factors
// maximise the likelihood of the held-out values. With one component f_d^2 = mean of ((y - mean) / stddev)^2, exactly.
// With several, expectation maximisation finds them from f = 1; each component counts by its share of the row:
//   r_nm ~ w_m N(y_n; mean_nm, f stddev_nm),    f_d^2 <- mean over n of sum_m r_nm ((y_nd - mean_nmd) / stddev_nmd)^2
// Each step raises the likelihood. The relative standard error of a factor is about 1 / sqrt(2 N): 7% for 100 rows.
//
// flow: the factors act on the base Gaussians, through the same flow. So the corrected model is again a mixture behind
// one shared invertible map, and its epistemic uncertainty is, as before, the same in base and in output space; it is
// that of the corrected components, which overlap more the larger their spread.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "dissent/ensemble/ensemble.hpp"
#include "dissent/mixture/mixture.hpp"

namespace dissent {

// Fewer held-out rows say too little about a spread.
inline constexpr std::size_t kMinRecalibrationRows = 10;

inline constexpr double kLeastSpreadFactor = 1e-3;
inline constexpr double kMostSpreadFactor = 1e3;
// Whether a factor is at these limits. Then something else than the spread is wrong, such as a unit.
inline bool is_factor_limit(double factor) {
  constexpr double kRounding = 1 + 1e-9;
  return factor <= kLeastSpreadFactor * kRounding || factor * kRounding >= kMostSpreadFactor;
}

// Factors of any mixture's stddevs from values [N][D] in the same space, each within the limits.
// InputError for full covariances, sizes that differ, values that are not finite and fewer rows than the minimum.
std::vector<double> spread_factors(const Mixture<double>& mixture, const Weights& weights,
                                   std::span<const double> values);

// Multiplies the stddevs of all components and inputs by the factor of their output. A model does this itself
// (Ensemble::scale_spread) and stays an ordinary model.
void scale_spread(Mixture<double>& mixture, std::span<const double> factors);

// Applies spread_factors() of the model on held-out rows with Ensemble::scale_spread, and returns them, one per target.
// With `flow` they act on the base value that becomes the target.
std::vector<double> recalibrate(Ensemble& model, std::span<const double> inputs, std::span<const double> targets,
                                Executor* executor = nullptr);

}  // namespace dissent
