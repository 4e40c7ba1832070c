// Components that are functions drawn from Gaussian processes, one process per output (process/process.hpp): the model
// kind `gp`. Each has the process's noise around it.
//
// A fitted model consists of its training rows and hyperparameters; all else follows from them and the seed. Rows are
// kept as the ensemble scales them, in single precision like the rows of predictions; the processes see them
// standardised. n rows, C input columns, D outputs, M components.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "dissent/ensemble/component_model.hpp"
#include "dissent/ensemble/model_parts.hpp"
#include "dissent/process/process.hpp"
#include "dissent/table/scaling.hpp"

namespace dissent {

class Ensemble;
class SafetensorsFile;
struct EnsembleOptions;
struct FitControl;
struct FitReport;
struct TrainingSet;

class ProcessModel final : public ComponentModel {
 public:
  // Scaled rows, row-major.
  struct Rows {
    std::vector<float> inputs;   // [n][C]
    std::vector<float> targets;  // [n][D]
  };
  // Without rows it predicts the prior, whose stddev is 1 in units of the scaled targets.
  ProcessModel(std::vector<double> weights, std::size_t num_columns, std::size_t num_outputs, std::uint64_t seed);

  // Sets the rows, the logarithms of hyperparameters [D][1 or 1 + M][3 + C] (of the mode, and of the components if they
  // have their own), and the extra noise of rows that do not fit, [D][n] or empty, in standardised units.
  void assign(Rows rows, std::vector<float> log_hyperparameters, std::vector<float> extra_noise, Executor* executor);
  // For the search for hyperparameters: its options, and the rows standardised as assign() will do it.
  ProcessOptions options() const;
  RowMatrix standard_inputs(const Rows& rows) const;
  RowMatrix standard_targets(const Rows& rows) const;

  bool has_stray_rows() const { return !extra_noise_.empty(); }
  bool is_fitted() const { return process_ != nullptr; }
  // The process that predicts; the model must be fitted. And inputs [N][C] in the user's units, as it takes them.
  const GaussianProcess& process() const { return *process_; }
  RowMatrix standard_rows(const Scaling& input_scaling, std::span<const double> inputs) const;

  std::unique_ptr<ComponentModel> clone() const override { return std::make_unique<ProcessModel>(*this); }
  std::size_t num_components() const override { return weights_.size(); }
  std::span<const float> parameters() const override { return log_hyperparameters_; }
  std::unique_ptr<Scratch> make_scratch() const override { return std::make_unique<Scratch>(); }
  void predict(const RowBlock& rows, const Scaling& units, Scratch& scratch, std::span<double> mean,
               std::span<double> stddev) const override;
  void predict(const RowBlock& rows, Scratch& scratch, std::span<float> mean, std::span<float> stddev) const override;
  // A posterior's certainty ends where its data end.
  void limit_certainty(const Scaling&, std::span<const double>, Executor*) override {}
  void scale_spread(std::span<const double> factors) override;
  void add_arrays(NamedArrays& to) const override;

 private:
  friend ModelParts load_process(const SafetensorsFile& file, const EnsembleOptions& options,
                                 const EnsembleColumns& columns);

  std::vector<double> weights_;  // of the components
  std::size_t num_columns_;
  std::size_t num_outputs_;
  std::uint64_t seed_;
  Rows rows_;
  std::vector<float> log_hyperparameters_;
  std::vector<float> extra_noise_;
  std::vector<double> spread_;                      // [D], of scale_spread()
  Scaling input_units_;                             // from standardised to scaled
  Scaling target_units_;                            // likewise
  std::shared_ptr<const GaussianProcess> process_;  // null without rows
};

// Whether processes of this many rows and outputs fit into reasonable memory.
bool can_be_process(std::size_t num_rows, std::size_t num_outputs);

// Rows of the registry (model_kind.hpp).
ModelParts make_process(const EnsembleOptions& options, const EnsembleColumns& columns);
ModelParts load_process(const SafetensorsFile& file, const EnsembleOptions& options, const EnsembleColumns& columns);
FitReport train_process(Ensemble& model, TrainingSet data, const FitControl& control);

}  // namespace dissent
