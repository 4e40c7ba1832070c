// What collected rows look like: how fast, how high, how spread, who acted.
#pragma once

#include <optional>

#include "dissent/simulator/collect.hpp"

namespace dissent {

struct TransitionStatistics {
  double expert_share = 0;             // of the rows
  double mean_steps = 0;               // rows per episode; the last may be cut short
  double mean_reward = 0;              // per step
  double target_stddev = 0;            // root mean square over the entries of the next state
  double mean_height = 0;              // metres; pendulum: cos angle, 1 upright and -1 hanging
  double mean_speed = 0;               // forwards, m/s; pendulum: either way round, rad/s
  std::optional<double> upright = {};  // pendulum: share of rows within 0.2 rad of upright
};

// For at least one row of one of environment_names() or a variant.
TransitionStatistics transition_statistics(const Transitions& rows);

}  // namespace dissent
