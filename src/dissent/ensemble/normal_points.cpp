#include "dissent/ensemble/normal_points.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "dissent/base/random.hpp"
#include "dissent/mixture/gaussian.hpp"

namespace dissent {

NormalPoints normal_points(std::size_t num_outputs, std::size_t num_grid, std::size_t num_draws) {
  constexpr double kGridEnd = 6.5;
  NormalPoints points;
  if (num_outputs == 1) {
    for (std::size_t k = 0; k < num_grid; ++k) {
      const double z = kGridEnd * (2 * static_cast<double>(k) / static_cast<double>(num_grid - 1) - 1);
      points.value.push_back(z);
      points.weight.push_back(std::exp(-0.5 * (z * z + kLogTwoPi)));
    }
    const double sum = std::accumulate(points.weight.begin(), points.weight.end(), 0.0);
    std::ranges::for_each(points.weight, [&](double& weight) { weight /= sum; });
    return points;
  }
  Stream stream(0, Purpose::kSample);
  const std::size_t half = num_draws * num_outputs / 2;
  points.value.resize(2 * half);
  for (std::size_t k = 0; k < half; ++k) {
    points.value[k] = stream.normal();
    points.value[half + k] = -points.value[k];
  }
  points.weight.assign(num_draws, 1.0 / static_cast<double>(num_draws));
  return points;
}

}  // namespace dissent
