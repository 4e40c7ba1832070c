// Opens a card. Its parts are made on first use, so that a caller that only trains does not pay for scoring.
#include <cuda_runtime.h>

#include <map>
#include <mutex>
#include <optional>
#include <utility>

#include "dissent/base/names.hpp"
#include "dissent/device/cuda_error.hpp"
#include "dissent/device/cuda_fits.hpp"
#include "dissent/device/cuda_scores.hpp"
#include "dissent/device/device.hpp"
#include "dissent/device/device_error.hpp"
#include "dissent/device/device_name.hpp"

namespace dissent {
namespace {

std::string version_text(int version) { return fmt::format("{}.{}", version / 1000, version % 1000 / 10); }

class CudaDevice final : public Device {
 public:
  CudaDevice(int card, std::string name) : card_(card), name_(std::move(name)) {}

  std::string name() const override { return name_; }
  FitDevice& fits() override {
    const std::lock_guard lock(mutex_);
    if (!fits_) {
      fits_ = make_cuda_fits(card_);
    }
    return *fits_;
  }
  ScoreDevice& scores() override {
    const std::lock_guard lock(mutex_);
    if (!scores_) {
      scores_ = make_cuda_scores(card_);
    }
    return *scores_;
  }

 private:
  int card_;
  std::string name_;
  std::mutex mutex_;
  std::unique_ptr<FitDevice> fits_;
  std::unique_ptr<ScoreDevice> scores_;
};

// Says why no card can be seen, as far as the driver tells.
[[noreturn]] void fail_no_card(std::string_view name, cudaError_t error) {
  cudaGetLastError();
  int driver = 0;
  int runtime = 0;
  cudaDriverGetVersion(&driver);
  cudaRuntimeGetVersion(&runtime);
  if (driver > 0 && (error == cudaErrorInsufficientDriver || driver / 1000 < runtime / 1000)) {
    throw DeviceError(
        fmt::format("device {}: the NVIDIA driver is too old: it knows CUDA {}, and {} is needed; update "
                    "the driver, or take device cpu",
                    name, version_text(driver), version_text(runtime)));
  }
  if (driver == 0) {
    throw DeviceError(
        fmt::format("device {}: there is no NVIDIA driver on this machine (libcuda.so.1), and so no card "
                    "that could be used; install it, or take device cpu",
                    name));
  }
  throw DeviceError(fmt::format("device {}: no card can be used: {} ({}); take device cpu", name,
                                cudaGetErrorString(error), cudaGetErrorName(error)));
}

// The library must have code for this architecture, or code that can be compiled for it.
void check_architecture(std::string_view name, const cudaDeviceProp& card) {
  constexpr int kOldest = DISSENT_OLDEST_ARCHITECTURE;  // major and minor number, as in 90
  if (card.major * 10 + card.minor < kOldest) {
    throw DeviceError(
        fmt::format("device {}: {} is of architecture {}.{}, and this build is for {}.{} and later; take device cpu",
                    name, card.name, card.major, card.minor, kOldest / 10, kOldest % 10));
  }
}

// Opening a card that is already open returns the same Device, so that fits of all its users are trained together.
std::shared_ptr<Device> shared_card(int card, const char* name) {
  static std::mutex mutex;
  static std::map<int, std::weak_ptr<Device>> open;
  const std::lock_guard lock(mutex);
  std::shared_ptr<Device> device = open[card].lock();
  if (!device) {
    device = std::make_shared<CudaDevice>(card, name);
    open[card] = device;
  }
  return device;
}

}  // namespace

std::shared_ptr<Device> open_device(std::string_view name) {
  const std::optional<int> card = card_of(name);
  if (!card) {
    return nullptr;
  }
  int count = 0;
  if (const cudaError_t error = cudaGetDeviceCount(&count); error != cudaSuccess || count == 0) {
    fail_no_card(name, error == cudaSuccess ? cudaErrorNoDevice : error);
  }
  check_argument(*card < count, "device", name, "there {} {} here, counted from 0", count == 1 ? "is" : "are",
                 counted(static_cast<std::size_t>(count), "card"));
  cudaDeviceProp properties{};
  DISSENT_CUDA(cudaGetDeviceProperties(&properties, *card));
  check_architecture(name, properties);
  return shared_card(*card, properties.name);
}

}  // namespace dissent
