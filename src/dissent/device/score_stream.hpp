// Sends a mixture in host memory through a card, part by part: while one part is scored, the next is copied.
#pragma once

#include <cuda_runtime.h>

#include <array>
#include <cstddef>
#include <functional>
#include <limits>

#include "dissent/base/executor.hpp"
#include "dissent/device/cuda_memory.hpp"
#include "dissent/device/score_call.hpp"
#include "dissent/mixture/mixture.hpp"

namespace dissent::score {

// No input was found invalid.
inline constexpr unsigned long long kNoneInvalid = std::numeric_limits<unsigned long long>::max();

// Inputs [begin, begin + rows.num_inputs) on the card, and where their results go.
template <class T>
struct Part {
  Rows<T> rows;
  std::size_t begin;
  double* scratch;  // stays on the card
  double* results;  // copied to the host
  unsigned long long* first_invalid;
  cudaStream_t stream;
};

// The work on each part.
template <class T>
struct PartWork {
  std::function<std::size_t(std::size_t count)> scratch_size;  // doubles, for a part of this many inputs
  std::function<std::size_t(std::size_t count)> results_size;
  std::function<void(const Part<T>& part)> launch;
  // Called in the order of the parts, with the results on the host.
  std::function<void(std::size_t begin, std::size_t count, const double* results)> collect;
};

// Belongs to one card; one thread uses it at a time. Keeps its memory from call to call.
class ScoreStream {
 public:
  static constexpr std::size_t kPartBytes = std::size_t{32} << 20;  // of means, and of stddevs

  // Throws like validate() for the first input with a value that breaks a rule.
  template <class T>
  void run(const MixtureView<T>& mixture, Executor* executor, std::size_t first_input, const PartWork<T>& work);

 private:
  struct Slot {
    CudaStream stream = {};
    CudaEvent done = CudaEvent();
    PinnedBuffer<std::byte> staged = {};
    DeviceBuffer<std::byte> inputs = {};
    DeviceBuffer<double> scratch = {};
    DeviceBuffer<double> results = {};  // one more for first_invalid
    PinnedBuffer<double> collected = {};
    std::size_t begin = 0;
    std::size_t count = 0;  // 0: free
  };

  template <class T>
  void begin_part(Slot& slot, const MixtureView<T>& mixture, Executor* executor, const PartWork<T>& work);
  template <class T>
  void end_part(Slot& slot, const MixtureView<T>& mixture, std::size_t first_input, const PartWork<T>& work);
  void drain() noexcept;

  std::array<Slot, 2> slots_;
};

}  // namespace dissent::score
