#include "dissent/network/layout.hpp"

#include <algorithm>
#include <utility>

#include "dissent/base/error.hpp"

namespace dissent {

std::size_t Layout::add(std::string name, std::size_t rows, std::size_t cols) {
  const bool taken = std::ranges::any_of(slices_, [&](const Slice& slice) { return slice.name == name; });
  check(!taken, "Layout::add: name '{}' is taken; every slice of a block needs its own", name);
  check(rows > 0 && cols > 0, "Layout::add: '{}' is {} x {}; a slice must not be empty", name, rows, cols);
  const std::size_t offset = size_;
  slices_.push_back({std::move(name), offset, rows, cols});
  size_ += rows * cols;
  return offset;
}

std::size_t Layout::align() { return size_ = round_up(size_, kLanes); }

const Slice& Layout::find(std::string_view name) const {
  const auto found = std::ranges::find_if(slices_, [&](const Slice& slice) { return slice.name == name; });
  check(found != slices_.end(), "Layout::find: no slice is named '{}'", name);
  return *found;
}

}  // namespace dissent
