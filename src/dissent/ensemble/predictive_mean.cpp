#include "dissent/ensemble/predictive_mean.hpp"

#include <algorithm>

#include "dissent/ensemble/normal_points.hpp"

namespace dissent {
namespace {

constexpr std::size_t kGridPoints = 33;
constexpr std::size_t kDraws = 64;
constexpr std::size_t kPointsAtATime = 16384;  // base values through the flow, so that they stay in the cache

}  // namespace

std::vector<double> predictive_mean(const Ensemble& model, std::span<const double> inputs, Executor* executor) {
  const Mixture<double> mixture = model.predict(inputs, executor);
  const std::size_t C = model.num_inputs();
  const std::size_t M = mixture.num_components;
  const std::size_t D = mixture.num_outputs;
  const std::vector<double>& weights = model.weights().value;
  std::vector<double> mean(mixture.num_inputs * D, 0.0);
  if (model.flow() == nullptr) {
    for (std::size_t k = 0; k < mixture.mean.size(); ++k) {
      mean[k / (M * D) * D + k % D] += weights[k / D % M] * mixture.mean[k];
    }
    return mean;
  }
  const NormalPoints points = normal_points(D, kGridPoints, kDraws);
  const std::size_t K = points.size();
  const std::size_t rows_at_a_time = std::max<std::size_t>(1, kPointsAtATime / (M * K * D));
  std::vector<double> repeated(rows_at_a_time * M * K * C);
  std::vector<double> base(rows_at_a_time * M * K * D);
  std::vector<double> outputs(base.size());
  for (std::size_t begin = 0; begin < mixture.num_inputs; begin += rows_at_a_time) {
    const std::size_t rows = std::min(rows_at_a_time, mixture.num_inputs - begin);
    double* input_at = repeated.data();
    double* base_at = base.data();
    for (std::size_t n = begin; n < begin + rows; ++n) {
      for (std::size_t m = 0; m < M; ++m) {
        const double* const centre = mixture.mean.data() + (n * M + m) * D;
        const double* const stddev = mixture.stddev.data() + (n * M + m) * D;
        for (std::size_t k = 0; k < K; ++k) {
          input_at = std::copy_n(inputs.data() + n * C, C, input_at);
          for (std::size_t d = 0; d < D; ++d) {
            *base_at++ = centre[d] + stddev[d] * points.value[k * D + d];
          }
        }
      }
    }
    const std::size_t count = rows * M * K;
    model.to_outputs(std::span(repeated).first(count * C), std::span(base).first(count * D),
                     std::span(outputs).first(count * D), {}, executor);
    const double* output = outputs.data();
    for (std::size_t n = begin; n < begin + rows; ++n) {
      for (std::size_t m = 0; m < M; ++m) {
        for (std::size_t k = 0; k < K; ++k) {
          for (std::size_t d = 0; d < D; ++d) {
            mean[n * D + d] += weights[m] * points.weight[k] * *output++;
          }
        }
      }
    }
  }
  return mean;
}

}  // namespace dissent
