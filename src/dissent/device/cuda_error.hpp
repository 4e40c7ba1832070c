// Checks of CUDA calls. DISSENT_CUDA(cudaMemcpy(...)) throws a DeviceError that names the call and says what the card
// answered; out of memory is a DeviceMemoryError. DISSENT_CUDA_LAUNCHED("kernel") does the same for a launch, whose own
// errors are seen here and whose later ones at the next call that waits for it.
#pragma once

#include <cuda_runtime.h>

namespace dissent {

// call: "cudaMalloc(&data, bytes)", of which the message keeps the name.
[[noreturn]] void fail_cuda(const char* call, cudaError_t error);

inline void check_cuda(const char* call, cudaError_t error) {
  if (error != cudaSuccess) [[unlikely]] {
    fail_cuda(call, error);
  }
}

}  // namespace dissent

#define DISSENT_CUDA(call) ::dissent::check_cuda(#call, (call))
#define DISSENT_CUDA_LAUNCHED(kernel) ::dissent::check_cuda("the launch of " kernel, cudaGetLastError())
