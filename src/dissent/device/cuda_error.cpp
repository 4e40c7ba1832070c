// Not in the header: nvcc does not compile fmt's headers, which the exceptions need.
#include "dissent/device/cuda_error.hpp"

#include <string>
#include <string_view>

#include "dissent/device/device_error.hpp"

namespace dissent {

void fail_cuda(const char* call, cudaError_t error) {
  cudaGetLastError();  // otherwise the next call would report this error again
  const std::string_view text = call;
  const std::string message = fmt::format("the GPU failed at {}: {} ({})", text.substr(0, text.find('(')),
                                          cudaGetErrorString(error), cudaGetErrorName(error));
  if (error == cudaErrorMemoryAllocation) {
    throw DeviceMemoryError(message);
  }
  throw DeviceError(message);
}

}  // namespace dissent
