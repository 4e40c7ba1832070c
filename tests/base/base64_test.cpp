#include "dissent/base/base64.hpp"

#include <gtest/gtest.h>

namespace dissent {
namespace {

std::vector<std::byte> bytes_of(std::string_view text) {
  const auto* begin = reinterpret_cast<const std::byte*>(text.data());
  return {begin, begin + text.size()};
}

TEST(Base64, VectorsOfTheStandard) {
  const std::pair<std::string_view, std::string_view> vectors[] = {{"", ""},
                                                                   {"f", "Zg=="},
                                                                   {"fo", "Zm8="},
                                                                   {"foo", "Zm9v"},
                                                                   {"foob", "Zm9vYg=="},
                                                                   {"fooba", "Zm9vYmE="},
                                                                   {"foobar", "Zm9vYmFy"}};
  for (const auto& [plain, text] : vectors) {
    EXPECT_EQ(to_base64(bytes_of(plain)), text);
    EXPECT_EQ(from_base64(text), bytes_of(plain));
  }
}

TEST(Base64, EveryByteComesBack) {
  std::vector<std::byte> bytes;
  for (int k = 0; k < 1000; ++k) {
    bytes.push_back(static_cast<std::byte>(k * 7));
    EXPECT_EQ(from_base64(to_base64(bytes)), bytes);
  }
}

TEST(Base64, RefusesWhatItDoesNotWrite) {
  for (const char* text : {"Zg=", "Zg", "Z===", "====", "Zg==Zm9v", "Zm9*", "Zh==", "Zm9=", "Z=g="}) {
    EXPECT_EQ(from_base64(text), std::nullopt) << text;
  }
}

}  // namespace
}  // namespace dissent
