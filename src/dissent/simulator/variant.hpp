// Variants: the same environment with another expert, or with other episodes of it, under a name of its own.
//
// A name is an environment's ("pendulum") or ENVIRONMENT:VARIANT ("pendulum:swing"). The random policy's episodes are
// those of the environment, to the bit: a variant changes only the expert's rows.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "dissent/simulator/environment.hpp"
#include "dissent/simulator/policy.hpp"

namespace dissent {

struct Variant {
  std::string name;
  std::string environment;
  std::string summary = {};   // how its expert's rows differ from the environment's own
  std::string policy = {};    // the expert, as in make_shipped_policy()
  double start_speed = 0;     // as in EnvironmentOptions, of the expert's episodes
  std::size_t max_steps = 0;  // likewise
  double action_noise = 0;    // stddev of the noise on the expert's actions, as a share of half their range

  bool is_environment() const { return name == environment; }
  // What the rows depend on beyond the environment and the policy; empty for an environment itself.
  std::string settings_text() const;
};

// Environments first, then their variants.
const std::vector<Variant>& variants();
std::vector<std::string> variant_names();            // of both
const Variant& find_variant(std::string_view name);  // InputError for an unknown name, which lists the known ones
EnvironmentOptions expert_environment(const Variant& variant, EnvironmentOptions options = {});
// The variant's expert, or the policy of `file` in its place; with the variant's noise.
std::shared_ptr<const Policy> make_expert(const Variant& variant, const EnvironmentSpec& spec,
                                          const std::string& file = {});

}  // namespace dissent
