// Model::kAuto: the kind of model that predicts rows best that it has not seen.
//
// Five folds of the rows are held out in turn. Each kind is fitted to the others, and the log-likelihood of the
// held-out rows compared, row by row. The first of gp, pne and flow that can take the rows stays unless another is
// ahead by two standard errors: it has the strongest prior, and a few rows are weak evidence. Of several that are ahead
// of it the one with the best score is taken. One that is behind after a fold drops out, and so does one whose lead is
// too small to become clear, so that mostly one fold is enough. A kind whose errors are clearly larger by more than a
// tenth drops out too, however well it describes the noise: such a model is at a loss away from its rows, where a
// campaign will look. Networks take a quarter of their steps, and fewer with more than 100 input columns.
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
  bool interrupted = false;  // the comparison was not brought to its end
};

// What a model says of rows held out.
struct HeldOut {
  std::vector<double> density;  // log density of each
  std::vector<double> mean;     // [rows][D]
};

// That of a model fitted to `rows`; empty where the fit was interrupted.
using FitAndPredict =
    std::function<HeldOut(const EnsembleOptions& options, const TrainOptions& train, const TrainingRows& rows,
                          std::span<const double> held_inputs, std::span<const double> held_targets)>;

// The rows are checked. The same rows and options give the same choice. `networks_only`: what follows needs networks.
ModelChoice choose_model(const EnsembleOptions& options, const TrainOptions& train, const TrainingRows& rows,
                         bool networks_only, const FitAndPredict& fit_and_predict, Executor* executor);

}  // namespace dissent
