// Arbitrary bytes as an NPZ archive: asks for every member, under a memory limit that must hold.
#include <cstdint>
#include <span>
#include <string>

#include "dissent/array/npz.hpp"
#include "dissent/base/error.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace dissent;
  const std::span<const std::byte> bytes(reinterpret_cast<const std::byte*>(data), size);
  try {
    const NpzFile file(bytes, "fuzz", {.max_bytes = std::uint64_t{1} << 24});
    for (const std::string& name : file.names()) {
      try {
        file.load(name).to<float>();
      } catch (const InputError&) {
      }
    }
  } catch (const InputError&) {
  }
  return 0;
}
