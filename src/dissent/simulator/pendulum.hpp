// The torque-limited pendulum of gym (Pendulum-v0), in closed form: a rod of mass 1 kg and length 1 m under g = 10.
//
// Angle 0 is upright. speed' = speed + (3 g / (2 l) sin angle + 3 / (m l^2) torque) dt, dt = 0.05 s; the angle moves
// with the new speed before that is clipped to +-8 rad/s (as published; it matters for the data at the clip).
// Observation: cos angle, sin angle, speed. Reward: -(angle^2 + 0.1 speed^2 + 0.001 torque^2) before the step, angle in
// [-pi, pi). It never falls; episodes are cut off after 200 steps.
#pragma once

#include "dissent/simulator/environment.hpp"

namespace dissent {

class Pendulum : public Environment {
 public:
  explicit Pendulum(const EnvironmentOptions& options = {});

  const EnvironmentSpec& spec() const override { return spec_; }
  void reset(Stream& stream) override;  // angle uniform on (-pi, pi), speed uniform on (-1, 1) or up to start_speed
  StepOutcome step(std::span<const double> action) override;
  void observe(std::span<double> observation) const override;
  std::vector<Segment> segments() const override;

  void set_state(double angle, double speed);
  double angle() const { return angle_; }
  double speed() const { return speed_; }

 private:
  EnvironmentSpec spec_;
  double start_speed_;
  double angle_ = 0;
  double speed_ = 0;
};

}  // namespace dissent
