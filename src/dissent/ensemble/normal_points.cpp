#include "dissent/ensemble/normal_points.hpp"

#include <algorithm>
#include <boost/math/special_functions/erf.hpp>
#include <cmath>
#include <limits>
#include <numbers>
#include <numeric>
#include <utility>

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

namespace {

// Means of the upper half of `count` cells, in ascending order: count (pdf(lower end) - pdf(upper end)).
std::vector<double> cell_means(std::size_t count) {
  const auto K = static_cast<double>(count);
  const auto density_at_end = [&](std::size_t cell) {  // the lower end of it
    const double z = cell == count ? std::numeric_limits<double>::infinity()
                                   : std::numbers::sqrt2 * boost::math::erf_inv(2 * static_cast<double>(cell) / K - 1);
    return std::exp(-0.5 * (z * z + kLogTwoPi));
  };
  std::vector<double> means;
  for (std::size_t cell = count / 2; cell < count; ++cell) {
    means.push_back(K * (density_at_end(cell) - density_at_end(cell + 1)));
  }
  return means;
}

}  // namespace

NormalPoints mean_points(std::size_t num_outputs, std::size_t count) {
  NormalPoints points{std::vector<double>(count * num_outputs),
                      std::vector<double>(count, 1.0 / static_cast<double>(count))};
  const std::size_t half = count / 2;
  std::vector<double> means = cell_means(count);
  for (std::size_t d = 0; d < num_outputs; ++d) {
    Stream stream = Stream(0, Purpose::kSample).substream(d);
    stream.shuffle(std::span(means));
    for (std::size_t k = 0; k < half; ++k) {
      const double value = stream.uniform() < 0.5 ? means[k] : -means[k];
      points.value[k * num_outputs + d] = value;
      points.value[(half + k) * num_outputs + d] = -value;
    }
  }
  return points;
}

CarriedPoints::CarriedPoints(const Ensemble& model, NormalPoints points) : model_(model), points_(std::move(points)) {}

void CarriedPoints::carry(std::span<const double> inputs, const Mixture<double>& mixture, std::size_t begin,
                          std::size_t end, bool with_log_det, Executor* executor) {
  const std::size_t C = model_.num_input_columns();
  const std::size_t M = mixture.num_components;
  const std::size_t D = mixture.num_outputs;
  const std::size_t K = points_.size();
  base_.resize((end - begin) * M * K * D);
  outputs_.resize(base_.size());
  log_det_.resize(with_log_det ? (end - begin) * M * K : 0);
  double* base = base_.data();
  for (std::size_t component = begin * M; component < end * M; ++component) {
    const double* const centre = mixture.mean.data() + component * D;
    const double* const stddev = mixture.stddev.data() + component * D;
    for (std::size_t k = 0; k < K; ++k) {
      for (std::size_t d = 0; d < D; ++d) {
        *base++ = centre[d] + stddev[d] * points_.value[k * D + d];
      }
    }
  }
  model_.carry(inputs.subspan(begin * C, (end - begin) * C), M * K, base_, outputs_, log_det_, executor);
}

}  // namespace dissent
