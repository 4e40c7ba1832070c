// Model::kAuto: chooses the kind of model that best predicts rows it has not seen.
//
// Five folds of the rows are held out in turn. Each kind is fitted to the other rows, and the log-likelihoods of the
// held-out rows are compared row by row. The first of gp, pne and flow that can take the rows stays unless another is
// ahead by two standard errors: it has the strongest prior, and a few rows are weak evidence. If several are ahead of
// it, the one with the best score wins. A kind that is behind after a fold drops out, and so does one whose lead is too
// small to become clear, so one fold is usually enough. A kind also drops out if its errors are clearly more than a
// tenth larger, however well it describes the noise: such a model fails away from its rows, where a campaign will look.
// Networks take a quarter of their usual steps, and fewer with more than 100 input columns.
#pragma once

#include <functional>
#include <span>
#include <string>
#include <vector>

#include "dissent/base/executor.hpp"
#include "dissent/ensemble/model_parts.hpp"
#include "dissent/ensemble/options.hpp"

namespace dissent {

struct ModelChoice {
  Model model = Model::kGp;
  std::string reason;        // "gp: -3.21 nats a row on 60 rows held out in turn; pne 0.2 behind, flow 0.3 behind"
  bool interrupted = false;  // the comparison did not finish
};

// How a model predicts held-out rows.
struct HeldOut {
  std::vector<double> density;  // log density of each
  std::vector<double> mean;     // [rows][D]
};

// Fits a model to `rows` and predicts the held-out rows; empty if the fit was interrupted.
using FitAndPredict =
    std::function<HeldOut(const EnsembleOptions& options, const TrainOptions& train, const TrainingRows& rows,
                          std::span<const double> held_inputs, std::span<const double> held_targets)>;

// The rows must be checked already. The same rows and options give the same choice. `networks_only`: choose a network,
// because what follows needs one.
ModelChoice choose_model(const EnsembleOptions& options, const TrainOptions& train, const TrainingRows& rows,
                         bool networks_only, const FitAndPredict& fit_and_predict, Executor* executor);

}  // namespace dissent
