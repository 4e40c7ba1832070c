// Bytes as text and back (RFC 4648, with padding), for places that keep only text.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace dissent {

inline constexpr std::string_view kBase64Letters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

inline std::string to_base64(std::span<const std::byte> bytes) {
  std::string text;
  text.reserve((bytes.size() + 2) / 3 * 4);
  for (std::size_t begin = 0; begin < bytes.size(); begin += 3) {
    const std::size_t count = std::min<std::size_t>(3, bytes.size() - begin);
    std::uint32_t word = 0;
    for (std::size_t k = 0; k < 3; ++k) {
      word = word << 8 | (k < count ? std::to_integer<std::uint32_t>(bytes[begin + k]) : 0);
    }
    for (std::size_t k = 0; k < 4; ++k) {
      text += k <= count ? kBase64Letters[word >> (18 - 6 * k) & 63] : '=';
    }
  }
  return text;
}

// None for text that to_base64() does not write.
inline std::optional<std::vector<std::byte>> from_base64(std::string_view text) {
  if (text.size() % 4 != 0) {
    return std::nullopt;
  }
  std::vector<std::byte> bytes;
  bytes.reserve(text.size() / 4 * 3);
  for (std::size_t begin = 0; begin < text.size(); begin += 4) {
    const bool last = begin + 4 == text.size();
    const std::string_view group = text.substr(begin, 4);
    const std::size_t letters = last ? group.find_last_not_of('=') + 1 : 4;
    std::uint32_t word = 0;
    for (std::size_t k = 0; k < 4; ++k) {
      const std::size_t value = k < letters ? kBase64Letters.find(group[k]) : 0;
      if (value == std::string_view::npos) {
        return std::nullopt;
      }
      word = word << 6 | static_cast<std::uint32_t>(value);
    }
    const std::size_t count = letters == 0 ? 0 : letters - 1;
    if (count == 0 || (word & ((1u << (8 * (3 - count))) - 1)) != 0) {
      return std::nullopt;
    }
    for (std::size_t k = 0; k < count; ++k) {
      bytes.push_back(static_cast<std::byte>(word >> (16 - 8 * k)));
    }
  }
  return bytes;
}

}  // namespace dissent
