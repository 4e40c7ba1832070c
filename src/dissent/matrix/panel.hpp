// Feature-major storage of a batch: a panel has one row per feature (input, unit, output) and one column per item of
// the batch, contiguous along the batch, so that the batch is the vector dimension of every kernel.
//
// Rows are 64-byte aligned and the batch is padded to a multiple of kLanes columns. Padding columns may hold anything
// finite, except in gradients, where they must be zero (backward() sees to that); then no kernel needs a tail.
#pragma once

#include <cstddef>
#include <limits>
#include <new>
#include <type_traits>
#include <vector>

namespace dissent {

inline constexpr std::size_t kLanes = 16;            // a multiple of the vector length of every instruction set
inline constexpr std::size_t kMemoryAlignment = 64;  // bytes: a cache line, and the widest vector

constexpr std::size_t round_up(std::size_t size, std::size_t multiple) {
  return (size + multiple - 1) / multiple * multiple;
}

constexpr std::size_t padded_batch(std::size_t batch) { return round_up(batch, kLanes); }

template <class T>
struct AlignedAllocator {
  using value_type = T;
  AlignedAllocator() = default;
  template <class Other>
  AlignedAllocator(const AlignedAllocator<Other>&) {}
  T* allocate(std::size_t count) {
    if (count > std::numeric_limits<std::size_t>::max() / sizeof(T)) {
      throw std::bad_array_new_length();
    }
    return static_cast<T*>(::operator new(count * sizeof(T), std::align_val_t(kMemoryAlignment)));
  }
  void deallocate(T* pointer, std::size_t) { ::operator delete(pointer, std::align_val_t(kMemoryAlignment)); }
  template <class Other>
  bool operator==(const AlignedAllocator<Other>&) const {
    return true;
  }
};

template <class T>
using AlignedVector = std::vector<T, AlignedAllocator<T>>;

// A view; T may be const.
template <class T>
struct Panel {
  T* data = nullptr;
  std::size_t rows = 0;
  std::size_t stride = 0;  // elements from one row to the next; a multiple of kLanes

  T* row(std::size_t index) const { return data + index * stride; }
  T& operator()(std::size_t row_index, std::size_t column) const { return data[row_index * stride + column]; }
  Panel slice(std::size_t first, std::size_t count) const { return {data + first * stride, count, stride}; }
  operator Panel<const T>() const requires(!std::is_const_v<T>) { return {data, rows, stride}; }
};

// A few columns more than the padded batch needs: with a power of two (256 floats = 1 KiB) the rows of a tile would
// fall into a quarter of the cache's sets.
constexpr std::size_t panel_stride(std::size_t capacity) { return padded_batch(capacity) + kLanes; }

// Owns a panel of `rows` features for up to `capacity` items, zero at first.
template <class T>
class PanelBuffer {
 public:
  PanelBuffer() = default;
  PanelBuffer(std::size_t rows, std::size_t capacity)
      : storage_(rows * panel_stride(capacity)), rows_(rows), capacity_(capacity) {}

  std::size_t capacity() const { return capacity_; }
  Panel<T> panel() { return {storage_.data(), rows_, panel_stride(capacity_)}; }
  Panel<T> panel(std::size_t rows) { return {storage_.data(), rows, panel_stride(capacity_)}; }
  Panel<const T> panel() const { return {storage_.data(), rows_, panel_stride(capacity_)}; }

 private:
  AlignedVector<T> storage_;
  std::size_t rows_ = 0;
  std::size_t capacity_ = 0;
};

}  // namespace dissent
