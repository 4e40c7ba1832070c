// DeviceTrainer: the epochs of a trainer, run by a device (fit_device.hpp). Parameters and moments stay the trainer's
// and the model's; between calls they are as the trainer itself would have left them, but for rounding.
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <vector>

#include "dissent/ensemble/fit_device.hpp"
#include "dissent/ensemble/trainer.hpp"

namespace dissent {

class DeviceTrainer {
 public:
  struct Stretch {
    std::size_t unit = 0;
    std::size_t begin = 0;  // epochs [begin, end)
    std::size_t end = 0;
  };

  // InputError, naming the argument `device`, where it cannot train this. All outlive the DeviceTrainer.
  DeviceTrainer(FitDevice& device, Trainer& trainer, std::span<float> parameters);

  // The mean loss of the last epoch of each; NaN as Trainer::run_epochs.
  std::vector<double> run(std::span<const Stretch> stretches);

 private:
  Trainer& trainer_;
  std::span<float> parameters_;
  std::unique_ptr<DeviceFit> fit_;
};

}  // namespace dissent
