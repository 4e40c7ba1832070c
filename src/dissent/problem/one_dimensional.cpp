#include "dissent/problem/one_dimensional.hpp"

#include <cmath>

namespace dissent {

Point draw_hetero(InputDistribution inputs, Stream& stream) {
  Point point;
  if (inputs == InputDistribution::kTraining) {
    constexpr double kMeans[] = {-4, 0, 4};
    constexpr double kStddevs[] = {0.4, 0.9, 0.4};
    const std::uint64_t part = stream.below(3);
    point.x = kMeans[part] + kStddevs[part] * stream.normal();
  } else {
    const double mean = stream.below(2) == 0 ? -2 : 2;
    point.x = mean + 0.6 * stream.normal();
  }
  point.y = 7 * std::sin(point.x) + 3 * stream.normal() * std::abs(std::cos(point.x / 2));
  return point;
}

Point draw_bimodal(InputDistribution inputs, Stream& stream) {
  Point point;
  point.x = inputs == InputDistribution::kTraining ? -std::log(stream.uniform()) / 2 : 4 * stream.uniform();
  const bool first_mode = stream.below(2) == 0;
  const double noise = stream.normal();
  point.y = first_mode ? 10 * std::sin(point.x) + noise : 10 * std::cos(point.x) + noise + 20 - point.x;
  return point;
}

}  // namespace dissent
