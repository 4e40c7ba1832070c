// Training many campaigns in lockstep on a card: microseconds per step of each campaign, by the wall clock. A step
// updates all five components of Nflows Base and the flow they share: batch, forward, backward, Adam.
//
//     gpu_train_bench [DEVICE=cuda] [NAME | NAME:CAMPAIGNS]...
//
// Each campaign has its own thread and fit, with its own rows, weights and draws, as in `dissent study run`; the device
// runs their jobs together. Prints one line of JSON per size.
#include <algorithm>
#include <barrier>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <iterator>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "dissent/base/error.hpp"
#include "dissent/base/parse.hpp"
#include "dissent/base/random.hpp"
#include "dissent/device/device.hpp"
#include "dissent/ensemble/device_trainer.hpp"
#include "timing.hpp"

namespace dissent {
namespace {

struct Size {
  const char* name;
  std::size_t num_inputs;
  std::size_t num_outputs;
  std::size_t num_rows;
  std::size_t batch_size;
  std::size_t num_campaigns;
  std::size_t num_steps;  // at a time
};

constexpr Size kSizes[] = {
    {"hetero", 1, 1, 600, 600, 1, 500},      {"hetero", 1, 1, 600, 600, 70, 500},
    {"hopper", 14, 11, 700, 256, 1, 300},    {"hopper", 14, 11, 700, 256, 70, 300},
    {"ant", 35, 27, 700, 256, 1, 180},       {"ant", 35, 27, 700, 256, 70, 180},
    {"humanoid", 274, 257, 700, 256, 1, 60}, {"humanoid", 274, 257, 700, 256, 70, 60},
};

EnsembleColumns columns_of(const Size& size) {
  EnsembleColumns columns;
  const auto fill = [](std::size_t count, const char* name, std::vector<std::string>& names, Scaling& scaling) {
    for (std::size_t k = 0; k < count; ++k) {
      names.push_back(name + std::to_string(k));
    }
    scaling.offset.assign(count, 0);
    scaling.scale.assign(count, 1);
  };
  fill(size.num_inputs, "x", columns.inputs, columns.input_scaling);
  fill(size.num_outputs, "y", columns.targets, columns.target_scaling);
  return columns;
}

// One campaign's fit.
class Fit {
 public:
  Fit(const Size& size, std::uint64_t seed, FitDevice& device)
      : model_({.num_components = 5, .hidden = {40, 40}, .flow_hidden = {20, 20}, .seed = seed}, columns_of(size)),
        trainer_(model_, options_of(size), rows_of(size, seed), 0, true),
        on_device_(device, trainer_, model_.parameters()) {
    trainer_.plan_epochs(1'000'000);
  }

  // Runs as many epochs as make at least this many steps. Returns the number of steps.
  std::size_t run(std::size_t num_steps) {
    const std::size_t epochs = (num_steps + trainer_.steps_per_epoch() - 1) / trainer_.steps_per_epoch();
    const DeviceTrainer::Stretch stretch{0, epoch_, epoch_ + epochs};
    const std::vector<double> losses = on_device_.run({&stretch, 1});
    check(std::isfinite(losses.front()), "the loss is not finite after epoch {}", stretch.end);
    epoch_ += epochs;
    return epochs * trainer_.steps_per_epoch();
  }

 private:
  static TrainOptions options_of(const Size& size) {
    TrainOptions options = fit_preset("paper").train;
    options.batch_size = size.batch_size;
    return options;
  }
  static ScaledRows rows_of(const Size& size, std::uint64_t seed) {
    Stream stream(seed, Purpose::kTest);
    ScaledRows rows{std::vector<float>(size.num_rows * size.num_inputs),
                    std::vector<float>(size.num_rows * size.num_outputs)};
    std::ranges::generate(rows.inputs, [&] { return static_cast<float>(stream.uniform()); });
    std::ranges::generate(rows.targets, [&] { return static_cast<float>(stream.uniform()); });
    return rows;
  }

  Ensemble model_;
  Trainer trainer_;
  DeviceTrainer on_device_;
  std::size_t epoch_ = 0;
};

void measure(const Size& size, FitDevice& device) {
  constexpr int kRuns = 6;  // the first warms up
  std::vector<double> seconds;
  std::size_t steps = 1;
  auto start = std::chrono::steady_clock::now();
  std::barrier begin(static_cast<std::ptrdiff_t>(size.num_campaigns),
                     [&]() noexcept { start = std::chrono::steady_clock::now(); });
  std::barrier end(static_cast<std::ptrdiff_t>(size.num_campaigns), [&]() noexcept {
    seconds.push_back(std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count());
  });
  {
    std::vector<std::jthread> threads;
    for (std::size_t k = 0; k < size.num_campaigns; ++k) {
      threads.emplace_back([&, k] {
        Fit fit(size, k, device);
        for (int run = 0; run < kRuns; ++run) {
          begin.arrive_and_wait();
          const std::size_t own = fit.run(size.num_steps);
          end.arrive_and_wait();
          if (k == 0) {
            steps = own;
          }
        }
      });
    }
  }
  seconds.erase(seconds.begin());
  std::ranges::sort(seconds);
  const double per_second = 1e6 / static_cast<double>(steps * size.num_campaigns);
  std::printf("{\"name\": \"%s\", \"campaigns\": %zu, \"median_us\": %.6g, \"low_us\": %.6g, \"high_us\": %.6g}\n",
              size.name, size.num_campaigns, seconds[seconds.size() / 2] * per_second, seconds.front() * per_second,
              seconds.back() * per_second);
  std::fflush(stdout);
}

// "humanoid": all of that name; "humanoid:35": the first of that name, with 35 campaigns. No names: all sizes.
std::vector<Size> sizes_of(const std::vector<std::string>& names) {
  std::vector<Size> sizes;
  for (const std::string& name : names) {
    const std::size_t colon = name.find(':');
    const auto* const first = std::ranges::find(kSizes, name.substr(0, colon), &Size::name);
    check(first != std::end(kSizes), "'{}' is none of hetero, hopper, ant, humanoid", name);
    if (colon == std::string::npos) {
      std::ranges::copy_if(kSizes, std::back_inserter(sizes), [&](const Size& size) { return name == size.name; });
    } else {
      sizes.push_back(*first);
      sizes.back().num_campaigns = static_cast<std::size_t>(parse_number(name.substr(colon + 1)).value_or(0));
      check(sizes.back().num_campaigns > 0, "'{}': a number of campaigns must follow the colon", name);
    }
  }
  return names.empty() ? std::vector<Size>(std::begin(kSizes), std::end(kSizes)) : sizes;
}

int run(int argc, char** argv) {
  const std::shared_ptr<Device> device = open_device(argc > 1 ? argv[1] : "cuda");
  check(device != nullptr, "this measures a card; 'cpu' is none");
  const std::vector<std::string> names(argv + std::min(argc, 2), argv + argc);
  std::fprintf(stderr, "%s\n", device->name().c_str());
  for (const Size& size : sizes_of(names)) {
    measure(size, device->fits());
  }
  return 0;
}

}  // namespace
}  // namespace dissent

int main(int argc, char** argv) {
  try {
    return dissent::run(argc, argv);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "gpu_train_bench: %s\n", error.what());
    return 1;
  }
}
