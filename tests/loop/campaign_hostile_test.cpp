// Hostile campaign directories, one line each: what is done to which file, and what must be said. An empty answer means
// that the campaign goes on with the same numbers, to the bit.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <functional>

#include "loop/edited_campaign.hpp"
#include "support/without_checksum.hpp"

namespace dissent {
namespace {

constexpr const char* kGoesOn = "";
constexpr const char* kNone = "no campaign was begun here";
constexpr const char* kChanged = "was changed after the campaign was begun";
constexpr const char* kNotRegular = "is not a regular file";
constexpr const char* kLink = "is a symbolic link";
constexpr const char* kDamaged = "state.safetensors";  // in the words of that format
constexpr const char* kWithout = "is there, but the campaign was begun without it";

class Hostile : public testing::Test {
 protected:
  static void SetUpTestSuite() { campaigns_ = std::make_unique<SmallCampaigns>(); }
  static void TearDownTestSuite() { campaigns_.reset(); }

  void SetUp() override { write_files(campaigns_->path(), campaigns_->own()); }

  static std::string path(const std::string& name) { return campaigns_->file(name); }
  static void put(const std::string& name, const std::string& bytes) {
    std::filesystem::remove_all(path(name));
    std::ofstream(path(name), std::ios::binary) << bytes;
  }
  static std::string own(const std::string& name) { return campaigns_->own().at(name); }

  // `says` is in the answer, which names the file; or the numbers are the same.
  static void expect(const std::string& what, const std::string& file, const std::string& says) {
    const Opened opened = open_again(campaigns_->path());
    if (says.empty()) {
      EXPECT_EQ(opened.error, "") << what;
      EXPECT_EQ(opened.text, campaigns_->whole()) << what;
    } else {
      EXPECT_NE(opened.error.find(says), std::string::npos) << what << ": '" << opened.error << "'";
      EXPECT_TRUE(says == kNone || opened.error.find(file) != std::string::npos)
          << what << ": '" << opened.error << "'";
      EXPECT_EQ(opened.error.find('\n'), std::string::npos) << what;
    }
  }

