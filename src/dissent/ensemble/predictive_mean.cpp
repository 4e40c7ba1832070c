#include "dissent/ensemble/predictive_mean.hpp"

#include <algorithm>

#include "dissent/ensemble/normal_points.hpp"

namespace dissent {
namespace {

constexpr std::size_t kGridPoints = 33;
constexpr std::size_t kDraws = 64;
constexpr std::size_t kPointsAtATime = 16384;  // base values on their way, so that they stay in the cache

}  // namespace

std::vector<double> predictive_mean(const Ensemble& model, std::span<const double> inputs, Executor* executor) {
  const Mixture<double> mixture = model.predict(inputs, executor);
  const std::size_t M = mixture.num_components;
  const std::size_t D = mixture.num_outputs;
  const std::vector<double>& weights = model.weights().value;
  std::vector<double> mean(mixture.num_inputs * D, 0.0);
  if (model.output_map().is_identity()) {
    for (std::size_t k = 0; k < mixture.mean.size(); ++k) {
      mean[k / (M * D) * D + k % D] += weights[k / D % M] * mixture.mean[k];
    }
    return mean;
  }
  CarriedPoints carried(model, normal_points(D, kGridPoints, kDraws));
  const std::size_t K = carried.points().size();
  const std::size_t rows_at_a_time = std::max<std::size_t>(1, kPointsAtATime / (M * K * D));
  for (std::size_t begin = 0; begin < mixture.num_inputs; begin += rows_at_a_time) {
    const std::size_t end = std::min(mixture.num_inputs, begin + rows_at_a_time);
    carried.carry(inputs, mixture, begin, end, false, executor);
    const double* output = carried.outputs().data();
    for (std::size_t n = begin; n < end; ++n) {
      for (std::size_t m = 0; m < M; ++m) {
        for (std::size_t k = 0; k < K; ++k) {
          for (std::size_t d = 0; d < D; ++d) {
            mean[n * D + d] += weights[m] * carried.points().weight[k] * *output++;
          }
        }
      }
    }
  }
  return mean;
}

}  // namespace dissent
