// Counts every allocation of the program: replaces its global operator new, so at most one source of a program may
// include this.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdlib>
#include <new>

// Where GCC inlines a delete but not its new, it takes the pair for a mismatch.
#pragma GCC diagnostic ignored "-Wmismatched-new-delete"

namespace dissent::test {

inline std::atomic<std::size_t> num_allocations = 0;

inline void* count_and_allocate(std::size_t size, std::size_t alignment) {
  ++num_allocations;
  void* memory = std::aligned_alloc(alignment, (size + alignment - 1) / alignment * alignment);
  if (memory == nullptr) {
    throw std::bad_alloc();
  }
  return memory;
}

}  // namespace dissent::test

void* operator new(std::size_t size) { return dissent::test::count_and_allocate(size, alignof(std::max_align_t)); }
void* operator new[](std::size_t size) { return dissent::test::count_and_allocate(size, alignof(std::max_align_t)); }
void* operator new(std::size_t size, std::align_val_t alignment) {
  return dissent::test::count_and_allocate(size, static_cast<std::size_t>(alignment));
}
void* operator new[](std::size_t size, std::align_val_t alignment) {
  return dissent::test::count_and_allocate(size, static_cast<std::size_t>(alignment));
}
void* operator new(std::size_t size, const std::nothrow_t&) noexcept {
  ++dissent::test::num_allocations;
  return std::malloc(size);
}
void* operator new[](std::size_t size, const std::nothrow_t&) noexcept {
  ++dissent::test::num_allocations;
  return std::malloc(size);
}
void operator delete(void* memory) noexcept { std::free(memory); }
void operator delete[](void* memory) noexcept { std::free(memory); }
void operator delete(void* memory, std::size_t) noexcept { std::free(memory); }
void operator delete[](void* memory, std::size_t) noexcept { std::free(memory); }
void operator delete(void* memory, std::align_val_t) noexcept { std::free(memory); }
void operator delete[](void* memory, std::align_val_t) noexcept { std::free(memory); }
void operator delete(void* memory, std::size_t, std::align_val_t) noexcept { std::free(memory); }
void operator delete[](void* memory, std::size_t, std::align_val_t) noexcept { std::free(memory); }
