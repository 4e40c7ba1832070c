// Training an ensemble on rows of numbers.
//
// pne:  each component minimises the Gaussian negative log-likelihood of its own bootstrap sample by itself; components
//       share nothing, so they run side by side.
// flow, and any model with shared weights: all parameters minimise together the mean over components of -ln p_j of that
//       component's batch. The components' gradients of what they share are computed side by side and summed in their
//       order (a sum, not a mean: Adam does not feel the factor, and a component's own parameters see the same gradient
//       as in an ensemble of any size).
// Everything random comes from streams of (seed, purpose, component, epoch): the same seed gives the same bits on any
// number of threads. A training step allocates nothing.
//
// The parameters kept are the last, or with TrainOptions::choose_epoch the best on rows not trained on: a share that is
// held out, or without one the rows that a component's bootstrap sample leaves out (about 37%).
//
// A component whose loss diverges (not finite, or far above where it started) is trained again at a lower rate. If that
// does not help, the best parameters seen are kept and the report says so. The result never holds anything but finite
// parameters. Gaussian processes are fitted output by output (process_model.hpp).
#pragma once

#include <cstddef>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "dissent/base/executor.hpp"
#include "dissent/base/field.hpp"
#include "dissent/ensemble/ensemble.hpp"
#include "dissent/ensemble/options.hpp"

namespace dissent {

// Negative log-likelihood per row in the user's units, averaged over components (each by itself, not their mixture).
struct FitProgress {
  std::size_t epoch = 0;
  std::size_t epochs = 0;
  double loss = 0;
  double validation_loss = 0;  // on held-out rows, or on those that samples leave out; NaN without either
  bool waiting = false;        // nothing new to show: only whether to go on is asked
};

class FitDevice;

struct FitControl {
  Executor* executor = nullptr;
  // On the calling thread, every few epochs, and while kinds of models are compared. False ends the fit there: its
  // checkpoint is written if there is anything to go on from, the best parameters so far are returned and the report
  // says `interrupted`.
  std::function<bool(const FitProgress&)> progress = {};
  // A file for the state of the fit, written every few seconds; empty: none. If it is there at the start, the fit goes
  // on from it and ends with the same bits as one that was never stopped; InputError if it belongs to other options or
  // rows. It is for the caller to remove once the result is safe.
  std::string checkpoint = {};
  double checkpoint_seconds = 5;  // at least, from one to the next
  bool networks_only = false;     // where the model is chosen: a network, since what follows needs one
  bool warn = true;               // look for what the report warns of
  // Where networks are trained; null: on this processor, as is all else. InputError for networks that it cannot train.
  FitDevice* device = nullptr;
};

struct FitReport {
  std::size_t num_rows = 0;  // trained on
  std::size_t num_validation_rows = 0;
  std::size_t epochs = 0;      // planned
  std::size_t epochs_run = 0;  // of the component that ran longest
  double loss = 0;             // of the last epoch
  double validation_loss = 0;  // of the parameters kept; NaN as above
  bool stopped_early = false;
  bool interrupted = false;              // by FitControl::progress
  std::size_t resumed_epoch = 0;         // where a checkpoint was taken up; 0: none
  std::string choice = {};               // why this kind of model was taken; empty where it was given
  std::vector<std::size_t> kept_epochs;  // whose parameters were kept, of each component; of a joint model one
  std::vector<std::size_t> restarted;    // components that were trained again since their loss diverged
  std::vector<std::size_t> diverged;     // those whose loss did so each time; of a joint model all or none
  std::vector<std::string> warnings;     // what about the rows should be looked at (fit_warnings.hpp)
};

template <>
std::span<const Field<FitReport>> fields();

struct FitResult {
  Ensemble model;
  FitReport report;
};

// The fewest rows that can be fitted: two to train on, and one held out if any.
inline constexpr std::size_t kMinRows = 2;

// InputError for options out of range, values that are not finite (named by row and column) and too few rows. It names
// no source: that is for the caller, who knows where the rows are from (in_source).
FitResult fit(const EnsembleOptions& options, const TrainOptions& train, const TrainingRows& rows,
              const FitControl& control = {});
inline FitResult fit(const FitOptions& options, const TrainingRows& rows, const FitControl& control = {}) {
  return fit(options.ensemble, options.train, rows, control);
}

}  // namespace dissent
