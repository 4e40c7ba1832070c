// Training the networks of an ensemble, and its flow: epochs with validation, early stopping and checkpoints around the
// steps of trainer.hpp. What fit() does for models of networks (model_kind.hpp).
#pragma once

#include <cstddef>

#include "dissent/ensemble/fit.hpp"
#include "dissent/ensemble/trainer.hpp"

namespace dissent {

// What fit() has prepared: the rows as they were given, and scaled in the order of training, the held-out ones last.
struct TrainingSet {
  const TrainOptions& options;
  const TrainingRows& rows;
  ScaledRows scaled;
  std::size_t num_held_out = 0;
};

// Leaves the best parameters in the model.
FitReport train_networks(Ensemble& model, TrainingSet data, const FitControl& control);

}  // namespace dissent
