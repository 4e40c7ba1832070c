// Owners of what a card hands out: memory on the card, pinned memory of the host, streams, events. All are move-only
// and belong to the card that is current when they are made, whichever is current when they go. Elements are not
// initialised.
#pragma once

#include <cuda_runtime.h>

#include <cstddef>
#include <new>
#include <type_traits>
#include <utility>

#include "dissent/device/cuda_error.hpp"

namespace dissent {

// For destructors: whether a call succeeded. Its error is cleared, or the next kernel would be blamed.
inline bool forget_error(cudaError_t status) noexcept {
  if (status != cudaSuccess) {
    cudaGetLastError();
  }
  return status == cudaSuccess;
}

// Makes a card current until the end of the scope, then the one before. std::nothrow: for destructors.
class CurrentCard {
 public:
  explicit CurrentCard(int card) {
    int before = 0;
    DISSENT_CUDA(cudaGetDevice(&before));
    DISSENT_CUDA(cudaSetDevice(card));
    before_ = before == card ? -1 : before;
  }
  CurrentCard(int card, std::nothrow_t) noexcept {
    int before = 0;
    if (forget_error(cudaGetDevice(&before)) && forget_error(cudaSetDevice(card))) {
      before_ = before == card ? -1 : before;
    }
  }
  CurrentCard(const CurrentCard&) = delete;
  CurrentCard& operator=(const CurrentCard&) = delete;
  ~CurrentCard() {
    if (before_ >= 0) {
      forget_error(cudaSetDevice(before_));
    }
  }

 private:
  int before_ = -1;  // none, or the same
};

// Memory of T, from Memory::allocate() and back to Memory::free(). reserve() makes it grow and does not keep the
// contents.
template <class T, class Memory>
class CudaArray {
  static_assert(std::is_trivially_copyable_v<T>);

 public:
  CudaArray() = default;
  explicit CudaArray(std::size_t size) { reserve(size); }
  CudaArray(CudaArray&& other) noexcept
      : data_(std::exchange(other.data_, nullptr)), size_(std::exchange(other.size_, 0)) {}
  CudaArray& operator=(CudaArray&& other) noexcept {
    std::swap(data_, other.data_);
    std::swap(size_, other.size_);
    return *this;
  }
  ~CudaArray() { release(); }

  // At least this many elements.
  void reserve(std::size_t size) {
    if (size <= size_) {
      return;
    }
    release();
    data_ = static_cast<T*>(Memory::allocate(size * sizeof(T)));
    size_ = size;
  }
  void release() noexcept {
    if (data_ != nullptr) {
      Memory::free(std::exchange(data_, nullptr));
    }
    size_ = 0;
  }

  T* data() { return data_; }
  const T* data() const { return data_; }
  std::size_t size() const { return size_; }

