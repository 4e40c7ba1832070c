// Times the pairwise estimators on the given arrays: estimator_bench MEAN.npy STDDEV.npy SCORES.npz
// Prints one line of JSON per measurement (timing.hpp) and the largest relative error of the float32 result against the
// plain float64 functions. Writes the scores for a check against the peers. estimator_bench.py runs it.
#include <cmath>
#include <cstdio>
#include <string>

#include "dissent/array/npy.hpp"
#include "dissent/array/npz.hpp"
#include "dissent/base/threads.hpp"
#include "dissent/divergence/divergence.hpp"
#include "dissent/estimator/combine.hpp"
#include "dissent/estimator/estimator.hpp"
#include "dissent/mixture/gaussian.hpp"
#include "timing.hpp"

namespace dissent::bench {
namespace {

// Reading the input once: a plain sum over both arrays, wide enough for the compiler to vectorise.
float sum(std::span<const float> values) {
  constexpr std::size_t kWidth = 64;
  float sums[kWidth] = {};
  std::size_t k = 0;
  for (; k + kWidth <= values.size(); k += kWidth) {
    for (std::size_t lane = 0; lane < kWidth; ++lane) {
      sums[lane] += values[k + lane];
    }
  }
  float total = 0;
  for (; k < values.size(); ++k) {
    total += values[k];
  }
  for (const float s : sums) {
    total += s;
  }
  return total;
}

double largest_relative_error(const Divergence& d, const MixtureView<float>& mixture, const Weights& weights,
                              const Uncertainty& fast) {
  double largest = 0;
  InputComponents components;
  const std::size_t num_components = mixture.num_components;
  std::vector<double> divergences(num_components * num_components);
  for (std::size_t n = 0; n < std::min<std::size_t>(mixture.num_inputs, 500); ++n) {
    components.load(mixture, n, n);
    for (std::size_t i = 0; i < num_components; ++i) {
      for (std::size_t j = 0; j < num_components; ++j) {
        divergences[i * num_components + j] =
            i == j ? 0 : divergence(d, components.diagonal_component(i), components.diagonal_component(j));
      }
    }
    const Combined plain = combine(weights, divergences);
    largest = std::max(largest, std::abs(fast.epistemic[n] / plain.epistemic - 1));
  }
  return largest;
}

int run(const std::string& mean_path, const std::string& stddev_path, const std::string& scores_path) {
  const Array mean = read_npy(mean_path);
  const Array stddev = read_npy(stddev_path);
  const MixtureView<float> mixture{
      mean.shape()[0], mean.shape()[1], mean.shape()[2], mean.values<float>().data(), stddev.values<float>().data(),
      nullptr};
  const Weights weights = Weights::uniform(mixture.num_components);
  volatile float sink = 0;
  print("read", measure([&] { sink = sum(mean.values<float>()) + sum(stddev.values<float>()); }));
  ThreadPool two(2);
  std::vector<Uncertainty> results;
  for (const std::string& name : {std::string("kl"), std::string("bhattacharyya")}) {
    const Estimator estimator = parse_estimator(name);
    Uncertainty result;
    print(name, measure([&] { result = estimate(estimator, mixture.weighted(weights)); }));
    print(name + " two threads",
          measure([&] { result = estimate(estimator, mixture.weighted(weights), {.executor = &two}); }));
    std::printf("{\"name\": \"%s error\", \"value\": %.3g}\n", name.c_str(),
                largest_relative_error(estimator.divergence, mixture, weights, result));
    results.push_back(std::move(result));
  }
  // The samples of Monte Carlo grow with K, M and D: a few inputs are enough to know the time per input.
  const std::size_t few = std::min<std::size_t>(mixture.num_inputs, mixture.num_outputs > 100 ? 4 : 40);
  const Estimator mc = parse_estimator("mc:5000");
  Timing per_input = measure([&] { estimate(mc, mixture.rows(0, few).weighted(weights)); }, 3, 0.2);
  const double scale = static_cast<double>(mixture.num_inputs) / static_cast<double>(few);
  print("mc:5000", {per_input.median_ms * scale, per_input.low_ms * scale, per_input.high_ms * scale});
  write_npz(scores_path, {{"kl", ArrayView(results[0].epistemic)}, {"bhattacharyya", ArrayView(results[1].epistemic)}});
  return 0;
}

}  // namespace
}  // namespace dissent::bench

int main(int argc, char** argv) {
  if (argc != 4) {
    std::fprintf(stderr, "usage: estimator_bench MEAN.npy STDDEV.npy SCORES.npz\n");
    return 2;
  }
  try {
    return dissent::bench::run(argv[1], argv[2], argv[3]);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "estimator_bench: %s\n", error.what());
    return 1;
  }
}
