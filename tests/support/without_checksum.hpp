// A safetensors file as versions up to 0.4 wrote it, without a checksum: so that other rules are met.
#pragma once

#include <gtest/gtest.h>

#include <string>

namespace dissent {

inline std::string without_checksum(std::string file) {
  const std::string key = R"("dissent.checksum":")";
  const std::size_t at = file.find(key);
  EXPECT_NE(at, std::string::npos);
  return file.replace(at, key.size() + 18, std::string(key.size() + 18, ' '));  // 16 digits, a quote and a comma
}

}  // namespace dissent
