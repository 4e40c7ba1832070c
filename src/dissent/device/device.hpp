// Device: an accelerator that trains and scores, opened by its name. Code that uses it gets its parts, and sees only
// their interfaces: FitDevice (ensemble/fit_device.hpp), ScoreDevice (estimator/score_device.hpp).
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

// A device's parts; null without a device.
inline FitDevice* fits_of(Device* device) { return device == nullptr ? nullptr : &device->fits(); }
inline ScoreDevice* scores_of(Device* device) { return device == nullptr ? nullptr : &device->scores(); }

// "cpu" is no device: null. "cuda" is the first card, "cuda:1" the second. Throws InputError, naming the argument
// `device`, for any other name, in a build without CUDA, and for a number that no card has; SystemError if there is no
// card or its driver is too old. Opening a device that is already open returns the same one.
std::shared_ptr<Device> open_device(std::string_view name);

}  // namespace dissent
