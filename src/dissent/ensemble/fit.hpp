// Training an ensemble on rows of numbers.
//
// pne:  each component minimises the Gaussian negative log-likelihood of its own bootstrap sample by itself; components
//       share nothing, so they run side by side.
// flow, and any model with shared weights: all parameters together minimise the mean over components of -ln p_j of that
//       component's batch. The components' gradients of shared parameters are computed side by side and summed in
//       component order (a sum, not a mean: Adam ignores the factor, and a component's own parameters get the same
//       gradient in an ensemble of any size).
// Everything random comes from streams of (seed, purpose, component, epoch): the same seed gives the same bits on any
// number of threads. A training step allocates nothing.
//
// A fit keeps the last parameters, or with TrainOptions::choose_epoch those that do best on rows not trained on: a
// held-out share or, without one, the rows that a component's bootstrap sample leaves out (about 37%).
//
// A component whose loss diverges (not finite, or far above where it started) is trained again at a lower rate. If that
// does not help, the best parameters seen are kept and the report says so. The parameters of the result are always
// finite. Gaussian processes are fitted output by output (process_model.hpp).
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
  bool waiting = false;        // nothing new to show: only asks whether to go on
};

class FitDevice;

struct FitControl {
  Executor* executor = nullptr;
  // Called on the calling thread every few epochs, and while kinds of models are compared. False ends the fit there: it
  // writes its checkpoint if there is anything to resume from and returns the best parameters so far, and the report
  // says `interrupted`.
  std::function<bool(const FitProgress&)> progress = {};
  // A file for the state of the fit, written every few seconds; empty: none. If it exists at the start, the fit resumes
  // from it and ends with the same bits as one that was never stopped; InputError if it belongs to other options or
  // rows. The caller removes it once the result is safe.
  std::string checkpoint = {};
  double checkpoint_seconds = 5;  // at least, from one write to the next
  bool networks_only = false;     // Model::kAuto chooses a network, since what follows needs one
  bool warn = true;               // look for things to warn about in the report
  // The device that trains networks; null: this processor, which does everything else in any case. InputError for
  // networks that it cannot train.
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
  std::size_t resumed_epoch = 0;         // where the fit resumed from a checkpoint; 0: it did not
  std::string choice = {};               // why this kind of model was chosen; empty if it was given
  std::vector<std::size_t> kept_epochs;  // whose parameters were kept, one per component; one in all for a joint model
  std::vector<std::size_t> restarted;    // components trained again because their loss diverged
  std::vector<std::size_t> diverged;     // components whose loss diverged each time; all or none of a joint model
  std::vector<std::string> warnings;     // what to check about the rows (fit_warnings.hpp)
};

template <>
std::span<const Field<FitReport>> fields();

struct FitResult {
  Ensemble model;
  FitReport report;
};

// The fewest rows to train on; held-out rows come on top.
inline constexpr std::size_t kMinRows = 2;

// InputError for options out of range, values that are not finite (named by row and column) and too few rows. The last
// two name rows.source, if it is set.
FitResult fit(const EnsembleOptions& options, const TrainOptions& train, const TrainingRows& rows,
              const FitControl& control = {});
inline FitResult fit(const FitOptions& options, const TrainingRows& rows, const FitControl& control = {}) {
  return fit(options.ensemble, options.train, rows, control);
}

}  // namespace dissent
