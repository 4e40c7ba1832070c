// What the Python package is measured against, without Python: python_bench MEAN.npy STDDEV.npy
// Prints the time of the KL estimate on one thread as a line of JSON (timing.hpp). python_bench.py runs it.
#include <cstdio>
#include <string>

#include "dissent/array/npy.hpp"
#include "dissent/estimator/estimator.hpp"
#include "timing.hpp"

int main(int argc, char** argv) {
  using namespace dissent;
  if (argc != 3) {
    std::fprintf(stderr, "usage: python_bench MEAN.npy STDDEV.npy\n");
    return 2;
  }
  try {
    const Array mean = read_npy(argv[1]);
    const Array stddev = read_npy(argv[2]);
    const MixtureView<float> mixture{
        mean.shape()[0], mean.shape()[1], mean.shape()[2], mean.values<float>().data(), stddev.values<float>().data(),
        nullptr};
    const Weights weights = Weights::uniform(mixture.num_components);
    Uncertainty result;
    bench::print("kl",
                 bench::measure([&] { result = estimate(parse_estimator("kl"), mixture.weighted(weights)); }, 25));
    return 0;
  } catch (const Error& error) {
    std::fprintf(stderr, "python_bench: %s\n", error.what());
    return 1;
  }
}
