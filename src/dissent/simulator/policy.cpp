#include "dissent/simulator/policy.hpp"

#include <algorithm>
#include <cmath>

#include "dissent/base/error.hpp"
#include "dissent/simulator/linear_policy.hpp"
#include "dissent/simulator/named_data.hpp"

namespace dissent {

UniformPolicy::UniformPolicy(const EnvironmentSpec& spec) : low_(spec.action_low), high_(spec.action_high) {}

void UniformPolicy::act(std::span<const double>, std::size_t, Stream& stream, std::span<double> action) const {
  for (std::size_t k = 0; k < action.size(); ++k) {
    action[k] = low_[k] + (high_[k] - low_[k]) * stream.uniform();
  }
}

void PendulumExpert::act(std::span<const double> observation, std::size_t, Stream&, std::span<double> action) const {
  constexpr double kUprightEnergy = 15;  // 3 g / (2 l)
  const double angle = std::atan2(observation[1], observation[0]);
  const double speed = observation[2];
  const double energy = 0.5 * speed * speed + kUprightEnergy * observation[0];
  const bool near_top = std::abs(angle) < 1.2 && std::abs(energy - kUprightEnergy) < 6;
  const double torque = near_top ? -8 * angle - 2 * speed : 0.2 * speed * (kUprightEnergy - energy);
  action[0] = std::clamp(torque, -2.0, 2.0);
}

NoisyPolicy::NoisyPolicy(std::shared_ptr<const Policy> policy, const EnvironmentSpec& spec, double noise)
    : policy_(std::move(policy)), low_(spec.action_low), high_(spec.action_high), noise_(noise) {}

void NoisyPolicy::act(std::span<const double> observation, std::size_t step, Stream& stream,
                      std::span<double> action) const {
  policy_->act(observation, step, stream, action);
  for (std::size_t k = 0; k < action.size(); ++k) {
    const double stddev = noise_ * 0.5 * (high_[k] - low_[k]);
    action[k] = std::clamp(action[k] + stddev * stream.normal(), low_[k], high_[k]);
  }
}

std::shared_ptr<const Policy> make_shipped_policy(const EnvironmentSpec& spec, const std::string& name) {
  if (name == "pendulum") {
    return std::make_shared<PendulumExpert>();
  }
  const std::string source = "built-in policy " + name;
  const std::string_view text = embedded_policy(name);
  check(!text.empty(), "policy 'expert': none is shipped for {}; give a policy's file", name);
  return std::make_shared<LinearPolicy>(parse_linear_policy(text, source), spec, source);
}

std::shared_ptr<const Policy> make_policy(const EnvironmentSpec& spec, std::string_view name) {
  if (name == "random") {
    return std::make_shared<UniformPolicy>(spec);
  }
  if (name == "expert") {
    return make_shipped_policy(spec, spec.name);
  }
  check(
      !name.starts_with("mixed:"),
      "policy '{}': a mixture is made of rows, by collecting; an episode is played by one policy: random, expert or a "
      "policy's file",
      name);
  is_path("policy", name, {"random", "expert"});  // the names are dealt with above
  const std::string path(name);
  return std::make_shared<LinearPolicy>(read_linear_policy(path), spec, path);
}

}  // namespace dissent
