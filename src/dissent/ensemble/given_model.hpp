// Components given as arrays: an Ensemble that looks them up, so that whatever chooses rows with a model can choose
// with arrays from anywhere.
//
// Its one input column, "row", is the row's number in the arrays, exact up to 2^53. The rows of `aim`, if there are
// any, are numbered after those of `pool`. A prediction is that row of the arrays. In base space each output of a row
// is shifted by the median of its means and scaled by the geometric middle of its stddevs. This does not change
// divergences between components, and single precision keeps the digits of small differences.
#pragma once

#include "dissent/ensemble/ensemble.hpp"
#include "dissent/mixture/mixture.hpp"

namespace dissent {

// The arrays must outlive it. InputError for values that break a rule (see validate()), for covariances, and if aim and
// pool differ in their components or outputs. Weights are those of `pool`.
Ensemble given_ensemble(const MixtureView<double>& pool, const MixtureView<double>& aim = {});

}  // namespace dissent
