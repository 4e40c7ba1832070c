// Memory for vector kernels: 64-byte alignment, enough for every instruction set.
#pragma once

#include <cstddef>
#include <memory>
#include <vector>

namespace dissent {

inline constexpr std::size_t kAlignment = 64;
inline constexpr std::size_t kAlignmentSlack = kAlignment / sizeof(double);  // doubles to ask for beyond what is needed

// The first aligned double of the memory, which must hold kAlignmentSlack more than are used.
inline double* align_up(std::vector<double>& memory) {
  void* at = memory.data();
  std::size_t space = memory.size() * sizeof(double);
  return static_cast<double*>(std::align(kAlignment, 0, at, space));
}

}  // namespace dissent
