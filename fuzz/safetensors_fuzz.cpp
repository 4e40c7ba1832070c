// Arbitrary bytes as a safetensors file: asks for every array.
#include <cstdint>
#include <span>
#include <string>

#include "dissent/array/safetensors.hpp"
#include "dissent/base/error.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace dissent;
  const std::span<const std::byte> bytes(reinterpret_cast<const std::byte*>(data), size);
  try {
    const SafetensorsFile file(bytes, "fuzz");
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
