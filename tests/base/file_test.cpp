#include "dissent/base/file.hpp"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <string>
#include <utility>

#include "dissent/base/error.hpp"
#include "support/full_disk.hpp"
#include "support/temp_dir.hpp"

namespace dissent {
namespace {

using ::testing::Test;
using Names = std::vector<std::string>;

bool contains(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

// Resident memory of files mapped by this process, in bytes.
std::size_t resident_file_bytes() {
  std::ifstream status("/proc/self/status");
  for (std::string word; status >> word;) {
    if (word == "RssFile:") {
      std::size_t kib = 0;
      status >> kib;
      return kib * 1024;
    }
  }
  return 0;
}

TEST(AtomicFile, AppearsWholeOnCommitAndNotBefore) {
  const TempDir dir;
  const std::string path = dir.file("out.bin");
  std::string expected;
  AtomicFile file(path);
  // Small pieces go through the buffer, large ones past it; their order must not change.
  for (const std::size_t size : {1U, 10U, 65535U, 65536U, 3U, 200000U, 0U, 70U}) {
    const std::string piece(size, static_cast<char>('a' + expected.size() % 26));
    file.write(piece);
    expected += piece;
    EXPECT_EQ(file.size(), expected.size());
  }
  EXPECT_FALSE(std::filesystem::exists(path));
  file.commit();
  EXPECT_EQ(read_bytes(path), expected);
  EXPECT_EQ(dir.list(), Names{"out.bin"});
}

TEST(AtomicFile, WithoutCommitLeavesEverythingAsItWas) {
  const TempDir dir;
  const std::string path = dir.write("old.txt", "old");
  {
    AtomicFile file(path);
    file.write(std::string(100000, 'x'));
    EXPECT_EQ(dir.list().size(), 2U);  // the temporary stands beside the target
    AtomicFile moved = std::move(file);
    moved.write("more");
  }
  EXPECT_EQ(dir.list(), Names{"old.txt"});
  EXPECT_EQ(read_bytes(path), "old");
}

TEST(AtomicFile, TemporariesOfADyingProcessCanBeRemoved) {
  const TempDir dir;
  const std::string path = dir.write("old.txt", "old");
  AtomicFile done(dir.file("done.txt"));
  done.commit();
  std::vector<AtomicFile> files;
  for (int k = 0; k < 3; ++k) {
    files.emplace_back(path);
  }
  EXPECT_EQ(dir.list().size(), 5U);
  remove_temporary_files();
  EXPECT_EQ(dir.list(), (Names{"done.txt", "old.txt"}));
  EXPECT_THROW(files[0].commit(), SystemError);
  EXPECT_EQ(read_bytes(path), "old");
  for (int k = 0; k < 1000; ++k) {  // places in the table come free again
    AtomicFile file(path);
  }
  const AtomicFile last(path);
  EXPECT_EQ(dir.list().size(), 3U);
  remove_temporary_files();
  EXPECT_EQ(dir.list().size(), 2U);
}

TEST(AtomicFile, ReplacesContentAndKeepsPermissionsAndLinks) {
  const TempDir dir;
  const std::string path = dir.write("real.txt", "old");
  ::chmod(path.c_str(), 0640);
  std::filesystem::create_symlink("real.txt", dir.file("link.txt"));
  AtomicFile file(dir.file("link.txt"));
  file.write("new");
  file.commit();
  EXPECT_EQ(read_bytes(path), "new");
  EXPECT_TRUE(std::filesystem::is_symlink(dir.file("link.txt")));
  struct stat info {};
  ASSERT_EQ(::stat(path.c_str(), &info), 0);
  EXPECT_EQ(info.st_mode & 0777, 0640U);
}

TEST(AtomicFile, TwoWritersOfOneTargetDoNotMix) {
  const TempDir dir;
  AtomicFile first(dir.file("out"));
  AtomicFile second(dir.file("out"));
  first.write("first");
  second.write("second");
  second.commit();
  first.commit();
  EXPECT_EQ(read_bytes(dir.file("out")), "first");
  EXPECT_EQ(dir.list(), Names{"out"});
}

TEST(AtomicFile, RefusesTargetsThatCannotBeFiles) {
  const TempDir dir;
  const std::string plain = dir.write("plain", "x");
  const auto refusal = [](const std::string& path) { return message_of<InputError>([&] { AtomicFile file(path); }); };
  EXPECT_TRUE(contains(refusal(dir.path()), dir.path() + ": cannot be written: is a directory"));
  EXPECT_TRUE(contains(refusal(dir.file("new/")), "names a directory"));
  const auto failure = [](const std::string& path) { return message_of<SystemError>([&] { AtomicFile file(path); }); };
  EXPECT_TRUE(contains(failure(dir.file("no/such/out.csv")), "directory '" + dir.file("no/such") + "'"));
  EXPECT_TRUE(contains(failure(plain + "/out.csv"), "'" + plain + "' is not a directory"));
  EXPECT_TRUE(contains(refusal(""), "file name is empty"));
  EXPECT_TRUE(contains(refusal(dir.file(std::string(300, 'n'))), "File name too long"));
  EXPECT_EQ(dir.list(), Names{"plain"});
}

TEST(AtomicFile, LongestPossibleNameWorks) {
  const TempDir dir;
  const std::string name(255, 'n');
  AtomicFile file(dir.file(name));
  file.write("x");
  file.commit();
  EXPECT_EQ(dir.list(), Names{name});
}

TEST(AtomicFile, FullDiskIsASystemErrorAndLeavesNothing) {
  const TempDir dir;
  const std::string path = dir.write("out.bin", "old");
  std::string at_write;
  std::string at_commit;
  std::string again;
  {
    const FullDisk disk(4096);
    at_write = message_of<SystemError>([&] {
      AtomicFile file(path);
      file.write(std::string(200000, 'x'));
    });
    at_commit = message_of<SystemError>([&] {
      AtomicFile file(path);
      file.write(std::string(5000, 'x'));  // still in the buffer
      file.commit();
    });
    AtomicFile file(path);
    EXPECT_THROW(file.write(std::string(200000, 'x')), SystemError);
    again = message_of<SystemError>([&] { file.commit(); });
  }
  EXPECT_EQ(at_write, path + ": write failed: File too large");
  EXPECT_EQ(at_commit, path + ": write failed: File too large");
  EXPECT_TRUE(contains(again, path + ": is closed"));
  EXPECT_EQ(dir.list(), Names{"out.bin"});
  EXPECT_EQ(read_bytes(path), "old");
}

TEST(AtomicFile, DevicesAreWrittenInPlace) {
  const std::string message = message_of<SystemError>([] {
    AtomicFile file("/dev/full");
    file.write("x");
    file.commit();
  });
  EXPECT_EQ(message, "/dev/full: write failed: No space left on device");
  AtomicFile null("/dev/null");
  null.write("x");
  null.commit();
  EXPECT_TRUE(std::filesystem::is_character_file("/dev/null"));
  EXPECT_TRUE(std::filesystem::is_character_file("/dev/full"));
}

TEST(MappedFile, SeesTheBytesAlsoAfterMovesAndReleases) {
  const TempDir dir;
  std::string content(100000, '\0');
  for (std::size_t k = 0; k < content.size(); ++k) {
    content[k] = static_cast<char>(k * 31 % 251);
  }
  MappedFile first(dir.write("a", content));
  MappedFile file(dir.write("b", "other"));
  file = std::move(first);
  MappedFile moved(std::move(file));
  const auto text = [&] {
    return std::string(reinterpret_cast<const char*>(moved.bytes().data()), moved.bytes().size());
  };
  EXPECT_EQ(text(), content);
  moved.release(0, 50001);
  moved.release(50001, content.size());
  moved.release(0, 1);
  moved.release(7, 7);
  EXPECT_EQ(text(), content);
  EXPECT_EQ(moved.path(), dir.file("a"));
  EXPECT_TRUE(MappedFile(dir.write("empty", "")).bytes().empty());
}

TEST(MappedFile, ReleaseKeepsResidentMemorySmall) {
  const TempDir dir;
  constexpr std::size_t kSize = std::size_t{1} << 26;
  std::filesystem::resize_file(dir.write("large", ""), kSize);
  const MappedFile file(dir.file("large"));
  const std::size_t before = resident_file_bytes();
  std::size_t most = 0;
  unsigned sum = 0;
  constexpr std::size_t kStep = (std::size_t{1} << 20) - 1000;  // not a whole number of pages
  for (std::size_t begin = 0; begin < kSize; begin += kStep) {
    const std::size_t end = std::min(kSize, begin + kStep);
    for (std::size_t k = begin; k < end; k += 512) {
      sum += static_cast<unsigned>(file.bytes()[k]);
    }
    most = std::max(most, resident_file_bytes());
    file.release(begin, end);
  }
  EXPECT_EQ(sum, 0U);
  EXPECT_GT(most, before);
  EXPECT_LT(most, before + (std::size_t{8} << 20));
  EXPECT_LT(resident_file_bytes(), before + (std::size_t{1} << 20));
}

TEST(MappedFile, RefusesWhatIsNotAReadableFile) {
  const TempDir dir;
  const auto refusal = [](const std::string& path) { return message_of<InputError>([&] { MappedFile file(path); }); };
  EXPECT_EQ(refusal(dir.file("none")), dir.file("none") + ": cannot be read: No such file or directory");
  EXPECT_TRUE(contains(refusal(dir.path()), "is a directory"));
  ASSERT_EQ(::mkfifo(dir.file("pipe").c_str(), 0600), 0);
  EXPECT_TRUE(contains(refusal(dir.file("pipe")), "is not a regular file"));
  EXPECT_TRUE(contains(refusal("/dev/null"), "is not a regular file"));
  if (::geteuid() != 0) {  // nothing is forbidden to root
    ::chmod(dir.write("secret", "x").c_str(), 0);
    EXPECT_TRUE(contains(refusal(dir.file("secret")), "Permission denied"));
  }
}

}  // namespace
}  // namespace dissent
