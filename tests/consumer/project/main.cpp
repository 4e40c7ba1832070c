// Uses headers, compiled code and the exceptions of an installed dissent.
#include <cstdio>
#include <vector>

#include "dissent/base/error.hpp"
#include "dissent/base/random.hpp"
#include "dissent/base/threads.hpp"
#include "dissent/base/version.hpp"

int main() {
  std::vector<double> draws(1000);
  dissent::ThreadPool pool(2);
  pool.for_blocks(draws.size(), 64, [&](std::size_t begin, std::size_t end, int) {
    for (std::size_t k = begin; k < end; ++k) {
      draws[k] = dissent::Stream(1, dissent::Purpose::kTest, k).uniform();
    }
  });
  double sum = 0;
  for (const double x : draws) {
    sum += x;
  }
  try {
    pool.for_blocks(1, 0, [](std::size_t, std::size_t, int) {});
    return 1;
  } catch (const dissent::InputError& error) {
    std::printf("dissent %s: mean %.3f; %s\n", dissent::kVersion.data(), sum / static_cast<double>(draws.size()),
                error.what());
  }
}
