// Errors of an accelerator; catching them needs no CUDA header.
//
// DeviceError:       a call to the card failed. The message names the call and the card's answer.
// DeviceMemoryError: the card has too little free memory; less work at a time may still fit.
#pragma once

#include "dissent/base/error.hpp"

namespace dissent {

class DeviceError : public SystemError {
 public:
  using SystemError::SystemError;
};

class DeviceMemoryError : public DeviceError {
 public:
  using DeviceError::DeviceError;
};

}  // namespace dissent
