// The map of a flat parameter block: where each named matrix is.
//
// All parameters of a model, of all its components, are one array; gradients and the optimiser's moments are arrays of
// the same layout. So an optimiser step, a copy, a file or a transfer to a device is one operation on one array.
// Matrices are row-major and dense. Gaps between networks (see align) hold zeros and stay zero under every optimiser.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "dissent/matrix/panel.hpp"

namespace dissent {

struct Slice {
  std::string name;
  std::size_t offset = 0;
  std::size_t rows = 0;
  std::size_t cols = 0;  // 1 for a vector

  std::size_t size() const { return rows * cols; }
};

// The storage of a block: aligned, zero at first.
template <class T>
using Block = AlignedVector<T>;

class Layout {
 public:
  // Appends a matrix right after the last one and returns its offset. Names must differ.
  std::size_t add(std::string name, std::size_t rows, std::size_t cols);

  // Moves the end to the next multiple of kLanes, so that what follows starts aligned and can be processed by itself.
  std::size_t align();

  std::size_t size() const { return size_; }
  std::span<const Slice> slices() const { return slices_; }

  // InputError if there is no such name.
  const Slice& find(std::string_view name) const;

 private:
  std::vector<Slice> slices_;
  std::size_t size_ = 0;
};

// The values of a slice inside a block.
template <class T>
std::span<T> values_of(const Slice& slice, std::span<T> block) {
  return block.subspan(slice.offset, slice.size());
}

}  // namespace dissent
