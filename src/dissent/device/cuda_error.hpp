// Checks of CUDA calls. DISSENT_CUDA(cudaMemcpy(...)) throws a DeviceError that names the call and says what the card
// answered; out of memory is a DeviceMemoryError. DISSENT_CUDA_LAUNCHED("kernel") does the same for a launch. It sees
// the errors of the launch itself; later ones appear at the next call that waits for the kernel.
#pragma once

#include <cuda_runtime.h>

namespace dissent {

// call: "cudaMalloc(&data, bytes)"; the message keeps only its name.
[[noreturn]] void fail_cuda(const char* call, cudaError_t error);

inline void check_cuda(const char* call, cudaError_t error) {
  if (error != cudaSuccess) [[unlikely]] {
    fail_cuda(call, error);
  }
}

}  // namespace dissent

#define DISSENT_CUDA(call) ::dissent::check_cuda(#call, (call))
#define DISSENT_CUDA_LAUNCHED(kernel) ::dissent::check_cuda("the launch of " kernel, cudaGetLastError())
