// Times scoring on a card, with arrays in its memory: milliseconds by the card's own clock, and the bandwidth of
// reading the mixture once and writing the results, as a share of a copy's. gpu_score_peers.py prints the same table
// for PyTorch.
//
//     gpu_score_bench
//
// Arrays take turns, so that none is still in the cache when its turn comes again.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <string>
#include <vector>

#include "dissent/base/error.hpp"
#include "dissent/base/random.hpp"
#include "dissent/device/cuda_memory.hpp"
#include "dissent/device/device.hpp"
#include "dissent/device/score_methods.hpp"
#include "dissent/estimator/estimator.hpp"
#include "timing.hpp"

namespace dissent::bench {
namespace {

constexpr double kRotatedBytes = 4e8;  // well beyond the cache
constexpr int kRepeats = 50;

// Quartiles of `body`, whose work is on the stream.
template <class Body>
Timing measure_on_card(const CudaStream& stream, const Body& body) {
  const CudaEvent begin(true);
  const CudaEvent end(true);
  std::vector<double> times;
  for (int k = -5; k < kRepeats; ++k) {  // the first warm up
    begin.record(stream);
    body();
    end.record(stream);
    end.wait();
    if (k >= 0) {
      times.push_back(end.since(begin));
    }
  }
  std::ranges::sort(times);
  return {times[times.size() / 2], times[times.size() / 4], times[3 * times.size() / 4]};
}

// Bytes per second, read and written.
double copy_bandwidth() {
  constexpr std::size_t kBytes = std::size_t{1} << 30;
  DeviceBuffer<char> from(kBytes);
  DeviceBuffer<char> to(kBytes);
  const CudaStream stream;
  const Timing timing = measure_on_card(
      stream, [&] { DISSENT_CUDA(cudaMemcpyAsync(to.data(), from.data(), kBytes, cudaMemcpyDeviceToDevice, stream)); });
  return 2.0 * kBytes / timing.median_ms * 1e3;
}

struct Shape {
  std::size_t num_inputs, num_components, num_outputs;
  std::vector<std::string> estimators;

  std::size_t size() const { return num_inputs * num_components * num_outputs; }
  std::string text() const { return fmt::format("{} x {} x {}", num_inputs, num_components, num_outputs); }
};

struct Arrays {
  DeviceBuffer<float> mean;
  DeviceBuffer<float> stddev;
};

// Copies of the same arrays, enough to fill kRotatedBytes. apart: how far components lie from each other.
std::vector<Arrays> rotated_arrays(const Shape& shape, double apart) {
  std::vector<float> mean(shape.size());
  std::vector<float> stddev(shape.size());
  const std::size_t row = shape.num_components * shape.num_outputs;
  const std::size_t drawn = std::min<std::size_t>(shape.num_inputs, 1000) * row;  // then the same again
  Stream own(1, Purpose::kTest);
  for (std::size_t k = 0; k < shape.size(); ++k) {
    if (k >= drawn) {
      mean[k] = mean[k - drawn];
      stddev[k] = stddev[k - drawn];
      continue;
    }
    Stream common(2, Purpose::kTest, k / row * shape.num_outputs + k % shape.num_outputs);
    mean[k] = static_cast<float>(common.normal() + apart * own.normal());
    stddev[k] = static_cast<float>(std::exp(0.5 * common.normal() + 0.5 * apart * own.normal()));
  }
  std::vector<Arrays> arrays(2 + static_cast<std::size_t>(kRotatedBytes / (8.0 * static_cast<double>(mean.size()))));
  for (Arrays& one : arrays) {
    one = {DeviceBuffer<float>(mean.size()), DeviceBuffer<float>(mean.size())};
    const std::size_t bytes = mean.size() * sizeof(float);
    DISSENT_CUDA(cudaMemcpy(one.mean.data(), mean.data(), bytes, cudaMemcpyHostToDevice));
    DISSENT_CUDA(cudaMemcpy(one.stddev.data(), stddev.data(), bytes, cudaMemcpyHostToDevice));
  }
  return arrays;
}

void time_shape(const Shape& shape, double apart, const char* kind, double bandwidth) {
  const std::size_t N = shape.num_inputs;
  const Weights weights = Weights::uniform(shape.num_components);
  std::vector<Arrays> arrays = rotated_arrays(shape, apart);
  DeviceBuffer<double> columns(8 * N);
  DeviceBuffer<unsigned long long> first_invalid(1);
  MixtureView<float> view{N, shape.num_components, shape.num_outputs};
  view.weights = &weights;
  const CudaStream stream;
  for (const std::string& name : shape.estimators) {
    const auto method = score::method_for(parse_estimator(name), view, {});
    std::size_t turn = 0;
    const Timing timing = measure_on_card(stream, [&] {
      Arrays& next = arrays[turn++ % arrays.size()];
      method->launch({next.mean.data(), next.stddev.data(), static_cast<long long>(N),
                      static_cast<int>(shape.num_components), static_cast<int>(shape.num_outputs)},
                     {{columns.data(), columns.data() + N, columns.data() + 2 * N, nullptr, first_invalid.data()},
                      columns.data() + 3 * N},
                     0, stream);
    });
    const double bytes = 8.0 * static_cast<double>(shape.size()) + 24.0 * static_cast<double>(N);
    fmt::print("| {} | {} | {} | {:.4f} | {:.4f} to {:.4f} | {:.0f}% |\n", shape.text(), name, kind, timing.median_ms,
               timing.low_ms, timing.high_ms, 100 * bytes / (timing.median_ms * 1e-3) / bandwidth);
    std::fflush(stdout);
  }
}

int run() {
  const auto device = open_device("cuda");
  const double bandwidth = copy_bandwidth();
  const std::vector<std::string> both{"kl", "bhattacharyya"};
  fmt::print("{}: a copy moves {:.2f} TB/s\n\n", device->name(), bandwidth / 1e12);
  fmt::print("| inputs x components x outputs | estimator | components | ms | quartiles | of a copy's bandwidth |\n");
  fmt::print("|---|---|---|---|---|---|\n");
  const std::vector<Shape> shapes{{10'000, 5, 257, {"kl", "bhattacharyya", "chernoff:0.3", "epkl", "bounds"}},
                                  {500, 100, 257, {"kl", "bhattacharyya", "chernoff:0.3"}},
                                  {1'000'000, 5, 11, {"kl", "bhattacharyya", "chernoff:0.3"}},
                                  {10'000, 10, 64, both},
                                  {1'000, 5, 257, {"mc:1000"}}};
  for (const Shape& shape : shapes) {
    time_shape(shape, 1, "apart", bandwidth);
  }
  for (std::size_t k = 0; k < 3; ++k) {  // where float sums are not trusted
    time_shape({shapes[k].num_inputs, shapes[k].num_components, shapes[k].num_outputs, both}, 0.01, "close", bandwidth);
  }
  return 0;
}

}  // namespace
}  // namespace dissent::bench

int main() {
  try {
    return dissent::bench::run();
  } catch (const dissent::Error& error) {
    std::fprintf(stderr, "gpu_score_bench: %s\n", error.what());
    return 1;
  }
}
