#include "dissent/base/file_kind.hpp"

#include <gtest/gtest.h>

#include <array>
#include <string>
#include <utility>

#include "support/temp_dir.hpp"

namespace dissent {
namespace {

using namespace std::string_literals;

TEST(FileKind, IsToldByTheFirstBytes) {
  const TempDir directory;
  const std::pair<std::string, FileKind> cases[] = {
      {""s, FileKind::kEmpty},
      {"a,b\n1,2\n"s, FileKind::kText},
      {"\xef\xbb\xbfgr\xc3\xb6\xc3\x9f"s + "e\r\n1\r\n", FileKind::kText},
      {"\x1f\x8b\x08"s, FileKind::kGzip},
      {"SQLite format 3\0 and more"s, FileKind::kSqlite},
      {"SQLite format 3, a note"s, FileKind::kText},
      {"\x10\0\0\0\0\0\0\0{\"a\":1}"s, FileKind::kSafetensors},
      {"\x1f\x8b\0\0\0\0\0\0{\"a\":1}"s, FileKind::kSafetensors},  // a length that begins as gzip does
      {"\x10\0\0\0\0\0\0\0"s, FileKind::kUnknown},
      {"a\0b"s, FileKind::kUnknown},
      {"\x89PNG\r\n\x1a\n"s, FileKind::kOther},
  };
  for (const auto& [content, kind] : cases) {
    const FileLook look = look_at_file(directory.write("x.csv", content));
    EXPECT_EQ(look.kind, kind) << look.name;
    EXPECT_FALSE(look.name.empty());
  }
  EXPECT_EQ(look_at_file(directory.write("x.csv", "\x89PNG\r\n")).name, "a PNG picture");
}

TEST(FileKind, OfWhatIsNoFile) {
  const TempDir directory;
  EXPECT_EQ(look_at_file(directory.file("none")).kind, FileKind::kMissing);
  EXPECT_EQ(look_at_file(directory.file("none")).name, "");
  EXPECT_EQ(look_at_file("").kind, FileKind::kMissing);
  EXPECT_EQ(look_at_file(directory.path()).kind, FileKind::kFolder);
  EXPECT_EQ(look_at_file("/dev/null").kind, FileKind::kOther);
}

}  // namespace
}  // namespace dissent
