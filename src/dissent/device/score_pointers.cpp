#include "dissent/device/score_pointers.hpp"

#include <algorithm>
#include <utility>

#include "dissent/base/error.hpp"
#include "dissent/device/cuda_memory.hpp"
#include "dissent/device/score_methods.hpp"
#include "dissent/device/score_stream.hpp"
#include "dissent/device/score_top.hpp"
#include "dissent/estimator/combine.hpp"

namespace dissent {
namespace {

// Copies input number `input` to the host, to say what is wrong with it.
template <class T>
void validate_input(const MixtureView<T>& mixture, std::size_t input, cudaStream_t stream) {
  const MixtureView<T> part = mixture.rows(input, input + 1);
  Mixture<T> row = Mixture<T>::diagonal(1, mixture.num_components, mixture.num_outputs);
  const std::size_t bytes = row.mean.size() * sizeof(T);
  DISSENT_CUDA(cudaMemcpyAsync(row.mean.data(), part.mean, bytes, cudaMemcpyDeviceToHost, stream));
  DISSENT_CUDA(cudaMemcpyAsync(row.stddev.data(), part.stddev, bytes, cudaMemcpyDeviceToHost, stream));
  DISSENT_CUDA(cudaStreamSynchronize(stream));
  validate(row.view(), input);
}

// For more inputs than the card chooses at once: sorts on the host.
std::vector<score::RankedInput> sorted_on_host(const ScoredPointers& scores, cudaStream_t stream) {
  const std::size_t N = scores.num_inputs;
  std::vector<double> columns(2 * N);
  for (const auto& [from, to] :
       {std::pair(scores.epistemic, columns.data()), std::pair(scores.log_deficit, columns.data() + N)}) {
    DISSENT_CUDA(cudaMemcpyAsync(to, from, N * sizeof(double), cudaMemcpyDeviceToHost, stream));
  }
  DISSENT_CUDA(cudaStreamSynchronize(stream));
  std::vector<score::RankedInput> ranked(N);
  for (std::size_t n = 0; n < N; ++n) {
    ranked[n] = {columns[N + n], columns[n], static_cast<long long>(n)};
  }
  std::ranges::sort(ranked, [](const auto& a, const auto& b) { return a.before(b); });
  return ranked;
}

std::vector<score::RankedInput> chosen_on_card(const ScoredPointers& scores, std::size_t count, cudaStream_t stream) {
  const auto N = static_cast<long long>(scores.num_inputs);
  const int wanted = static_cast<int>(count);
  DeviceBuffer<score::RankedInput> scratch(score::top_scratch_size(N, wanted));
  DeviceBuffer<score::RankedInput> top(count);
  score::launch_top(scores.epistemic, scores.log_deficit, N, wanted, scratch.data(), top.data(), stream);
  std::vector<score::RankedInput> ranked(count);
  DISSENT_CUDA(
      cudaMemcpyAsync(ranked.data(), top.data(), count * sizeof(score::RankedInput), cudaMemcpyDeviceToHost, stream));
  DISSENT_CUDA(cudaStreamSynchronize(stream));
  return ranked;
}

}  // namespace

std::vector<std::size_t> top_pointers(const ScoredPointers& scores, std::size_t count, cudaStream_t stream) {
  count = std::min(count, scores.num_inputs);
  if (count == 0) {
    return {};
  }
  const std::vector<score::RankedInput> ranked =
      count > score::kMostTop ? sorted_on_host(scores, stream) : chosen_on_card(scores, count, stream);
  std::vector<std::size_t> inputs(count);
  std::ranges::transform(ranked.begin(), ranked.begin() + static_cast<std::ptrdiff_t>(count), inputs.begin(),
                         [](const score::RankedInput& r) { return static_cast<std::size_t>(r.input); });
  return inputs;
}

template <class T>
std::shared_ptr<double> score_pointers(const Estimator& estimator, const MixtureView<T>& mixture, cudaStream_t stream) {
  check(score::weights_fit<T>(*mixture.weights),
        "with arrays in single precision every weight must be 0 or above {}; pass them in double precision",
        kLeastWeightOfFloats);
  const auto method = score::method_for(estimator, mixture, {});
  check(method.has_value(),
        "estimator '{}' has no kernel for {} components of {} outputs; bring the arrays to the host", estimator.name(),
        mixture.num_components, mixture.num_outputs);
  const std::size_t N = mixture.num_inputs;
  const std::size_t num_columns = 4 + method->extras.size();
  auto columns = std::make_shared<DeviceBuffer<double>>(num_columns * N + 1);
  double* data = columns->data();
  auto* first_invalid = reinterpret_cast<unsigned long long*>(data + num_columns * N);
  unsigned long long invalid = score::kNoneInvalid;
  if (N > 0) {
    DISSENT_CUDA(cudaMemsetAsync(first_invalid, 0xff, sizeof(invalid), stream));
    method->launch({mixture.mean, mixture.stddev, static_cast<long long>(N), static_cast<int>(mixture.num_components),
                    static_cast<int>(mixture.num_outputs)},
                   {{.epistemic = data,
                     .log_deficit = data + 3 * N,
                     .aleatoric = data + N,
                     .total = data + 2 * N,
                     .first_invalid = first_invalid},
                    data + 4 * N},
                   0, stream);
    DISSENT_CUDA(cudaMemcpyAsync(&invalid, first_invalid, sizeof(invalid), cudaMemcpyDeviceToHost, stream));
    DISSENT_CUDA(cudaStreamSynchronize(stream));
  }
  if (invalid != score::kNoneInvalid) {
    validate_input(mixture, invalid, stream);
  }
  return {columns, data};
}

template std::shared_ptr<double> score_pointers(const Estimator&, const MixtureView<float>&, cudaStream_t);
template std::shared_ptr<double> score_pointers(const Estimator&, const MixtureView<double>&, cudaStream_t);

}  // namespace dissent