  static std::unique_ptr<SmallCampaigns> campaigns_;
};
std::unique_ptr<SmallCampaigns> Hostile::campaigns_;

std::string replaced(std::string text, const std::string& from, const std::string& to) {
  for (std::size_t at = 0; (at = text.find(from, at)) != std::string::npos; at += to.size()) {
    text.replace(at, from.size(), to);
  }
  return text;
}

std::string as_utf16(const std::string& text) {
  std::string wide = "\xff\xfe";
  for (const char c : text) {
    wide += {c, '\0'};
  }
  return wide;
}

// What is done to the bytes of a file.
const std::map<std::string, std::function<std::string(const std::string&)>>& changes() {
  static const std::map<std::string, std::function<std::string(const std::string&)>> all{
      {"emptied", [](const std::string&) { return std::string(); }},
      {"cut in half", [](const std::string& b) { return b.substr(0, b.size() / 2); }},
      {"without its last byte", [](const std::string& b) { return b.substr(0, b.size() - 1); }},
      {"without its first byte", [](const std::string& b) { return b.substr(1); }},
      {"doubled", [](const std::string& b) { return b + b; }},
      {"with a line behind", [](const std::string& b) { return b + "\n"; }},
      {"of zeros", [](const std::string& b) { return std::string(b.size(), '\0'); }},
      {"of DOS lines", [](const std::string& b) { return replaced(b, "\n", "\r\n"); }},
      {"of semicolons", [](const std::string& b) { return replaced(b, ",", ";"); }},
      {"in UTF-16", [](const std::string& b) { return as_utf16(b); }},
      {"with a mark of UTF-8", [](const std::string& b) { return "\xef\xbb\xbf" + b; }},
      {"with one digit more", [](const std::string& b) { return replaced(b, "0.1,", "0.10000000000000001,"); }},
      {"with another note", [](const std::string& b) { return replaced(b, "site 2", "site 1"); }},
      {"a web page", [](const std::string&) { return std::string("<html>404</html>"); }},
      {"a huge promise", [](const std::string&) { return std::string(8, '\x7f'); }},
  };
  return all;
}

struct Case {
  const char* change;
  const char* file;
  const char* says;
};

TEST_F(Hostile, BytesOfAFile) {
  const std::vector<Case> cases{
      {"emptied", "state.safetensors", kDamaged},
      {"cut in half", "state.safetensors", kDamaged},
      {"without its last byte", "state.safetensors", kDamaged},
      {"without its first byte", "state.safetensors", kDamaged},
      {"doubled", "state.safetensors", kDamaged},
      {"with a line behind", "state.safetensors", kDamaged},
      {"of zeros", "state.safetensors", kDamaged},
      {"of semicolons", "state.safetensors", kDamaged},
      {"in UTF-16", "state.safetensors", kDamaged},
      {"with a mark of UTF-8", "state.safetensors", kDamaged},
      {"a web page", "state.safetensors", kDamaged},
      {"a huge promise", "state.safetensors", kDamaged},
      {"emptied", "model.safetensors", kGoesOn},
      {"cut in half", "model.safetensors", kGoesOn},
      {"without its last byte", "model.safetensors", kGoesOn},
      {"without its first byte", "model.safetensors", kGoesOn},
      {"doubled", "model.safetensors", kGoesOn},
      {"of zeros", "model.safetensors", kGoesOn},
      {"a web page", "model.safetensors", kGoesOn},
      {"a huge promise", "model.safetensors", kGoesOn},
      {"emptied", "rounds.csv", kGoesOn},
      {"of semicolons", "rounds.csv", kGoesOn},
      {"a web page", "rounds.csv", kGoesOn},
      {"emptied", "chosen.csv", kGoesOn},
      {"doubled", "chosen.csv", kGoesOn},
      {"of zeros", "chosen.csv", kGoesOn},
      {"a web page", "lock", kGoesOn},
      {"emptied", "labelled.csv", kChanged},
      {"cut in half", "labelled.csv", kChanged},
      {"without its last byte", "labelled.csv", kChanged},
      {"of DOS lines", "labelled.csv", kChanged},
      {"of semicolons", "labelled.csv", kChanged},
      {"in UTF-16", "labelled.csv", kChanged},
      {"with a mark of UTF-8", "labelled.csv", kChanged},
      {"with one digit more", "labelled.csv", kChanged},
      {"emptied", "pool.csv", kChanged},
      {"doubled", "pool.csv", kChanged},
      {"with a line behind", "pool.csv", kChanged},
      {"of DOS lines", "pool.csv", kChanged},
      {"with another note", "pool.csv", kChanged},
      {"of zeros", "pool.csv", kChanged},
      {"emptied", "test.csv", kChanged},
      {"without its last byte", "test.csv", kChanged},
      {"without its first byte", "test.csv", kChanged},
      {"a web page", "test.csv", kChanged},
  };
  for (const auto& [change, file, says] : cases) {
    SetUp();
    const std::string bytes = changes().at(change)(own(file));
    ASSERT_NE(bytes, own(file)) << file << " " << change;
    put(file, bytes);
    expect(fmt::format("{} {}", file, change), file, says);
  }
}

// What is put in the place of a file.
const std::map<std::string, std::function<void(const std::string& path, const std::string& theirs)>>& things() {
  static const std::map<std::string, std::function<void(const std::string&, const std::string&)>> all{
      {"nothing", [](const std::string&, const std::string&) {}},
      {"a pipe", [](const std::string& path, const std::string&) { ::mkfifo(path.c_str(), 0666); }},
      {"a directory", [](const std::string& path, const std::string&) { std::filesystem::create_directory(path); }},
      {"a link to a device",
       [](const std::string& path, const std::string&) { std::filesystem::create_symlink("/dev/zero", path); }},
      {"a link to nothing",
       [](const std::string& path, const std::string&) { std::filesystem::create_symlink("nothing", path); }},
      {"a link to itself",
       [](const std::string& path, const std::string&) { std::filesystem::create_symlink(path, path); }},
      {"a link to another campaign's",
       [](const std::string& path, const std::string& theirs) { std::filesystem::create_symlink(theirs, path); }},
      {"a hard link to another campaign's",
       [](const std::string& path, const std::string& theirs) { std::filesystem::create_hard_link(theirs, path); }},
      {"another campaign's",
       [](const std::string& path, const std::string& theirs) { std::filesystem::copy_file(theirs, path); }},
  };
  return all;
}

TEST_F(Hostile, ThingsInPlaceOfAFile) {
  const std::vector<Case> cases{
      {"nothing", "state.safetensors", kNone},
      {"a pipe", "state.safetensors", kNotRegular},
      {"a directory", "state.safetensors", kNotRegular},
      {"a link to a device", "state.safetensors", kLink},
      {"a link to nothing", "state.safetensors", kNone},
      {"a link to itself", "state.safetensors", kNone},
      {"a link to another campaign's", "state.safetensors", kLink},
      {"a hard link to another campaign's", "state.safetensors", kChanged},
      {"another campaign's", "state.safetensors", kChanged},
      {"nothing", "model.safetensors", kGoesOn},
      {"a pipe", "model.safetensors", kNotRegular},
      {"a directory", "model.safetensors", kNotRegular},
      {"a link to nothing", "model.safetensors", kLink},
      {"a link to another campaign's", "model.safetensors", kLink},
      {"a hard link to another campaign's", "model.safetensors", kGoesOn},
      {"another campaign's", "model.safetensors", kGoesOn},
      {"nothing", "rounds.csv", kGoesOn},
      {"a pipe", "rounds.csv", kNotRegular},
      {"a link to another campaign's", "rounds.csv", kLink},
      {"a hard link to another campaign's", "rounds.csv", kGoesOn},
      {"another campaign's", "rounds.csv", kGoesOn},
      {"nothing", "chosen.csv", kGoesOn},
      {"a pipe", "chosen.csv", kNotRegular},
      {"a link to a device", "chosen.csv", kLink},
      {"a link to another campaign's", "chosen.csv", kLink},
      {"a hard link to another campaign's", "chosen.csv", kGoesOn},
      {"nothing", "lock", kGoesOn},
      {"a pipe", "lock", kNotRegular},
      {"a directory", "lock", kNotRegular},
      {"a link to another campaign's", "lock", kNotRegular},
      {"nothing", "labelled.csv", "No such file"},
      {"a pipe", "labelled.csv", kNotRegular},
      {"a link to nothing", "labelled.csv", kLink},
      {"a link to another campaign's", "labelled.csv", kChanged},
      {"another campaign's", "labelled.csv", kChanged},
      {"nothing", "pool.csv", "No such file"},
      {"a directory", "pool.csv", kNotRegular},
      {"a link to a device", "pool.csv", kNotRegular},
      {"a link to itself", "pool.csv", kLink},
      {"another campaign's", "pool.csv", kChanged},
      {"nothing", "test.csv", "No such file"},
      {"a pipe", "test.csv", kNotRegular},
      {"another campaign's", "test.csv", kChanged},
      {"a pipe", "aim.csv", kNotRegular},
      {"a link to nothing", "aim.csv", kLink},
  };
  for (const auto& [thing, file, says] : cases) {
    SetUp();
    std::filesystem::remove_all(path(file));
    things().at(thing)(path(file), campaigns_->other_file(file));
    const bool is_other = std::string_view(says) == kChanged && std::string_view(file) == "state.safetensors";
    const bool is_lost = std::string_view(says).starts_with("but no campaign");
    expect(fmt::format("{} in place of {}", thing, file), is_other ? "labelled.csv" : is_lost ? "model" : file, says);
    for (const auto& [name, bytes] : campaigns_->other()) {
      EXPECT_EQ(read_bytes(campaigns_->other_file(name)), bytes) << thing << " " << file;
    }
  }
}

// Of a version that wrote no checksums: what contradicts itself is refused by what it says.
TEST_F(Hostile, StatesWithoutAChecksum) {
  struct Edit {
    const char* from;
    const char* to;
    const char* says;
  };
  const std::vector<Edit> edits{
      {"\"format\":\"dissent.campaign\"", "\"format\":\"dissent.campaigm\"", "is not the state of a campaign"},
      {"\"format_version\":\"2\"", "\"format_version\":\"5\"", "is of format version 5"},
      {"\"format_version\":\"2\"", "\"format_version\":\"1\"", kDamaged},
      {"\"command\":\"ask\"", "\"command\":\"as\"", "no usable 'command'"},
      {"\"targets\":\"1\"", "\"targets\":\"2\"", "chosen.targets"},
      {"\"targets\":\"1\"", "\"targets\":\"-1\"", "no usable 'targets'"},
      {"\"targets\":\"1\"", "\"targets\":\"\"", "no usable 'targets'"},
      {"\"data_fingerprint\":\"", "\"data_fingerprint\":\"x", "no usable 'data_fingerprint'"},
      {"\"data_fingerprint\":\"", "\"data_fingerprint\":\"1", "no usable 'data_fingerprint'"},
      {"\"model_fingerprint\":\"", "\"model_fingerprint\":\"-", "no usable 'model_fingerprint'"},
      {"\"settings.batch\":\"", "\"settings.batch\":\"-", "batch"},
      {"\"settings.epochs\":\"2\"", "\"settings.epochs\":\"0\"", "epochs = 0"},
      {"\"settings.model\":\"pne\"", "\"settings.model\":\"pen\"", "model"},
      {"\"settings.acquisition\":\"kl\"", "\"settings.acquisition\":\"lk\"", "lk"},
      {"\"settings.seed\":", "\"settings.sead\":", "a setting 'sead'"},
      {"\"chosen.row\"", "\"chosen.raw\"", "has no array 'chosen.row'"},
      {"\"rounds.rmse\"", "\"rounds.rnse\"", "has no array 'rounds.rmse'"},
      {"\"dtype\":\"F64\"", "\"dtype\":\"F32\"", kDamaged},
      {"\"dtype\":\"I64\"", "\"dtype\":\"F64\"", kDamaged},
      {"\"dtype\":\"I64\"", "\"dtype\":\"X64\"", "dtype 'X64' is not supported"},
      {"\"shape\":[5]", "\"shape\":[4]", kDamaged},
      {"\"shape\":[5]", "\"shape\":[-5]", "not a whole number"},
      {"\"data_offsets\":[0,", "\"data_offsets\":[8,", kDamaged},
      {"__metadata__", "__netadata__", kDamaged},
  };
  const std::string whole = without_checksum(own("state.safetensors"));
  std::uint64_t length = 0;
  std::memcpy(&length, whole.data(), sizeof(length));
  const std::string header = whole.substr(sizeof(length), length);
  const auto put_header = [&](const std::string& text) {
    SetUp();
    const std::uint64_t size = text.size();
    std::string bytes(sizeof(size), '\0');
    std::memcpy(bytes.data(), &size, sizeof(size));
    put("state.safetensors", bytes + text + whole.substr(sizeof(length) + length));
  };
  put_header(header);
  expect("as it was written", "", kGoesOn);
  for (const auto& [from, to, says] : edits) {
    ASSERT_NE(header.find(from), std::string::npos) << from;
    put_header(std::string(header).replace(header.find(from), std::strlen(from), to));
    expect(fmt::format("{} for {}", to, from), "state.safetensors", says);
  }
}

struct DirectoryCase {
  const char* what;
  std::function<void(const SmallCampaigns&)> make;
  std::function<std::string(const SmallCampaigns&)> path;
  const char* says;
};

TEST_F(Hostile, Directories) {
  namespace fs = std::filesystem;
  const auto nothing = [](const SmallCampaigns&) {};
  const auto own_path = [](const SmallCampaigns& c) { return c.path(); };
  const auto moved = [](const char* name) {
    return [name](const SmallCampaigns& c) {
      fs::remove_all(c.parent() + "/" + name);
      fs::rename(c.path(), c.parent() + "/" + name);
    };
  };
  const auto below = [](const char* name) {
    return [name](const SmallCampaigns& c) { return c.parent() + "/" + name; };
  };
  const auto put_here = [](const char* name) {
    return [name](const SmallCampaigns& c) { std::ofstream(c.file(name)) << "mine"; };
  };
  const std::vector<DirectoryCase> cases{
      {"a slash behind", nothing, [](const auto& c) { return c.path() + "/"; }, kGoesOn},
      {"a way around", nothing, [](const auto& c) { return c.path() + "/../copy/."; }, kGoesOn},
      {"no name", nothing, [](const auto&) { return std::string(); }, "has no name"},
      {"a name with spaces", moved("a b"), below("a b"), kGoesOn},
      {"a name with a line", moved("a\nb"), below("a\nb"), kGoesOn},
      {"a name of letters not ASCII", moved("Grüße"), below("Grüße"), kGoesOn},
      {"a name like an option", moved("--help"), below("--help"), kGoesOn},
      {"a file", nothing, [](const auto& c) { return c.file("pool.csv"); }, "it is a file"},
      {"below a file", nothing, [](const auto& c) { return c.file("pool.csv/x"); }, "no campaign was begun here"},
      {"a pipe", [](const auto& c) { ::mkfifo((c.parent() + "/pipe").c_str(), 0666); }, below("pipe"), "it is a file"},
      {"an empty directory", [](const auto& c) { fs::create_directory(c.parent() + "/empty"); }, below("empty"),
       "no campaign was begun here"},
      {"nothing", nothing, below("absent"), "no campaign was begun here"},
      {"a link to it", [](const auto& c) { fs::create_symlink("copy", c.parent() + "/link"); }, below("link"), kGoesOn},
      {"a link to nothing", [](const auto& c) { fs::create_symlink("gone", c.parent() + "/broken"); }, below("broken"),
       "no campaign was begun here"},
      {"a name too long", nothing, [](const auto& c) { return c.parent() + "/" + std::string(5000, 'x'); },
       "no campaign was begun here"},
      {"a table that was not there", put_here("aim.csv"), own_path, kWithout},
      {"notes beside it", put_here("notes.txt"), own_path, kGoesOn},
      {"a half-written file of a kill", put_here(".state.safetensors.1-2.tmp"), own_path, kGoesOn},
      {"a hidden file of somebody", put_here(".notes.12-3.tmp"), own_path, kGoesOn},
      {"a backup of the state", put_here("state.safetensors~"), own_path, kGoesOn},
      {"a directory within", [](const auto& c) { fs::create_directory(c.file("inner")); }, own_path, kGoesOn},
  };
  for (const DirectoryCase& c : cases) {
    SetUp();
    c.make(*campaigns_);
    const Opened opened = open_again(c.path(*campaigns_));
    EXPECT_EQ(opened.text, std::string_view(c.says).empty() ? campaigns_->whole() : "") << c.what << opened.error;
    EXPECT_NE(opened.error.find(c.says), std::string::npos) << c.what << ": '" << opened.error << "'";
  }
  EXPECT_FALSE(std::filesystem::exists(campaigns_->parent() + "/absent"));
}

TEST_F(Hostile, HeldByAnother) {
  const int directory = ::open(campaigns_->path().c_str(), O_RDONLY | O_DIRECTORY);
  ASSERT_EQ(::flock(directory, LOCK_EX | LOCK_NB), 0);
  expect("a locked directory", "copy", "another process is at work on this campaign");
  ::close(directory);
  const int lock = ::open(path("lock").c_str(), O_RDWR);
  ASSERT_EQ(::flock(lock, LOCK_EX | LOCK_NB), 0);
  expect("a locked file", "copy", "another process is at work on this campaign");
  ::close(lock);
  expect("let go", "", kGoesOn);
}

}  // namespace
}  // namespace dissent
