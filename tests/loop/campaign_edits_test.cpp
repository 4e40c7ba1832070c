// Random edits of a campaign's directory: it is refused, with a message, or it goes on with the same numbers.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <array>
#include <cstdlib>

#include "dissent/base/random.hpp"
#include "loop/edited_campaign.hpp"

namespace dissent {
namespace {

constexpr std::size_t kNumEdits = DISSENT_RELEASE ? 10'000 : 1'000;

class Editor {
 public:
  Editor(const SmallCampaigns& campaigns, std::uint64_t number)
      : campaigns_(campaigns), stream_(number, Purpose::kTest) {
    for (const auto& [name, bytes] : campaigns.own()) {
      names_.push_back(name);
    }
  }

  // One to three edits, most often one; what was done, for messages.
  std::string edit() {
    constexpr std::array<std::size_t, 8> kCounts{1, 1, 1, 1, 1, 2, 2, 3};
    const std::size_t count = kCounts[stream_.below(kCounts.size())];
    std::string done;
    for (std::size_t k = 0; k < count; ++k) {
      done += (k > 0 ? ", then " : "") + edit_once();
    }
    return done;
  }

 private:
  std::string pick() { return names_[stream_.below(names_.size())]; }
  std::string path(const std::string& name) const { return campaigns_.file(name); }
  std::size_t place(const std::string& bytes) { return bytes.empty() ? 0 : stream_.below(bytes.size()); }

  void put(const std::string& name, const std::string& bytes) {
    std::filesystem::remove_all(path(name));
    std::ofstream(path(name), std::ios::binary) << bytes;
  }
  std::string bytes_of(const std::string& name) const {
    std::error_code none;
    return std::filesystem::is_regular_file(path(name), none) ? read_bytes(path(name)) : "";
  }

  std::string edit_once() {
    const std::string name = pick();
    switch (stream_.below(4)) {
      case 0:
        return edit_bytes(name);
      case 1:
        return edit_lines(name.ends_with(".csv") ? name : "pool.csv");
      case 2:
        return edit_files(name);
      default:
        return edit_kind(name);
    }
  }

  std::string edit_bytes(const std::string& name) {
    std::string bytes = bytes_of(name);
    const std::size_t at = place(bytes);
    const std::size_t length = std::min<std::size_t>(bytes.size() - at, 1 + stream_.below(40));
    const char any = static_cast<char>(stream_.below(256));
    switch (stream_.below(6)) {
      case 0:
        if (!bytes.empty()) {
          bytes[at] = static_cast<char>(bytes[at] ^ (1 << stream_.below(8)));
        }
        put(name, bytes);
        return fmt::format("a bit of {} at {}", name, at);
      case 1:
        put(name, bytes.substr(0, at));
        return fmt::format("{} cut at {}", name, at);
      case 2:
        put(name, bytes.erase(at, length));
        return fmt::format("{} bytes of {} lost at {}", length, name, at);
      case 3:
        put(name, bytes.insert(at, length, any));
        return fmt::format("{} bytes put into {} at {}", length, name, at);
      case 4:
        put(name, bytes.replace(at, length, length, any));
        return fmt::format("{} bytes of {} overwritten at {}", length, name, at);
      default:
        put(name, bytes + std::string(length, any));
        return fmt::format("{} bytes behind {}", length, name);
    }
  }

  std::string edit_lines(const std::string& name) {
    std::vector<std::string> lines;
    std::istringstream text(bytes_of(name));
    for (std::string line; std::getline(text, line);) {
      lines.push_back(line);
    }
    if (lines.empty()) {
      return "nothing";
    }
    const std::size_t at = stream_.below(lines.size());
    const std::size_t other = stream_.below(lines.size());
    std::string done;
    switch (stream_.below(4)) {
      case 0:
        std::swap(lines[at], lines[other]);
        done = fmt::format("lines {} and {} of {} swapped", at, other, name);
        break;
      case 1:
        lines.erase(lines.begin() + static_cast<std::ptrdiff_t>(at));
        done = fmt::format("line {} of {} lost", at, name);
        break;
      case 2:
        lines.insert(lines.begin() + static_cast<std::ptrdiff_t>(at), lines[other]);
        done = fmt::format("line {} of {} doubled", other, name);
        break;
      default:
        edit_cell(lines[at]);
        done = fmt::format("a cell of line {} of {} became '{}'", at, name, lines[at]);
    }
    std::string joined;
    for (const std::string& line : lines) {
      joined += line + "\n";
    }
    put(name, joined);
    return done;
  }

