// DeviceTrainer: runs the epochs of a trainer on a device (fit_device.hpp). The trainer and the model still own the
// moments and parameters; between calls these are as the trainer itself would have left them, except for rounding.
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

  // InputError that names the argument `device` if it cannot train this. All arguments must outlive the DeviceTrainer.
  DeviceTrainer(FitDevice& device, Trainer& trainer, std::span<float> parameters);

  // The mean loss of the last epoch of each stretch; NaN as in Trainer::run_epochs.
  std::vector<double> run(std::span<const Stretch> stretches);

 private:
  Trainer& trainer_;
  std::span<float> parameters_;
  std::unique_ptr<DeviceFit> fit_;
};

}  // namespace dissent
