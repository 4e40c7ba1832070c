// Device: an accelerator that trains and scores, opened by its name. What runs on it is handed its parts, and knows
// them by what they do alone: FitDevice (ensemble/fit_device.hpp), ScoreDevice (estimator/score_device.hpp).
#pragma once

#include <memory>
#include <string>
#include <string_view>

namespace dissent {

class FitDevice;
class ScoreDevice;

// Any number of threads may use one at the same time.
class Device {
 public:
  virtual ~Device() = default;

  virtual std::string name() const = 0;  // of the product: "NVIDIA H200"
  virtual FitDevice& fits() = 0;
  virtual ScoreDevice& scores() = 0;
};

// Of a device, or of none: null.
inline FitDevice* fits_of(Device* device) { return device == nullptr ? nullptr : &device->fits(); }
inline ScoreDevice* scores_of(Device* device) { return device == nullptr ? nullptr : &device->scores(); }

// "cpu" is none: null. "cuda" is the first card, "cuda:1" the second. InputError, naming the argument `device`, for any
// other name, in a build without CUDA, and for a number that no card has; SystemError where there is no card or its
// driver is too old. Who opens a device while others have it gets the same.
std::shared_ptr<Device> open_device(std::string_view name);

}  // namespace dissent
