#include "dissent/array/safetensors.hpp"

#include <gtest/gtest.h>

#include <cstdint>

#include "dissent/base/error.hpp"
#include "support/temp_dir.hpp"

namespace dissent {
namespace {

std::string file_of(const std::string& header, std::size_t data_bytes) {
  std::string bytes;
  for (int k = 0; k < 8; ++k) {
    bytes += static_cast<char>(header.size() >> (8 * k));
  }
  return bytes + header + std::string(data_bytes, '\x01');
}

SafetensorsFile parse(const std::string& bytes) { return {std::as_bytes(std::span(bytes)), "test"}; }

TEST(Safetensors, RoundTrip) {
  const TempDir folder;
  const std::vector<float> a{1, 2, 3, 4, 5, 6};
  const std::vector<double> b{0.1};
  const std::vector<std::int64_t> none;
  write_safetensors(
      folder.file("a"),
      {{"a", ArrayView(std::span<const float>(a), {2, 3})}, {"b", ArrayView(b)}, {"none", ArrayView(none)}},
      {{"key", "value \"quoted\"\n"}});
  const SafetensorsFile file(folder.file("a"));
  EXPECT_EQ(file.names(), (std::vector<std::string>{"a", "b", "none"}));
  EXPECT_EQ(file.metadata().at("key"), "value \"quoted\"\n");
  EXPECT_EQ(file.load("a", DType::kFloat32, {2, 3}).to<float>(), a);
  EXPECT_EQ(file.load("b").to<double>(), b);
  EXPECT_EQ(file.load("none").size(), 0U);
  EXPECT_THROW(file.load("c"), InputError);
  EXPECT_THROW(file.load("a", DType::kFloat32, {3, 2}), InputError);
  EXPECT_THROW(file.load("a", DType::kFloat64, {2, 3}), InputError);
}

// Whatever is changed in the data or in a text of the header; where no array or entry is lost with it, the checksum is
// what notices.
TEST(Safetensors, ChangesOfWhatWasWrittenAreNoticed) {
  const TempDir folder;
  const std::vector<float> a{1, 2, 3};
  const std::vector<float> b{4, 5, 6};
  write_safetensors(folder.file("a"), {{"b", ArrayView(b)}, {"a", ArrayView(a)}}, {{"key", "value"}});
  const std::string whole = read_bytes(folder.file("a"));
  EXPECT_NO_THROW(parse(whole));
  const auto says = [&](std::string_view from, std::string_view to) {
    std::string text = whole;
    EXPECT_NE(text.find(from), std::string::npos);
    text.replace(text.find(from), from.size(), to);
    return message_of<InputError>([&] { parse(text); });
  };
  for (std::size_t at = whole.size() - 24; at < whole.size(); ++at) {
    std::string altered = whole;
    altered[at] = static_cast<char>(altered[at] ^ 64);
    EXPECT_NE(message_of<InputError>([&] { parse(altered); }).find("checksum"), std::string::npos) << at;
  }
  EXPECT_NE(says("\"key\"", "\"kex\"").find("checksum"), std::string::npos);
  EXPECT_NE(says("value", "valve").find("checksum"), std::string::npos);
  EXPECT_NE(says("\"a\":", "\"A\":").find("checksum"), std::string::npos);
  EXPECT_NE(says(R"("b":{"dtype":"F32")", R"("b":{"dtype":"I32")").find("checksum"), std::string::npos);
}

TEST(Safetensors, SpacesAndOrderDoNotMatterToTheChecksum) {
  const TempDir folder;
  const std::vector<float> a{1, 2, 3};
  const std::vector<float> b{4, 5};
  write_safetensors(folder.file("1"), {{"b", ArrayView(b)}, {"a", ArrayView(a)}}, {{"key", "value"}});
  write_safetensors(folder.file("2"), {{"a", ArrayView(a)}, {"b", ArrayView(b)}}, {{"key", "value"}});
  const auto checksum = [&](const char* name) {
    return SafetensorsFile(folder.file(name)).metadata().at("dissent.checksum");
  };
  EXPECT_EQ(checksum("1"), checksum("2"));
  std::string text = read_bytes(folder.file("1"));
  const std::size_t end = text.rfind('}');
  ASSERT_EQ(text[end + 1], ' ');
  std::swap(text[end], text[end + 1]);
  EXPECT_NO_THROW(parse(text));
}

TEST(Safetensors, UnalignedArraysAreCopied) {
  const std::string bytes = file_of(R"({"u":{"dtype":"U8","shape":[1],"data_offsets":[0,1]},)"
                                    R"("d":{"dtype":"F64","shape":[1],"data_offsets":[1,9]}})",
                                    9);
  const SafetensorsFile file = parse(bytes);
  EXPECT_EQ(file.load("u").to<double>(), std::vector<double>{1});
  EXPECT_EQ(file.load("d").values<double>().size(), 1U);
}

TEST(Safetensors, HostileFiles) {
  const std::string good = R"({"a":{"dtype":"F32","shape":[2],"data_offsets":[0,8]}})";
  EXPECT_NO_THROW(parse(file_of(good, 8)));
  const std::vector<std::string> bad{
      "",
      "1234567",
      std::string(8, '\xff'),
      file_of(good, 7),
      file_of(good, 9),
      file_of("", 0),
      file_of("[]", 0),
      file_of("{", 0),
      file_of(std::string(100'000, '['), 0),
      file_of(R"({"a":1})", 0),
      file_of(R"({"a":{"dtype":"F32","shape":[2]}})", 8),
      file_of(R"({"a":{"dtype":"F16","shape":[2],"data_offsets":[0,4]}})", 4),
      file_of(R"({"a":{"dtype":"F32","shape":[-2],"data_offsets":[0,8]}})", 8),
      file_of(R"({"a":{"dtype":"F32","shape":[2.0],"data_offsets":[0,8]}})", 8),
      file_of(R"({"a":{"dtype":"F32","shape":[2],"data_offsets":[8,0]}})", 8),
      file_of(R"({"a":{"dtype":"F32","shape":[2],"data_offsets":[0,18446744073709551615]}})", 8),
      file_of(R"({"a":{"dtype":"F32","shape":[4611686018427387904,4],"data_offsets":[0,0]}})", 0),
      file_of(
          R"({"a":{"dtype":"F32","shape":[2],"data_offsets":[0,8]},"b":{"dtype":"F32","shape":[1],"data_offsets":[4,8]}})",
          8),
      file_of(R"({"a":{"dtype":"F32","shape":[1],"data_offsets":[4,8]}})", 8),
      file_of(R"({"__metadata__":{"k":1}})", 0),
  };
  for (const std::string& bytes : bad) {
    EXPECT_THROW(parse(bytes), InputError) << bytes.substr(0, 100);
  }
}

}  // namespace
}  // namespace dissent
