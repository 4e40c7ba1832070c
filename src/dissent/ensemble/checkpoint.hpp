// The state of a fit, and its checkpoint: a file from which a killed fit resumes and ends with the same bits.
//
// A safetensors file. Metadata: "format", "format_version" and "fit", a JSON text of everything the result depends on
// (options, library version, a digest of the rows). Arrays for networks, with P parameters and U units:
//   parameters, average, best, first_moment, second_moment   F32 [P], in the layout of the model
//   units                                           F64 [U][10], the values of UnitRecord in their order
//   epoch                                           I64 [1]
// Arrays for Gaussian processes, which are fitted output by output:
//   outputs                                         F32 [outputs done][values found for each]
//   extra_noise                                     F32 [outputs done][rows trained on], only if there is any
#pragma once

#include <cstddef>
#include <limits>
#include <span>
#include <string>
#include <vector>

#include "dissent/ensemble/fit.hpp"

namespace dissent {

// The progress of a unit: a component or a joint model, which is trained, stopped and restored as a whole.
struct UnitRecord {
  double first_loss = std::numeric_limits<double>::quiet_NaN();
  double best_loss = std::numeric_limits<double>::infinity();
  double loss = std::numeric_limits<double>::quiet_NaN();
  double validation_loss = std::numeric_limits<double>::quiet_NaN();
  std::size_t best_epoch = 0;
  std::size_t epochs_run = 0;  // since the last restart
  std::size_t restarts = 0;    // after its loss diverged
  bool done = false;
  bool stopped_early = false;
  bool diverged = false;
};

// Everything the rest of a fit depends on, besides options and rows. The spans have one size and are not owned.
struct FitState {
  std::size_t epoch = 0;  // the next epoch of the unit that is furthest behind
  std::vector<UnitRecord> units;
  std::span<float> parameters;
  std::span<float> average;  // running mean of the parameters during training
  std::span<float> best;     // the best parameters so far
  std::span<float> first_moment;
  std::span<float> second_moment;
};

// JSON of everything that distinguishes one fit from another.
std::string fit_identity(const Ensemble& model, const TrainOptions& train, const TrainingRows& rows);

void write_checkpoint(const std::string& path, const std::string& identity, const FitState& state);

// Fills `state`, whose sizes are already set. False if there is no file; InputError if it is damaged or belongs to
// another fit.
bool read_checkpoint(const std::string& path, const std::string& identity, FitState& state);

// For models fitted output by output: writes the number of outputs done and what was found for them. `extra_noise` has
// one number per row for each output done, or is empty.
void write_outputs(const std::string& path, const std::string& identity, std::size_t done, std::span<const float> found,
                   std::span<const float> extra_noise);
// Returns the number of outputs done, 0 if there is no file. InputError as above.
std::size_t read_outputs(const std::string& path, const std::string& identity, std::vector<float>& found,
                         std::vector<float>& extra_noise);

}  // namespace dissent
