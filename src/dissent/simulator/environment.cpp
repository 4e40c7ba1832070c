#include "dissent/simulator/environment.hpp"

#include "dissent/base/error.hpp"
#include "dissent/base/names.hpp"
#include "dissent/simulator/pendulum.hpp"
#include "dissent/simulator/robot.hpp"

namespace dissent {

const std::vector<std::string>& environment_names() {
  static const std::vector<std::string> names{"pendulum", "hopper", "ant", "humanoid"};
  return names;
}

std::unique_ptr<Environment> make_environment(std::string_view name, const EnvironmentOptions& options) {
  check_name("environment", name, environment_names());
  if (name == "pendulum") {
    check(
        options.model_file.empty() && !options.euler,
        "environment pendulum: it is integrated in closed form and takes neither a model file nor another integrator");
    return std::make_unique<Pendulum>(options);
  }
  return std::make_unique<Robot>(name, options);
}

}  // namespace dissent