  void edit_cell(std::string& line) {
    const std::vector<std::string> values{"",   "0",   "1e3",   "-1", "nan", "inf", "text", "0.1000000000000001",
                                          "\"", "1;2", "1e400", " 1"};
    const std::size_t comma = line.find(',', place(line));
    const std::size_t begin = comma == std::string::npos ? 0 : comma + 1;
    const std::size_t end = std::min(line.find(',', begin), line.size());
    line.replace(begin, end - begin, values[stream_.below(values.size())]);
  }

  std::string edit_files(const std::string& name) {
    const std::string second = pick();
    const std::string bytes = bytes_of(name);
    switch (stream_.below(6)) {
      case 0:
        std::filesystem::remove_all(path(name));
        return name + " removed";
      case 1: {
        const std::string theirs = bytes_of(second);
        put(second, bytes);
        put(name, theirs);
        return fmt::format("{} and {} swapped", name, second);
      }
      case 2:
        put(second, bytes);
        return fmt::format("{} copied over {}", name, second);
      case 3:
        put(name, campaigns_.other().at(name));
        return name + " of another campaign";
      case 4:
        put(name, "");
        return name + " emptied";
      default: {
        const std::vector<std::string> extra{"aim.csv", "notes.txt", ".state.safetensors.1-2.tmp", ".notes.1-2.tmp"};
        put(extra[stream_.below(extra.size())], bytes);
        return name + " copied to a name of its own";
      }
    }
  }

  // Something else than a file of its own.
  std::string edit_kind(const std::string& name) {
    const std::string bytes = bytes_of(name);
    const std::string target = path(name);
    const std::uint64_t kind = stream_.below(8);
    if (kind == 0) {
      ::chmod(target.c_str(), stream_.below(2) == 0 ? 0 : 0400);
      return name + " with other rights";
    }
    std::filesystem::remove_all(target);
    switch (kind) {
      case 1:
        EXPECT_EQ(::mkfifo(target.c_str(), 0666), 0);
        return name + " is a pipe";
      case 2:
        std::filesystem::create_directory(target);
        return name + " is a directory";
      case 3:
        std::filesystem::create_symlink("/dev/zero", target);
        return name + " leads to a device";
      case 4:
        std::filesystem::create_symlink("nowhere", target);
        return name + " leads nowhere";
      case 5:
        std::filesystem::create_symlink(name, target);
        return name + " leads to itself";
      case 6:
        std::filesystem::create_symlink(campaigns_.other_file(name), target);
        return name + " leads to another campaign";
      default:
        put("elsewhere", bytes);
        std::filesystem::create_symlink("elsewhere", target);
        return name + " leads to its own content";
    }
  }

  const SmallCampaigns& campaigns_;
  Stream stream_;
  std::vector<std::string> names_;
};

// The state is saved at every step, so that nothing but a step may change it.
bool is_kept(const std::string& name) {
  return name != "lock" && name != "rounds.csv" && name != "chosen.csv" && name != "model.safetensors" &&
         name != ".state.safetensors.1-2.tmp";
}

TEST(CampaignEdits, AreRefusedOrChangeNothing) {
  if (std::filesystem::is_directory("/dev/shm")) {
    ::setenv("TMPDIR", "/dev/shm", 1);  // files in memory: each edit is some hundred small writes
  }
  const SmallCampaigns campaigns;
  ASSERT_FALSE(campaigns.whole().empty());
  std::size_t num_refused = 0;
  for (std::size_t number = 0; number < kNumEdits; ++number) {
    write_files(campaigns.path(), campaigns.own());
    const std::string done = Editor(campaigns, number).edit();
    const Files before = read_files(campaigns.path());
    const Opened opened = open_again(campaigns.path());
    if (opened.text.empty()) {
      ++num_refused;
      ASSERT_FALSE(opened.error.empty()) << number << ": " << done;
    } else {
      ASSERT_EQ(opened.text, campaigns.whole()) << number << ": " << done;
    }
    const Files after = read_files(campaigns.path());
    for (const auto& [name, bytes] : before) {
      ASSERT_TRUE(!is_kept(name) || (after.contains(name) && after.at(name) == bytes))
          << number << ": " << done << " changed " << name;
    }
    for (const auto& [name, bytes] : campaigns.other()) {
      ASSERT_EQ(read_bytes(campaigns.other_file(name)), bytes) << number << ": " << done;
    }
  }
  // Both happen often, or the edits say nothing.
  EXPECT_GT(num_refused, kNumEdits / 4);
  EXPECT_LT(num_refused, kNumEdits * 9 / 10);
}

}  // namespace
}  // namespace dissent
