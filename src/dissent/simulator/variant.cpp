#include "dissent/simulator/variant.hpp"

#include <algorithm>

#include "dissent/base/error.hpp"
#include "dissent/base/names.hpp"

namespace dissent {
namespace {

std::vector<Variant> make_variants() {
  std::vector<Variant> all;
  for (const std::string& environment : environment_names()) {
    all.push_back({.name = environment, .environment = environment, .policy = environment});
  }
  all.push_back(
      {.name = "pendulum:swing",
       .environment = "pendulum",
       .summary = "the expert's episodes begin at any angle and speed and last 20 steps; noise on its actions",
       .policy = "pendulum",
       .start_speed = 8,
       .max_steps = 20,
       .action_noise = 0.25});
  return all;
}

}  // namespace

std::string Variant::settings_text() const {
  return is_environment() ? "" : fmt::format(" {} {} {}", start_speed, max_steps, action_noise);
}

const std::vector<Variant>& variants() {
  static const std::vector<Variant> all = make_variants();
  return all;
}

std::vector<std::string> variant_names() {
  std::vector<std::string> names;
  for (const Variant& variant : variants()) {
    names.push_back(variant.name);
  }
  return names;
}

const Variant& find_variant(std::string_view name) {
  check_name("problem", name, variant_names());
  return *std::ranges::find(variants(), name, &Variant::name);
}

EnvironmentOptions expert_environment(const Variant& variant, EnvironmentOptions options) {
  if (variant.start_speed > 0) {
    options.start_speed = variant.start_speed;
  }
  if (variant.max_steps > 0) {
    options.max_steps = variant.max_steps;
  }
  return options;
}

std::shared_ptr<const Policy> make_expert(const Variant& variant, const EnvironmentSpec& spec,
                                          const std::string& file) {
  auto expert = file.empty() ? make_shipped_policy(spec, variant.policy) : make_policy(spec, file);
  if (variant.action_noise == 0) {
    return expert;
  }
  return std::make_shared<NoisyPolicy>(std::move(expert), spec, variant.action_noise);
}

}  // namespace dissent
