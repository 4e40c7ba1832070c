// Not in the header: nvcc does not compile fmt's headers, on which the exceptions stand.
#include "dissent/device/cuda_error.hpp"

#include <string>
#include <string_view>

#include "dissent/device/device_error.hpp"

namespace dissent {

void fail_cuda(const char* call, cudaError_t error) {
  cudaGetLastError();  // or the next call would answer with this error once more
  const std::string_view text = call;
  const std::string message = fmt::format("the GPU failed at {}: {} ({})", text.substr(0, text.find('(')),
                                          cudaGetErrorString(error), cudaGetErrorName(error));
  if (error == cudaErrorMemoryAllocation) {
    throw DeviceMemoryError(message);
  }
  throw DeviceError(message);
}

}  // namespace dissent
