// The training steps behind fit(): batches, gradients and updates of one unit, which is a component (pne) or the whole
// model (flow). Losses are per output, in scaled units, without the Gaussian's constant. Units may run on different
// threads at the same time; a step allocates nothing.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "dissent/base/threads.hpp"
#include "dissent/ensemble/ensemble.hpp"
#include "dissent/network/adam.hpp"

namespace dissent {

// Scaled, row-major.
struct ScaledRows {
  std::vector<float> inputs;
  std::vector<float> targets;
};

class Trainer {
 public:
  // The model must outlive the trainer, which changes its parameters.
  Trainer(Ensemble& model, const TrainOptions& options, ScaledRows training, ScaledRows held_out);

  std::size_t steps_per_epoch() const;
  void plan_epochs(std::size_t epochs) { num_steps_ = epochs * steps_per_epoch(); }  // of the learning rate's schedule

  // Epochs [begin, end) of a unit; the mean loss of the last one. NaN as soon as a step's loss or gradient is not
  // finite. `pool` serves the flow's components; the other model's units are spread by the caller.
  double run_epochs(std::size_t unit, std::size_t begin, std::size_t end, ThreadPool* pool);

  // Mean loss of the unit's components on the held-out rows, of which there must be some.
  double validation_loss(std::size_t unit);

 private:
  // State and scratch of one component.
  struct Member {
    std::vector<std::uint32_t> sample;  // rows it trains on, in the order of the present epoch
    PanelBuffer<float> inputs;
    PanelBuffer<float> targets;
    MlpWorkspace<float> network;
    std::optional<FlowWorkspace<float>> flow;
    PanelBuffer<float> curvature;  // of the loss in base space
    AlignedVector<float> grad_log_det;
    Block<float> flow_gradient;  // of the whole layout; only the flow's part is used
    double loss = 0;             // of the present step
  };

  Member make_member(std::size_t component) const;
  void begin_epoch(std::size_t component, std::size_t epoch);
  void compute_gradient(std::size_t component, std::size_t begin, std::size_t end);
  double loss_of(std::size_t component, const ScaledRows& rows, std::size_t begin, std::size_t end);
  double component_epoch(std::size_t component, std::size_t epoch);
  double flow_epoch(std::size_t epoch, ThreadPool* pool);
  bool update(std::span<float> parameters, std::span<float> gradient, std::size_t offset, std::uint64_t step);

  Ensemble& model_;
  TrainOptions options_;
  ScaledRows training_;
  ScaledRows held_out_;
  std::size_t num_rows_;
  std::size_t batch_size_;
  std::size_t num_steps_ = 1;
  std::vector<Member> members_;
  Block<float> gradient_;
  Block<float> first_moment_;
  Block<float> second_moment_;
};

}  // namespace dissent
