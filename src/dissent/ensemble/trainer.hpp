// The training steps behind fit(): batches, gradients and updates of one unit, which is a component, or the whole model
// if components share parameters (NetworkModel::joint). Losses are per output, in scaled units, without the Gaussian's
// constant. Units may run on different threads at the same time; a step allocates nothing.
//
// What an epoch does depends only on its number, the model's parameters and the moments, so a fit can be resumed from
// these at any epoch.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "dissent/base/executor.hpp"
#include "dissent/ensemble/ensemble.hpp"
#include "dissent/ensemble/fit_device.hpp"
#include "dissent/ensemble/network_model.hpp"
#include "dissent/network/adam.hpp"

namespace dissent {

struct TrainingRows;

// Scaled, row-major.
struct ScaledRows {
  std::vector<float> inputs;
  std::vector<float> targets;
  std::vector<float> weights = {};  // of rows, as scaled_weights() makes them; empty: all count alike
};

// What fit() has prepared: the rows as they were given, and scaled in the order of training, the held-out ones last.
struct TrainingSet {
  const TrainOptions& options;
  const TrainingRows& rows;
  std::vector<std::uint32_t> order;  // numbers of the rows in that order
  ScaledRows scaled;
  std::size_t num_held_out = 0;
};

// The rows that a component trains on, out of `num_rows`, if options ask for bootstrap samples.
std::vector<std::uint32_t> bootstrap_sample(std::uint64_t seed, std::size_t component, std::size_t num_rows);

class Trainer {
 public:
  // The last `num_held_out` rows are held out. Without any, a component that trains on a bootstrap sample holds out the
  // rows that are not in it. The model must outlive the trainer, which changes its parameters. `steps_elsewhere`: a
  // device runs the steps (device_trainer.hpp). The trainer then only judges by held-out rows; without any it has
  // hardly any scratch memory.
  Trainer(Ensemble& model, const TrainOptions& options, ScaledRows rows, std::size_t num_held_out,
          bool steps_elsewhere = false);

  std::size_t num_units() const { return networks_.joint() ? 1 : states_.size(); }
  std::span<float> parameters(std::size_t unit);  // what the unit trains, a part of the model's

  std::size_t steps_per_epoch() const;
  void plan_epochs(std::size_t epochs) { num_steps_ = epochs * steps_per_epoch(); }  // of the learning rate's schedule

  // Restarts a unit after it diverged for the restart-th time: from other initial weights, with rows in another order,
  // at a lower learning rate. restart > 0.
  void restart(std::size_t unit, std::size_t restart);
  // The same without touching parameters and moments, for resuming from a checkpoint.
  void set_restart(std::size_t unit, std::size_t restart);

  std::size_t restarts(std::size_t unit) const { return restarts_[unit]; }

  // Runs epochs [begin, end) of a unit and returns the mean loss of the last one; NaN as soon as a step's loss or
  // gradient is not finite. `executor` serves the components of a joint model; the caller spreads other units.
  double run_epochs(std::size_t unit, std::size_t begin, std::size_t end, Executor* executor);

  // Mean loss of the unit's components on their held-out rows, of which there must be some.
  bool holds_out(std::size_t unit) const;
  double validation_loss(std::size_t unit);

  // A running mean of the parameters over the last steps, in their layout; without averaging it stays as it began.
  std::span<float> average() { return average_; }

  // Adam's, in the layout of the model's parameters.
  std::span<float> first_moment() { return first_moment_; }
  std::span<float> second_moment() { return second_moment_; }

  // For whoever runs the steps elsewhere: what to train, valid while the trainer lives, and the factors of a step (the
  // first is 1) of a unit whose parameters move at every step.
  FitProblem problem() const;
  StepFactors step_factors(std::size_t unit, std::uint64_t step) const;

 private:
  // State and scratch of one component.
  struct ComponentState {
    std::vector<std::uint32_t> sample;  // rows it trains on
    std::vector<std::uint32_t> order;   // the same, in the order of the current epoch
    std::vector<std::uint32_t> held_out;
    PanelBuffer<float> inputs;
    PanelBuffer<float> targets;
    MlpWorkspace<float> network;
    Block<float> weights;   // its part of shared weights, and ...
    Block<float> gradient;  // ... the gradient of that
    std::optional<FlowWorkspace<float>> flow;
    PanelBuffer<float> curvature;  // of the loss in base space
    AlignedVector<float> grad_log_det;
    Block<float> flow_gradient;          // of the whole layout; only the flow's part is used
    std::vector<float> weights_of_rows;  // of the current batch, if there are any
    double loss = 0;                     // of the current step
    std::uint64_t num_turns = 0;         // with one component per step: how often it was its turn ...
    std::size_t turns_epoch = 0;         // ... before this epoch
  };

  ComponentState make_state(std::size_t component) const;
  std::span<const ComponentState> states_of(std::size_t unit) const;
  void begin_epoch(std::size_t component, std::size_t epoch);
  std::vector<std::size_t> draw_turns(std::size_t epoch) const;
  std::uint64_t turns_before(std::size_t epoch, std::size_t component);
  void compute_gradient(std::size_t component, std::size_t begin, std::size_t end);
  double sum_gradients(std::size_t first, std::size_t last);
  std::span<const float> gather_weights(ComponentState& state, std::span<const std::uint32_t> chosen) const;
  double weight_of(std::span<const std::uint32_t> rows) const;
  double loss_of(std::size_t component, std::span<const std::uint32_t> chosen);
  double component_epoch(std::size_t component, std::size_t epoch);
  double joint_epoch(std::size_t epoch, Executor* executor);
  double turns_epoch(std::size_t epoch);
  AdamOptions adam_options(std::size_t unit, std::uint64_t step) const;
  double flow_shrink(double learning_rate) const;
  double average_newest(std::uint64_t own_step) const;
  // `step` is that of the schedule, `own_step` that of these parameters.
  bool update(std::size_t unit, std::span<float> parameters, std::uint64_t step, std::uint64_t own_step);

  Ensemble& model_;
  NetworkModel& networks_;
  TrainOptions options_;
  ScaledRows rows_;
  std::size_t num_held_out_;
  std::size_t num_rows_;  // trained on
  std::size_t batch_size_;
  std::size_t capacity_;  // of the scratch memory of a step
  std::size_t num_steps_ = 1;
  std::vector<ComponentState> states_;
  std::vector<std::size_t> restarts_;  // of each unit
  Block<float> gradient_;
  Block<float> average_;
  Block<float> first_moment_;
  Block<float> second_moment_;
};

}  // namespace dissent
