// A 64-bit name for content, to tell one model, one set of rows or one set of settings from another: a check against
// mistakes, not a defence. Digests are kept in files, so the numbers must never change.
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string>
#include <string_view>

namespace dissent {

// FNV-1a: over the bytes of texts, and over whole words for numbers, which is fast on millions of them.
class Digest {
 public:
  constexpr void add_bytes(std::string_view bytes) {
    for (const char c : bytes) {
      value_ = (value_ ^ static_cast<unsigned char>(c)) * kPrime;
    }
  }
  constexpr void add_word(std::uint64_t word) {
    value_ = (value_ ^ word) * kPrime;
    value_ ^= value_ >> 29;  // the multiplication alone carries nothing downwards
  }
  // Adds the number of bytes, then the bytes in words of 8.
  void add_data(std::span<const std::byte> bytes) {
    add_word(bytes.size());
    for (; !bytes.empty(); bytes = bytes.subspan(std::min(bytes.size(), sizeof(std::uint64_t)))) {
      std::uint64_t word = 0;  // little endian, as files are
      std::memcpy(&word, bytes.data(), std::min(bytes.size(), sizeof(word)));
      add_word(word);
    }
  }
  // Adds how many there are, then their bits.
  void add(std::span<const double> values) {
    add_word(values.size());
    for (const double value : values) {
      add_word(std::bit_cast<std::uint64_t>(value));
    }
  }
  // Adds how many there are, then the length and characters of each.
  void add(std::span<const std::string> names) {
    add_word(names.size());
    for (const std::string& name : names) {
      add_word(name.size());
      for (const char c : name) {
        add_word(static_cast<unsigned char>(c));
      }
    }
  }
  constexpr std::uint64_t value() const { return value_; }

 private:
  static constexpr std::uint64_t kPrime = 0x100000001b3;
  std::uint64_t value_ = 0xcbf29ce484222325;
};

constexpr std::uint64_t digest(std::string_view bytes) {
  Digest result;
  result.add_bytes(bytes);
  return result.value();
}

}  // namespace dissent