 private:
  T* data_ = nullptr;
  std::size_t size_ = 0;
};

struct CardMemory {
  static void* allocate(std::size_t bytes) {
    void* data = nullptr;
    DISSENT_CUDA(cudaMalloc(&data, bytes));
    return data;
  }
  static void free(void* data) noexcept { forget_error(cudaFree(data)); }
};

struct PinnedMemory {
  static void* allocate(std::size_t bytes) {
    void* data = nullptr;
    DISSENT_CUDA(cudaMallocHost(&data, bytes));
    return data;
  }
  static void free(void* data) noexcept { forget_error(cudaFreeHost(data)); }
};

// Card memory from the card's pool: unlike with cudaFree, taking it and giving it back does not wait for what runs
// there. Whoever gives it back must have waited for their own work.
struct PooledMemory {
  static void* allocate(std::size_t bytes) {
    void* data = nullptr;
    DISSENT_CUDA(cudaMallocAsync(&data, bytes, cudaStreamPerThread));
    DISSENT_CUDA(cudaStreamSynchronize(cudaStreamPerThread));
    return data;
  }
  static void free(void* data) noexcept {
    cudaPointerAttributes of{};
    if (forget_error(cudaPointerGetAttributes(&of, data))) {
      const CurrentCard current(of.device, std::nothrow);  // the stream is the current card's
      forget_error(cudaFreeAsync(data, cudaStreamPerThread));
    }
  }
  // Hands all that the pool has free on to other programs: once fits have run, it keeps that for the next.
  static void trim(int card) noexcept {
    const CurrentCard current(card, std::nothrow);
    cudaMemPool_t pool = nullptr;
    if (forget_error(cudaStreamSynchronize(cudaStreamPerThread)) &&
        forget_error(cudaDeviceGetDefaultMemPool(&pool, card))) {
      forget_error(cudaMemPoolTrimTo(pool, 0));
    }
  }
};

template <class T>
using DeviceBuffer = CudaArray<T, CardMemory>;
template <class T>
using PooledBuffer = CudaArray<T, PooledMemory>;
template <class T>
using PinnedBuffer = CudaArray<T, PinnedMemory>;

// A queue of work that does not wait for the default stream.
class CudaStream {
 public:
  CudaStream() { DISSENT_CUDA(cudaStreamCreateWithFlags(&stream_, cudaStreamNonBlocking)); }
  // A stream whose blocks go first as soon as there is room for them.
  static CudaStream urgent() {
    int least = 0;
    int greatest = 0;
    DISSENT_CUDA(cudaDeviceGetStreamPriorityRange(&least, &greatest));
    return CudaStream(greatest);
  }
  CudaStream(CudaStream&& other) noexcept : stream_(std::exchange(other.stream_, nullptr)) {}
  CudaStream& operator=(CudaStream&& other) noexcept {
    std::swap(stream_, other.stream_);
    return *this;
  }
  ~CudaStream() {
    if (stream_ != nullptr) {
      forget_error(cudaStreamDestroy(stream_));
    }
  }

  operator cudaStream_t() const { return stream_; }
  void wait() const { DISSENT_CUDA(cudaStreamSynchronize(stream_)); }

 private:
  explicit CudaStream(int priority) {
    DISSENT_CUDA(cudaStreamCreateWithPriority(&stream_, cudaStreamNonBlocking, priority));
  }

  cudaStream_t stream_ = nullptr;
};

// Waits for a stream at the end of its scope, also when an error leaves it: for memory that the stream may still use.
class WaitAtEnd {
 public:
  explicit WaitAtEnd(const CudaStream& stream) : stream_(stream) {}
  WaitAtEnd(const WaitAtEnd&) = delete;
  WaitAtEnd& operator=(const WaitAtEnd&) = delete;
  ~WaitAtEnd() { forget_error(cudaStreamSynchronize(stream_)); }

 private:
  cudaStream_t stream_;
};

// A mark in a stream. It records the time only if asked to, since that has a cost.
class CudaEvent {
 public:
  explicit CudaEvent(bool times = false) : CudaEvent(times ? kTimes : kPlain) {}
  // An event whose wait() leaves the processor to others and returns some microseconds later.
  static CudaEvent sleeping() { return CudaEvent(kPlain | kSleeps); }
  CudaEvent(CudaEvent&& other) noexcept : event_(std::exchange(other.event_, nullptr)) {}
  CudaEvent& operator=(CudaEvent&& other) noexcept {
    std::swap(event_, other.event_);
    return *this;
  }
  ~CudaEvent() {
    if (event_ != nullptr) {
      forget_error(cudaEventDestroy(event_));
    }
  }

  operator cudaEvent_t() const { return event_; }
  void record(cudaStream_t stream) const { DISSENT_CUDA(cudaEventRecord(event_, stream)); }
  void wait() const { DISSENT_CUDA(cudaEventSynchronize(event_)); }
  // Milliseconds between two marks that have been passed.
  float since(const CudaEvent& earlier) const {
    float milliseconds = 0;
    DISSENT_CUDA(cudaEventElapsedTime(&milliseconds, earlier.event_, event_));
    return milliseconds;
  }

 private:
  static constexpr unsigned kTimes = cudaEventDefault;
  static constexpr unsigned kPlain = cudaEventDisableTiming;
  static constexpr unsigned kSleeps = cudaEventBlockingSync;
  explicit CudaEvent(unsigned flags) { DISSENT_CUDA(cudaEventCreateWithFlags(&event_, flags)); }

  cudaEvent_t event_ = nullptr;
};

}  // namespace dissent
