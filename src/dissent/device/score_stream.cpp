#include "dissent/device/score_stream.hpp"

#include <algorithm>
#include <bit>
#include <cstdint>
#include <cstring>
#include <utility>

namespace dissent::score {
namespace {

// A thread's share of a copy.
constexpr std::size_t kCopyBytes = std::size_t{2} << 20;

void copy(Executor* executor, const void* from, std::size_t bytes, std::byte* to) {
  for_blocks(executor, bytes, kCopyBytes, [&](std::size_t begin, std::size_t end, std::size_t) {
    std::memcpy(to + begin, static_cast<const std::byte*>(from) + begin, end - begin);
  });
}

std::size_t aligned(std::size_t bytes) { return (bytes + 255) / 256 * 256; }

}  // namespace

template <class T>
void ScoreStream::run(const MixtureView<T>& mixture, Executor* executor, std::size_t first_input,
                      const PartWork<T>& work) {
  const std::size_t row = mixture.num_components * mixture.num_outputs * sizeof(T);
  const std::size_t part = std::max<std::size_t>(1, kPartBytes / row);
  try {
    std::size_t next = 0;
    for (std::size_t begin = 0; begin < mixture.num_inputs; begin += part, next = 1 - next) {
      Slot& slot = slots_[next];
      end_part(slot, mixture, first_input, work);
      slot.begin = begin;
      slot.count = std::min(part, mixture.num_inputs - begin);
      begin_part(slot, mixture, executor, work);
    }
    end_part(slots_[next], mixture, first_input, work);
    end_part(slots_[1 - next], mixture, first_input, work);
  } catch (...) {
    drain();
    throw;
  }
}

template <class T>
void ScoreStream::begin_part(Slot& slot, const MixtureView<T>& mixture, Executor* executor, const PartWork<T>& work) {
  const std::size_t row = mixture.num_components * mixture.num_outputs;
  const std::size_t bytes = slot.count * row * sizeof(T);
  const std::size_t offset = aligned(bytes);
  const std::size_t num_results = work.results_size(slot.count);
  slot.staged.reserve(2 * offset);
  slot.inputs.reserve(2 * offset);
  slot.scratch.reserve(work.scratch_size(slot.count));
  slot.results.reserve(num_results + 1);
  slot.collected.reserve(num_results + 1);
  for (const auto& [from, at] : {std::pair(mixture.mean, std::size_t{0}), std::pair(mixture.stddev, offset)}) {
    copy(executor, from + slot.begin * row, bytes, slot.staged.data() + at);
    DISSENT_CUDA(
        cudaMemcpyAsync(slot.inputs.data() + at, slot.staged.data() + at, bytes, cudaMemcpyHostToDevice, slot.stream));
  }
  auto* first_invalid = reinterpret_cast<unsigned long long*>(slot.results.data() + num_results);
  DISSENT_CUDA(cudaMemsetAsync(first_invalid, 0xff, sizeof(kNoneInvalid), slot.stream));
  work.launch(Part<T>{.rows = {.mean = reinterpret_cast<const T*>(slot.inputs.data()),
                               .stddev = reinterpret_cast<const T*>(slot.inputs.data() + offset),
                               .num_inputs = static_cast<long long>(slot.count),
                               .num_components = static_cast<int>(mixture.num_components),
                               .num_outputs = static_cast<int>(mixture.num_outputs)},
                      .begin = slot.begin,
                      .scratch = slot.scratch.data(),
                      .results = slot.results.data(),
                      .first_invalid = first_invalid,
                      .stream = slot.stream});
  DISSENT_CUDA(cudaMemcpyAsync(slot.collected.data(), slot.results.data(), (num_results + 1) * sizeof(double),
                               cudaMemcpyDeviceToHost, slot.stream));
  slot.done.record(slot.stream);
}

template <class T>
void ScoreStream::end_part(Slot& slot, const MixtureView<T>& mixture, std::size_t first_input,
                           const PartWork<T>& work) {
  if (slot.count == 0) {
    return;
  }
  slot.done.wait();
  const std::size_t count = std::exchange(slot.count, 0);
  const double* results = slot.collected.data();
  const auto invalid = std::bit_cast<std::uint64_t>(results[work.results_size(count)]);
  if (invalid != kNoneInvalid) {
    const std::size_t input = slot.begin + invalid;
    validate(mixture.rows(input, input + 1), first_input + input);
  }
  work.collect(slot.begin, count, results);
}

void ScoreStream::drain() noexcept {
  for (Slot& slot : slots_) {
    if (std::exchange(slot.count, 0) > 0) {
      forget_error(cudaStreamSynchronize(slot.stream));
    }
  }
}

template void ScoreStream::run(const MixtureView<float>&, Executor*, std::size_t, const PartWork<float>&);
template void ScoreStream::run(const MixtureView<double>&, Executor*, std::size_t, const PartWork<double>&);

}  // namespace dissent::score
