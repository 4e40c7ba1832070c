// The program with a device that needs no card: linked with the program's own objects, this open_device() stands in for
// the library's. Networks stay as they were drawn, rows are weighed by the plain formula, and at the end a line on
// standard error says what was asked of it.
#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <cstdio>
#include <memory>
#include <string>

#include "dissent/device/device.hpp"
#include "dissent/device/device_name.hpp"
#include "dissent/ensemble/fit_device.hpp"
#include "support/plain_device.hpp"

namespace dissent {
namespace {

class StillFit final : public DeviceFit {
 public:
  void run(std::span<const UnitEpochs>, const FitBlocks&, std::span<double> losses) override {
    std::ranges::fill(losses, 0.0);
  }
};

class StillFits final : public FitDevice {
 public:
  std::string refuses(const FitProblem&) const override { return ""; }
  std::unique_ptr<DeviceFit> begin(const FitProblem&) override {
    ++num_fits;
    return std::make_unique<StillFit>();
  }

  std::atomic<std::size_t> num_fits = 0;
};

class FakeDevice final : public Device {
 public:
  explicit FakeDevice(int card) : card_(card) {}
  ~FakeDevice() override {
    fmt::print(stderr, "fake card {}: {} fits, {} calls\n", card_, fits_.num_fits.load(), scores_.calls.load());
  }
  FakeDevice(const FakeDevice&) = delete;
  FakeDevice& operator=(const FakeDevice&) = delete;

  std::string name() const override { return "fake card"; }
  FitDevice& fits() override { return fits_; }
  ScoreDevice& scores() override { return scores_; }

 private:
  int card_;
  StillFits fits_;
  test::PlainDevice scores_;
};

}  // namespace

std::shared_ptr<Device> open_device(std::string_view name) {
  const std::optional<int> card = card_of(name);
  return card ? std::make_shared<FakeDevice>(*card) : nullptr;
}

}  // namespace dissent
