// FNV-1a, 64 bits: a name for content, to tell one model or one set of settings from another; not a defence.
#pragma once

#include <cstdint>
#include <string_view>

namespace dissent {

constexpr std::uint64_t digest(std::string_view bytes) {
  std::uint64_t hash = 0xcbf29ce484222325;
  for (const char c : bytes) {
    hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3;
  }
  return hash;
}

}  // namespace dissent
