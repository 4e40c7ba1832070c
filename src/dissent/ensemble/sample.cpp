// Draws from an ensemble: picks a component by its weight, draws a base value from it, and maps that to outputs.
#include <algorithm>

#include "dissent/base/error.hpp"
#include "dissent/base/random.hpp"
#include "dissent/ensemble/ensemble.hpp"
#include "dissent/ensemble/row_blocks.hpp"

namespace dissent {
namespace {

constexpr std::size_t kDraws = 64 * kModelBlock;  // at a time

// One base value of row n of the mixture, into `out`.
void draw(const Mixture<double>& mixture, const Weights& weights, std::size_t n, Stream& stream,
          std::span<double> out) {
  double left = stream.uniform();
  std::size_t m = 0;
  while (m + 1 < mixture.num_components && left >= weights.value[m]) {
    left -= weights.value[m++];
  }
  for (std::size_t d = 0; d < mixture.num_outputs; ++d) {
    const std::size_t at = (n * mixture.num_components + m) * mixture.num_outputs + d;
    out[d] = mixture.mean[at] + mixture.stddev[at] * stream.normal();
  }
}

}  // namespace

// Works in groups of rows and segments of a row's draws, so that memory besides the result stays small. A row's stream
// goes on from segment to segment, so segments do not change the draws.
std::vector<double> Ensemble::sample(std::span<const double> inputs, std::size_t num_samples, std::uint64_t seed,
                                     Executor* executor) const {
  const std::size_t N = check_inputs(inputs);
  const std::size_t C = num_input_columns();
  const std::size_t D = num_outputs();
  std::vector<double> outputs;
  check(N == 0 || num_samples <= outputs.max_size() / N / D,
        "{} draws of {} outputs for each of {} rows are more than memory can hold", num_samples, D, N);
  if (N == 0 || num_samples == 0) {
    return outputs;
  }
  outputs.resize(N * num_samples * D);
  const std::size_t group = std::min(N, std::max<std::size_t>(64, kDraws / num_samples));
  const std::size_t segment = std::min(num_samples, kDraws / std::min(group, kDraws));
  std::vector<double> base;
  std::vector<double> drawn;
  std::vector<Stream> streams;
  for (std::size_t first = 0; first < N; first += group) {
    const std::size_t count = std::min(group, N - first);
    const std::span<const double> own = inputs.subspan(first * C, count * C);
    const Mixture<double> mixture = predict(own, executor);
    streams.clear();
    for (std::size_t n = 0; n < count; ++n) {
      streams.emplace_back(seed, Purpose::kSample, first + n);
    }
    for (std::size_t begin = 0; begin < num_samples; begin += segment) {
      const std::size_t length = std::min(segment, num_samples - begin);
      base.resize(count * length * D);
      drawn.resize(base.size());
      for_blocks(executor, count, std::max<std::size_t>(1, kModelBlock / length), [&](auto from, auto to, std::size_t) {
        for (std::size_t row = from * length; row < to * length; ++row) {
          draw(mixture, weights_, row / length, streams[row / length], std::span(base).subspan(row * D, D));
        }
      });
      carry(own, length, base, drawn, {}, executor);
      for (std::size_t n = 0; n < count; ++n) {
        std::copy_n(drawn.data() + n * length * D, length * D,
                    outputs.data() + ((first + n) * num_samples + begin) * D);
      }
    }
  }
  return outputs;
}

}  // namespace dissent
