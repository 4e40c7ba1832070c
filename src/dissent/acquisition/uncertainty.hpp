// What a model does not know at each input, in nats and in the user's units: the one way from a model to an
// Uncertainty.
//
// A flow keeps its Gaussians in a base space. The epistemic part is the same there and is estimated there; the
// aleatoric part is that of the outputs (ensemble/summary.hpp), and so is the total.
#pragma once

#include <span>

#include "dissent/ensemble/ensemble.hpp"
#include "dissent/ensemble/summary.hpp"
#include "dissent/estimator/estimator.hpp"

namespace dissent {

struct UncertaintyOptions {
  Estimator estimator = {};  // of the epistemic part
  EstimateOptions estimate = {};
  bool aleatoric = true;  // else aleatoric and total stay empty: a flow takes longer to integrate than to estimate
};

// `inputs`: [N][C], in the user's units.
Uncertainty uncertainty(const Ensemble& model, std::span<const double> inputs, const UncertaintyOptions& options = {});

// The same for an existing prediction: mixture is model.predict(inputs), summary its summarise().
Uncertainty uncertainty(const MixtureView<double>& mixture, const Summary& summary,
                        const UncertaintyOptions& options = {});

}  // namespace dissent
