// The MuJoCo robots hopper, ant and humanoid, with the observations, rewards and ends of gym's second versions.
//
// name      observation                                                        action  step
// hopper    11: qpos[1:] 5, qvel 6 clipped to +-10                              3     4 x 0.002 s
// ant       27: qpos[2:] 13, qvel 14                                            8     5 x 0.01 s
// humanoid 257: qpos[2:] 22, qvel 23, cinert 13 x 9, cvel 13 x 6, qfrc 17      17     5 x 0.003 s
// The humanoid's body inertias leave out the world body and the constant mass, its actuator forces the six of the root:
// exactly the entries of gym's 292 without contact forces that ever change. Twelve pairs are duplicates, for a foot is
// rigidly fixed to its shin and so has the same cvel.
//
// Observations are read right after mj_step, as gym did. With RK4, cinert and cvel then belong to the integrator's last
// stage rather than to the end of the step; calling mj_forward would move them by up to 1e-3 and 1.2.
#pragma once

#include <cstdint>

#include "dissent/simulator/environment.hpp"

namespace dissent {

bool mujoco_available();
std::string mujoco_version();  // "2.2.2", or "none"

class Robot : public Environment {
 public:
  // Throws InputError for a model that does not compile or has other sizes than the robot named, and in a build
  // without MuJoCo.
  Robot(std::string_view name, const EnvironmentOptions& options);
  ~Robot() override;
  Robot(const Robot&) = delete;
  Robot& operator=(const Robot&) = delete;

  const EnvironmentSpec& spec() const override;
  void reset(Stream& stream) override;
  StepOutcome step(std::span<const double> action) override;
  void observe(std::span<double> observation) const override;
  std::vector<Segment> segments() const override;

  // Generalised positions and velocities, and a way to start from given ones.
  std::span<const double> qpos() const;
  std::span<const double> qvel() const;
  void set_state(std::span<const double> qpos, std::span<const double> qvel);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace dissent
