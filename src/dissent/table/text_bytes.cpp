#include "dissent/table/text_bytes.hpp"

#include <array>
#include <cstddef>
#include <cstdint>

namespace dissent {
namespace {

// Code points of the bytes 0x80 to 0x9F; all other bytes are their own code point.
constexpr std::array<std::uint16_t, 32> kWindows = {0x20AC, 0x0081, 0x201A, 0x0192, 0x201E, 0x2026, 0x2020, 0x2021,
                                                    0x02C6, 0x2030, 0x0160, 0x2039, 0x0152, 0x008D, 0x017D, 0x008F,
                                                    0x0090, 0x2018, 0x2019, 0x201C, 0x201D, 0x2022, 0x2013, 0x2014,
                                                    0x02DC, 0x2122, 0x0161, 0x203A, 0x0153, 0x009D, 0x017E, 0x0178};

// How many bytes follow a first one, or -1 if it cannot be first. `least` receives the smallest number that may be
// written this way, since longer forms than needed are not UTF-8.
int num_following(unsigned char first, std::uint32_t& least) {
  if (first < 0x80) {
    return 0;
  }
  if (first >= 0xC2 && first < 0xE0) {
    least = 0x80;
    return 1;
  }
  if (first >= 0xE0 && first < 0xF0) {
    least = 0x800;
    return 2;
  }
  least = 0x10000;
  return first >= 0xF0 && first < 0xF5 ? 3 : -1;
}

}  // namespace

bool is_utf8(std::string_view text) {
  for (std::size_t k = 0; k < text.size(); ++k) {
    const auto first = static_cast<unsigned char>(text[k]);
    std::uint32_t least = 0;
    const int count = num_following(first, least);
    if (count < 0 || text.size() - k <= static_cast<std::size_t>(count)) {
      return false;
    }
    std::uint32_t number = count == 0 ? first : first & (0x3FU >> count);
    for (int i = 0; i < count; ++i) {
      const auto next = static_cast<unsigned char>(text[++k]);
      if ((next & 0xC0U) != 0x80) {
        return false;
      }
      number = number << 6U | (next & 0x3FU);
    }
    if (number < least || number > 0x10FFFF || (number >= 0xD800 && number < 0xE000)) {
      return false;
    }
  }
  return true;
}

std::string utf8_of_windows(std::string_view text) {
  std::string out;
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    const std::uint32_t number = byte >= 0x80 && byte < 0xA0 ? kWindows[byte - 0x80] : byte;
    if (number < 0x80) {
      out += c;
    } else if (number < 0x800) {
      out += static_cast<char>(0xC0U | number >> 6U);
      out += static_cast<char>(0x80U | (number & 0x3FU));
    } else {
      out += static_cast<char>(0xE0U | number >> 12U);
      out += static_cast<char>(0x80U | (number >> 6U & 0x3FU));
      out += static_cast<char>(0x80U | (number & 0x3FU));
    }
  }
  return out;
}

}  // namespace dissent
