// Devices of a build without CUDA: none.
#include "dissent/base/error.hpp"
#include "dissent/device/device.hpp"
#include "dissent/device/device_name.hpp"

namespace dissent {

std::shared_ptr<Device> open_device(std::string_view name) {
  if (card_of(name)) {
    throw InputError(
        Fault{.argument = "device",
              .value = std::string(name),
              .rule = "this build has no code for cards; install nvcc, the CUDA compiler, and build again"});
  }
  return nullptr;
}

}  // namespace dissent
