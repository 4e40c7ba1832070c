// Policies: what to do, given an observation and the number of steps taken in the episode.
//
// "random" draws uniformly within the action bounds; "expert" is the best policy shipped for an environment: energy
// swing-up in closed form for the pendulum, trained linear policies for the robots. Policies are immutable and may be
// shared between threads; all randomness comes from the stream passed in.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "dissent/base/random.hpp"
#include "dissent/simulator/environment.hpp"

namespace dissent {

class Policy {
 public:
  virtual ~Policy() = default;
  virtual void act(std::span<const double> observation, std::size_t step, Stream& stream,
                   std::span<double> action) const = 0;
  // 16 hexadecimal digits that identify its numbers; empty for a policy written in code.
  virtual std::string digest() const { return {}; }
};

class UniformPolicy : public Policy {
 public:
  explicit UniformPolicy(const EnvironmentSpec& spec);
  void act(std::span<const double> observation, std::size_t step, Stream& stream,
           std::span<double> action) const override;

 private:
  std::vector<double> low_;
  std::vector<double> high_;
};

// Swings up by pumping energy and catches with a PD law near the top: with E = speed^2 / 2 + 15 cos angle (15 at rest
// upright), torque = 0.2 speed (15 - E), or -8 angle - 2 speed when |angle| < 1.2 and |E - 15| < 6; clipped to +-2.
class PendulumExpert : public Policy {
 public:
  void act(std::span<const double> observation, std::size_t step, Stream& stream,
           std::span<double> action) const override;
};

// Another policy with normal noise added to its actions, clipped to the bounds. The stddev is `noise` times half the
// range of each action. The noisy action is the one taken, and the one that rows show.
class NoisyPolicy : public Policy {
 public:
  NoisyPolicy(std::shared_ptr<const Policy> policy, const EnvironmentSpec& spec, double noise);
  void act(std::span<const double> observation, std::size_t step, Stream& stream,
           std::span<double> action) const override;
  std::string digest() const override { return policy_->digest(); }

 private:
  std::shared_ptr<const Policy> policy_;
  std::vector<double> low_;
  std::vector<double> high_;
  double noise_;
};

// The shipped policy of that name, as in data/policies, or "pendulum", which is written in code.
std::shared_ptr<const Policy> make_shipped_policy(const EnvironmentSpec& spec, const std::string& name);

// `name` is "random", "expert", or the path of a linear policy's file (it must contain a '.' or a '/').
std::shared_ptr<const Policy> make_policy(const EnvironmentSpec& spec, std::string_view name);

}  // namespace dissent
