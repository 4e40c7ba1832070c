#include "dissent/simulator/statistics.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "dissent/base/error.hpp"
#include "dissent/simulator/variant.hpp"

namespace dissent {
namespace {

// The entry of the observation that holds the speed; the height is the first entry for all robots.
std::size_t speed_column(const std::string& environment) {
  return environment == "pendulum" ? 2 : environment == "hopper" ? 5 : environment == "ant" ? 13 : 22;
}

double mean_target_stddev(const Transitions& rows) {
  double variance = 0;
  const double count = static_cast<double>(rows.num_rows);
  for (std::size_t column = 0; column < rows.observation_size; ++column) {
    double sum = 0;
    double squares = 0;
    for (std::size_t row = 0; row < rows.num_rows; ++row) {
      const double shifted = static_cast<double>(rows.next_observations[row * rows.observation_size + column]) -
                             static_cast<double>(rows.next_observations[column]);
      sum += shifted;
      squares += shifted * shifted;
    }
    variance += std::max(0.0, squares / count - (sum / count) * (sum / count));
  }
  return std::sqrt(variance / static_cast<double>(rows.observation_size));
}

}  // namespace

TransitionStatistics transition_statistics(const Transitions& rows) {
  check(rows.num_rows > 0, "transition_statistics: there are no rows");
  const std::string& environment = find_variant(rows.environment).environment;
  const bool is_pendulum = environment == "pendulum";
  const double count = static_cast<double>(rows.num_rows);
  TransitionStatistics result;
  double num_upright = 0;
  for (std::size_t row = 0; row < rows.num_rows; ++row) {
    const float* state = rows.observations.data() + row * rows.observation_size;
    const double speed = static_cast<double>(state[speed_column(environment)]);
    result.mean_height += static_cast<double>(state[0]) / count;
    result.mean_speed += (is_pendulum ? std::abs(speed) : speed) / count;
    num_upright += static_cast<double>(state[0]) > std::cos(0.2) ? 1 : 0;
  }
  if (is_pendulum) {
    result.upright = num_upright / count;
  }
  result.expert_share = std::accumulate(rows.expert.begin(), rows.expert.end(), 0.0) / count;
  result.mean_reward = std::accumulate(rows.rewards.begin(), rows.rewards.end(), 0.0) / count;
  result.mean_steps = count / static_cast<double>(rows.num_episodes);
  result.target_stddev = mean_target_stddev(rows);
  return result;
}

}  // namespace dissent
