// StepFactors: the factors of a training step, computed by trainer.hpp for whoever runs the step.
#pragma once

namespace dissent {

// The factors of one step, except the gradient's clipping, which depends on its norm. Adam's betas and epsilon are
// those of AdamOptions. In the order in which they are applied:
struct StepFactors {
  float shrink = 1;          // of every parameter, before Adam's step is taken from it
  float step_size = 0;       // learning rate / (1 - beta1^t)
  float inverse_root = 1;    // 1 / sqrt(1 - beta2^t)
  float flow_shrink = 1;     // of the flow's parameters, after the step
  float average_newest = 0;  // average += average_newest * (parameter - average); 0: no average is kept
};

}  // namespace dissent
