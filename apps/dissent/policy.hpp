// The commands under `dissent policy`.
#pragma once

#include <CLI/CLI.hpp>
#include <string>

namespace dissent::cli {

std::string environment_list();  // "pendulum, hopper, ...", for help

void add_policy_train(CLI::App& policy);
void add_policy_evaluate(CLI::App& policy);
void add_policy_draw(CLI::App& policy);

}  // namespace dissent::cli
