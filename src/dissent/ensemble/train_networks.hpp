// Training the networks of an ensemble, and its flow: epochs with validation, early stopping and checkpoints around the
// steps of trainer.hpp. fit() calls it for models of networks (model_kind.hpp).
#pragma once

#include "dissent/ensemble/fit.hpp"
#include "dissent/ensemble/trainer.hpp"

namespace dissent {

// Leaves the best parameters in the model.
FitReport train_networks(Ensemble& model, TrainingSet data, const FitControl& control);

}  // namespace dissent
