#include "dissent/ensemble/device_trainer.hpp"

#include <string>

#include "dissent/base/error.hpp"

namespace dissent {
namespace {

std::unique_ptr<DeviceFit> begin_fit(FitDevice& device, const FitProblem& problem) {
  const std::string reason = problem.options.one_component_per_step ? "`one_component_per_step` cannot be trained there"
                             : !problem.weights.empty() ? "rows of different weights cannot be trained there"
                                                        : device.refuses(problem);
  if (!reason.empty()) {
    throw InputError(Fault{.argument = "device", .rule = reason + "; train this model on the CPU"});
  }
  return device.begin(problem);
}

}  // namespace

DeviceTrainer::DeviceTrainer(FitDevice& device, Trainer& trainer, std::span<float> parameters)
    : trainer_(trainer), parameters_(parameters), fit_(begin_fit(device, trainer.problem())) {}

std::vector<double> DeviceTrainer::run(std::span<const Stretch> stretches) {
  const std::size_t steps = trainer_.steps_per_epoch();
  std::vector<std::vector<StepFactors>> factors(stretches.size());
  std::vector<UnitEpochs> units;
  for (std::size_t k = 0; k < stretches.size(); ++k) {
    const Stretch& own = stretches[k];
    for (std::size_t step = own.begin * steps; step < own.end * steps; ++step) {
      factors[k].push_back(trainer_.step_factors(own.unit, step + 1));
    }
    units.push_back({.unit = own.unit,
                     .begin = own.begin,
                     .end = own.end,
                     .restarts = trainer_.restarts(own.unit),
                     .steps = factors[k]});
  }
  std::vector<double> losses(stretches.size());
  fit_->run(units, {parameters_, trainer_.average(), trainer_.first_moment(), trainer_.second_moment()}, losses);
  return losses;
}

}  // namespace dissent
