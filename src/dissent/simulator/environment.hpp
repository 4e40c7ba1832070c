// Environments: simulators that are reset from a random stream and stepped by actions.
//
// One interface for the analytic pendulum and the MuJoCo robots. An environment belongs to one thread: make one per
// thread. Its trajectory is a pure function of the reset stream and the actions. Observations and actions are plain
// double arrays of the sizes in spec(); a step lasts spec().seconds_per_step.
#pragma once

#include <array>
#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "dissent/base/random.hpp"

namespace dissent {

struct EnvironmentSpec {
  std::string name;
  std::size_t observation_size = 0;
  std::vector<double> action_low;  // one entry per action
  std::vector<double> action_high;
  double seconds_per_step = 0;
  std::size_t max_steps = 0;  // an episode that has not ended by then is cut off (a timeout, not a terminal)
  std::string model;          // robots: "built-in" or the model's file; empty for what is computed in closed form
  std::string model_digest;   // robots: 16 hexadecimal digits of the compiled model, included files and all

  std::size_t action_size() const { return action_low.size(); }
};

struct StepOutcome {
  double reward = 0;        // as the published environment pays it
  double alive_bonus = 0;   // the part of it paid for not having ended,
  double control_cost = 0;  // and the part subtracted for the effort of the action
  bool terminated = false;  // the robot fell: an end by the rules of the environment
  bool unstable = false;    // the simulation diverged: nothing observed after this step may be used
};

// One stroke of a drawing of the current state, in metres, z up. begin == end is a ball.
struct Segment {
  std::array<double, 3> begin{};
  std::array<double, 3> end{};
  double radius = 0;
};

class Environment {
 public:
  virtual ~Environment() = default;
  virtual const EnvironmentSpec& spec() const = 0;
  virtual void reset(Stream& stream) = 0;
  // action has spec().action_size() finite entries; entries beyond the bounds act as the bound.
  virtual StepOutcome step(std::span<const double> action) = 0;
  virtual void observe(std::span<double> observation) const = 0;
  virtual std::vector<Segment> segments() const = 0;
};

struct EnvironmentOptions {
  std::string model_file;     // robots: a MuJoCo XML file in place of the built-in model; sizes must agree
  bool euler = false;         // robots: semi-implicit Euler in place of RK4, several times faster; for training only
  double start_speed = 0;     // pendulum: episodes begin at any speed up to this; 0: 1, as published
  std::size_t max_steps = 0;  // 0: the limit published
};

// "pendulum", "hopper", "ant", "humanoid". An unknown name is an InputError that suggests the nearest one; a robot in a
// build without MuJoCo is an InputError that says how to get it.
std::unique_ptr<Environment> make_environment(std::string_view name, const EnvironmentOptions& options = {});
const std::vector<std::string>& environment_names();

}  // namespace dissent
