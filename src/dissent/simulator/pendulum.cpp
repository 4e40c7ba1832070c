#include "dissent/simulator/pendulum.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>

namespace dissent {
namespace {

constexpr double kGravity = 10;
constexpr double kMass = 1;
constexpr double kLength = 1;
constexpr double kSecondsPerStep = 0.05;
constexpr double kMaxTorque = 2;
constexpr double kMaxSpeed = 8;

// The angle's representative in [-pi, pi).
double wrap_angle(double angle) {
  const double turns = std::floor((angle + std::numbers::pi) / (2 * std::numbers::pi));
  return angle - 2 * std::numbers::pi * turns;
}

}  // namespace

Pendulum::Pendulum(const EnvironmentOptions& options)
    : start_speed_(options.start_speed > 0 ? options.start_speed : 1) {
  spec_.name = "pendulum";
  spec_.observation_size = 3;
  spec_.action_low = {-kMaxTorque};
  spec_.action_high = {kMaxTorque};
  spec_.seconds_per_step = kSecondsPerStep;
  spec_.max_steps = options.max_steps > 0 ? options.max_steps : 200;
}

void Pendulum::reset(Stream& stream) {
  angle_ = std::numbers::pi * (2 * stream.uniform() - 1);
  speed_ = start_speed_ * (2 * stream.uniform() - 1);
}

StepOutcome Pendulum::step(std::span<const double> action) {
  const double torque = std::clamp(action[0], -kMaxTorque, kMaxTorque);
  const double tilt = wrap_angle(angle_);
  StepOutcome outcome;
  outcome.control_cost = 0.001 * torque * torque;
  outcome.reward = -(tilt * tilt + 0.1 * speed_ * speed_) - outcome.control_cost;

  const double acceleration =
      3 * kGravity / (2 * kLength) * std::sin(angle_) + 3 / (kMass * kLength * kLength) * torque;
  const double new_speed = speed_ + acceleration * kSecondsPerStep;
  angle_ += new_speed * kSecondsPerStep;
  speed_ = std::clamp(new_speed, -kMaxSpeed, kMaxSpeed);
  outcome.unstable = !std::isfinite(angle_) || !std::isfinite(speed_);  // the action was not a number
  outcome.terminated = outcome.unstable;
  return outcome;
}

void Pendulum::observe(std::span<double> observation) const {
  observation[0] = std::cos(angle_);
  observation[1] = std::sin(angle_);
  observation[2] = speed_;
}

// The rod hangs from a pivot one metre above the floor.
std::vector<Segment> Pendulum::segments() const {
  const std::array<double, 3> pivot{0, 0, 1};
  const std::array<double, 3> tip{kLength * std::sin(angle_), 0, 1 + kLength * std::cos(angle_)};
  return {{pivot, pivot, 0.09}, {pivot, tip, 0.06}};
}

void Pendulum::set_state(double angle, double speed) {
  angle_ = angle;
  speed_ = speed;
}

}  // namespace dissent
