#include "dissent/loop/campaign_directory.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <functional>
#include <limits>
#include <optional>
#include <span>

#include "dissent/table/csv.hpp"
#include "loop/loop_fixture.hpp"
#include "support/full_disk.hpp"
#include "support/temp_dir.hpp"
#include "support/without_checksum.hpp"

namespace dissent {
namespace {

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

CampaignSettings other_settings() {
  CampaignSettings settings;
  settings.batch = 3;
  settings.candidates = All();
  settings.acquisition = Acquisition::parse("mc:50");
  settings.fit.ensemble.keep_probability = 1;
  settings.fit.ensemble.weights = {0.1, 1.0 / 3, 0.3, 0.2, 0.1};
  settings.fit.train.weight_decay = 0.25;
  return settings;
}

Campaign example() {
  Campaign campaign = begin_campaign(small_problem(), other_settings(), Driver::kAsk);
  campaign.chosen = {{7, 1, 0.1, 1.0 / 3, -0.2, {1e-300, -0.0}}, {2, 1, INFINITY, 0.1, 0.2, {}}};
  campaign.rounds = {{1, 12, 0.1, kNan, -7.25, 0.3, 1.5, 0.25}};
  campaign.fitted = RoundRecord{2, 13, 0.5, 0.25, kNan, 0, 2, 0};
  campaign.model_fingerprint = 0xfedcba9876543210;
  return campaign;
}

CampaignDirectory held(const std::string& path) {
  CampaignDirectory directory(path);
  directory.hold();
  return directory;
}

// Another writer of safetensors may put arrays anywhere; they are copied then, and the copy must live while it is read.
TEST(CampaignDirectory, AStateWithUnalignedArraysIsRead) {
  const TempDir dir;
  save_campaign(dir.file("a"), example());
  std::string bytes = read_bytes(dir.file("a"));
  std::uint64_t header = 0;
  std::memcpy(&header, bytes.data(), sizeof(header));
  bytes.insert(sizeof(header) + header, " ");
  ++header;
  std::memcpy(bytes.data(), &header, sizeof(header));
  const Campaign read = parse_campaign(std::as_bytes(std::span(bytes)), "unaligned");
  ASSERT_EQ(read.chosen.size(), 2U);
  EXPECT_EQ(read.chosen[0].row, 7U);
  EXPECT_EQ(read.chosen[0].targets, example().chosen[0].targets);
  EXPECT_TRUE(read.chosen[1].targets.empty());
}

TEST(CampaignDirectory, TheStateReadsBackToTheSameBytes) {
  const TempDir dir;
  save_campaign(dir.file("a"), example());
  const Campaign read = load_campaign(dir.file("a"));
  EXPECT_EQ(read.driver, Driver::kAsk);
  EXPECT_EQ(get_fields(read.settings), get_fields(example().settings));
  EXPECT_EQ(read.settings.fit.ensemble.weights[1], 1.0 / 3);
  EXPECT_EQ(read.chosen[0].targets, (std::vector<double>{1e-300, -0.0}));
  EXPECT_TRUE(read.chosen[1].targets.empty());
  EXPECT_EQ(read.chosen[1].score, INFINITY);
  EXPECT_EQ(read.rounds[0].round, 1U);
  EXPECT_TRUE(std::isnan(read.rounds[0].rmse_paper));
  EXPECT_EQ(read.fitted->labelled, 13U);
  EXPECT_EQ(read.model_fingerprint, 0xfedcba9876543210);
  save_campaign(dir.file("b"), read);
  EXPECT_EQ(read_bytes(dir.file("a")), read_bytes(dir.file("b")));
  save_campaign(dir.file("c"), begin_campaign(small_problem(), {}));
  EXPECT_FALSE(load_campaign(dir.file("c")).fitted.has_value());
  EXPECT_TRUE(load_campaign(dir.file("c")).rounds.empty());
}

// A preset is its name alone: what it stood for when the campaign was begun is there, and what was added to it later is
// at the default, which means what was done then.
TEST(CampaignDirectory, ASettingAddedLaterDoesNotComeWithThePreset) {
  const TempDir dir;
  CampaignSettings settings = campaign_preset("paper");
  settings.fit.train.validation = 0.1;
  save_campaign(dir.file("state"), begin_campaign(small_problem(), settings));
  std::string text = without_checksum(read_bytes(dir.file("state")));
  const std::string later = R"("settings.ranking":"value",)";
  ASSERT_NE(text.find(later), std::string::npos);
  text.replace(text.find(later), later.size(), std::string(later.size(), ' '));
  const CampaignSettings read = load_campaign(dir.write("old", text)).settings;
  EXPECT_EQ(read.fit.preset, "paper");
  EXPECT_EQ(read.ranking, Ranking::kDeficit);
  EXPECT_EQ(read.fit.train.validation, 0.1);
  EXPECT_EQ(read.fit.ensemble.flow_hidden, std::vector<std::size_t>{20});
  EXPECT_EQ(read.candidates, Candidates(PaperNumber()));
}

TEST(CampaignDirectory, DamagedStatesAreErrors) {
  const TempDir dir;
  save_campaign(dir.file("state"), example());
  const std::string whole = without_checksum(read_bytes(dir.file("state")));
  const auto refused = [&](const std::string& content) {
    return message_of<InputError>([&] { load_campaign(dir.write("bad", content)); });
  };
  for (std::size_t length = 0; length < whole.size(); length += 37) {
    EXPECT_NE(refused(whole.substr(0, length)).find(dir.file("bad")), std::string::npos);
  }
  const auto replaced = [&](const std::string& from, const std::string& to) {
    std::string text = whole;
    const std::size_t at = text.find(from);
    EXPECT_NE(at, std::string::npos) << from;
    return text.replace(at, from.size(), to);
  };
  EXPECT_NE(refused(replaced("dissent.campaign", "another.campaign")).find("is not the state"), std::string::npos);
  EXPECT_NE(refused(replaced("\"format_version\":\"2\"", "\"format_version\":\"9\"")).find("version 9"),
            std::string::npos);
  EXPECT_NE(refused(replaced("fedcba98", "fedcbag8")).find("model_fingerprint"), std::string::npos);
  EXPECT_NE(refused(replaced("\"targets\":\"2\"", "\"targets\":\"3\"")).find("chosen.targets"), std::string::npos);
  EXPECT_NE(refused(replaced("chosen.score", "chosen.scare")).find("chosen.score"), std::string::npos);
  EXPECT_NE(refused(replaced("\"command\":\"ask\"", "\"command\":\"asq\"")).find("command"), std::string::npos);
  EXPECT_NE(refused(replaced("settings.epochs", "settings.epachs")).find("a setting 'epachs'"), std::string::npos);
  EXPECT_NE(refused(replaced("\"settings.batch\":\"3\"", "\"settings.batch\":\"0\"")).find("batch = 0; it must be"),
            std::string::npos);
}

TEST(CampaignDirectory, HasOneUserAtATime) {
  const TempDir dir;
  const std::string path = dir.file("new/campaign");
  {
    const CampaignDirectory first = held(path);
    EXPECT_NE(message_of<InputError>([&] { held(path); }).find("this process has the campaign open already"),
              std::string::npos);
  }
  const CampaignDirectory third = held(path);
  EXPECT_FALSE(third.begun());
}

TEST(CampaignDirectory, RemovesWhatAKillLeft) {
  const TempDir dir;
  for (const std::string& path : CampaignDirectory::files("")) {
    if (path != "/lock") {  // which is written by nobody
      dir.write(fmt::format(".{}.123-0.tmp", path.substr(1)), "half");
    }
  }
  dir.write(".notes.tmp", "mine");
  const CampaignDirectory directory = held(dir.path());
  EXPECT_EQ(dir.list(), (std::vector<std::string>{".notes.tmp", "lock"}));
}

TEST(CampaignDirectory, LeavesFilesOfOthersThatAreCalledAlike) {
  const TempDir dir;
  std::vector<std::string> names{".1-2.tmp",
                                 ".lock.1-2.tmp",
                                 ".notes.12-3.tmp",
                                 ".state.safetensors-1-2.tmp",
                                 ".state.safetensors.-.tmp",
                                 ".state.safetensors.1-.tmp",
                                 ".state.safetensors.1-2-3.tmp",
                                 ".state.safetensors.12.tmp",
                                 ".state.safetensors.old.1-2.tmp",
                                 ".state.safetensors.tmp",
                                 ".state.safetensors.x1-2.tmp",
                                 "state.safetensors.1-2.tmp"};
  for (const std::string& name : names) {
    dir.write(name, "mine");
  }
  std::filesystem::create_directory(dir.file(".pool.csv.1-2.tmp"));
  names.insert(names.end(), {".pool.csv.1-2.tmp", "lock"});
  std::ranges::sort(names);
  const CampaignDirectory directory = held(dir.path());
  EXPECT_EQ(dir.list(), names);
}

// Everything that is written, by what the messages of its refusal must say.
void expect_nothing_is_written(CampaignDirectory& directory, const std::string& says) {
  const Problem data = small_problem();
  CampaignTables tables;
  tables.labelled = tables.pool = parse_csv("a\n1\n", "table");
  const auto refused = [&](const std::function<void()>& write) {
    EXPECT_NE(message_of<SystemError>(write).find(says), std::string::npos) << message_of<SystemError>(write);
  };
  refused([&] { directory.save(example()); });
  refused([&] { directory.write_tables(example(), data); });
  refused([&] { directory.save_data(tables); });
}

TEST(CampaignDirectory, ARenamedDirectoryIsNotWrittenAgain) {
  const TempDir dir;
  CampaignDirectory directory = held(dir.file("a"));
  directory.save(example());
  std::filesystem::rename(dir.file("a"), dir.file("b"));
  expect_nothing_is_written(directory, "was moved, removed or replaced");
  // Another campaign of that name is another's.
  CampaignDirectory other = held(dir.file("a"));
  other.save(begin_campaign(small_problem(), {}));
  const std::string bytes = read_bytes(other.file("state.safetensors"));
  expect_nothing_is_written(directory, "was moved, removed or replaced");
  EXPECT_EQ(read_bytes(other.file("state.safetensors")), bytes);
  EXPECT_EQ(load_campaign(dir.file("b/state.safetensors")).rounds.size(), 1U);
  // It is held where it is now, and free once it is let go.
  EXPECT_NE(message_of<InputError>([&] { held(dir.file("b")); }).find("this process has the campaign open already"),
            std::string::npos);
}

TEST(CampaignDirectory, ARemovedDirectoryIsNotMadeAgain) {
  const TempDir dir;
  CampaignDirectory directory = held(dir.file("a"));
  std::filesystem::remove_all(dir.file("a"));
  expect_nothing_is_written(directory, "was moved, removed or replaced");
  EXPECT_TRUE(dir.list().empty());
}

// A child inherits the locks. It must neither write nor keep others out.
TEST(CampaignDirectory, AForkedChildDoesNotHoldIt) {
  const TempDir dir;
  std::array<int, 2> to_parent{};
  std::array<int, 2> to_child{};
  ASSERT_EQ(::pipe(to_parent.data()) + ::pipe(to_child.data()), 0);
  std::optional<CampaignDirectory> parent(held(dir.path()));
  parent->save(example());
  const pid_t child = ::fork();
  char byte = 'x';
  if (child == 0) {
    ::close(to_child[1]);
    try {
      parent->save(example());
    } catch (const std::exception& error) {
      byte = std::string(error.what()).find("forked from") == std::string::npos ? 'n' : 'y';
    }
    ::_exit(::write(to_parent[1], &byte, 1) == 1 && ::read(to_child[0], &byte, 1) == 0 ? 0 : 1);  // lives on until then
  }
  EXPECT_EQ(::read(to_parent[0], &byte, 1), 1);
  EXPECT_EQ(byte, 'y');
  parent.reset();
  EXPECT_TRUE(held(dir.path()).begun());
  for (const int descriptor : {to_parent[0], to_parent[1], to_child[0], to_child[1]}) {
    ::close(descriptor);
  }
  int status = 1;
  EXPECT_EQ(::waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
}

TEST(CampaignDirectory, ARemovedLockAdmitsNobodyAndStopsItsOwner) {
  const TempDir dir;
  CampaignDirectory directory = held(dir.path());
  directory.save(example());
  const std::string bytes = read_bytes(directory.file("state.safetensors"));
  std::filesystem::remove(directory.file("lock"));
  EXPECT_NE(message_of<InputError>([&] { held(dir.path()); }).find("this process has the campaign open already"),
            std::string::npos);
  expect_nothing_is_written(directory, "lock: was removed or replaced");
  dir.write("lock", "");
  EXPECT_NE(message_of<InputError>([&] { held(dir.path()); }).find("this process has the campaign open already"),
            std::string::npos);
  expect_nothing_is_written(directory, "lock: was removed or replaced");
  EXPECT_EQ(read_bytes(directory.file("state.safetensors")), bytes);
}

// Where a file system locks no directories, and for earlier versions, the file in it says it alone.
TEST(CampaignDirectory, TheLockOfAnEarlierVersionCounts) {
  const TempDir dir;
  const int lock = ::open(dir.file("lock").c_str(), O_RDWR | O_CREAT, 0666);
  ASSERT_EQ(::flock(lock, LOCK_EX | LOCK_NB), 0);
  EXPECT_NE(message_of<InputError>([&] { held(dir.path()); }).find("another process is at work"), std::string::npos);
  ::close(lock);
  held(dir.path());
}

TEST(CampaignDirectory, IsOfRegularFilesAlone) {
  for (const std::string& own : CampaignDirectory::files("")) {
    const TempDir dir;
    const std::string path = dir.path() + own;
    const auto refused = [&](const std::string& says) {
      const std::string message = message_of<InputError>([&] { held(dir.path()); });
      EXPECT_NE(message.find(path + ": " + says), std::string::npos) << message;
      std::filesystem::remove_all(path);
    };
    ASSERT_EQ(::mkfifo(path.c_str(), 0666), 0);
    refused("is not a regular file");
    std::filesystem::create_directory(path);
    refused("is not a regular file");
    std::filesystem::create_symlink("/dev/null", path);
    refused("is ");
    if (own != "/lock") {
      std::filesystem::create_symlink("nowhere", path);
      refused("is a symbolic link");
    }
  }
}

// By links two campaigns would write the same files, each with a lock of its own. Of copies, which are only read, there
// may be one elsewhere.
TEST(CampaignDirectory, WritesThroughNoLink) {
  const TempDir dir;
  for (const char* name : {"state.safetensors", "model.safetensors", "rounds.csv", "chosen.csv"}) {
    std::filesystem::create_directory(dir.file("a"));
    std::filesystem::create_symlink(dir.write("precious", "mine"), dir.file(fmt::format("a/{}", name)));
    const std::string message = message_of<InputError>([&] { held(dir.file("a")); });
    EXPECT_NE(message.find(fmt::format("a/{}: is a symbolic link", name)), std::string::npos) << message;
    EXPECT_EQ(read_bytes(dir.file("precious")), "mine");
    std::filesystem::remove_all(dir.file("a"));
  }
  std::filesystem::create_directory(dir.file("a"));
  std::filesystem::create_symlink(dir.write("pool", "mine"), dir.file("a/pool.csv"));
  EXPECT_NO_THROW(held(dir.file("a")));
}

// The state is what was saved, to the last bit, or it is refused.
TEST(CampaignDirectory, AnAlteredStateIsNoticed) {
  const TempDir dir;
  save_campaign(dir.file("state"), example());
  const std::string whole = read_bytes(dir.file("state"));
  std::uint64_t header = 0;
  std::memcpy(&header, whole.data(), sizeof(header));
  for (std::size_t at = sizeof(header) + header; at < whole.size(); ++at) {
    std::string altered = whole;
    altered[at] = static_cast<char>(altered[at] ^ 1);
    EXPECT_NE(
        message_of<InputError>([&] { parse_campaign(std::as_bytes(std::span(altered)), "altered"); }).find("checksum"),
        std::string::npos)
        << at;
  }
}

TEST(CampaignDirectory, DoesNotReplaceFilesOfOthers) {
  const TempDir dir;
  dir.write("rounds.csv", "precious");
  CampaignDirectory directory(dir.path());
  EXPECT_FALSE(directory.begun());  // and nobody who only reads is told of replacing it
  EXPECT_NE(message_of<InputError>([&] { directory.hold(); }).find("has a file rounds.csv"), std::string::npos);
}

TEST(CampaignDirectory, MustBeADirectory) {
  const TempDir dir;
  const std::string file = dir.write("file", "x");
  EXPECT_NE(message_of<InputError>([&] { held(file); }).find(file), std::string::npos);
  EXPECT_NE(message_of<SystemError>([&] { held(file + "/below"); }).find(file), std::string::npos);
}

TEST(CampaignDirectory, AFullDiskLeavesTheOldState) {
  const TempDir dir;
  CampaignDirectory directory = held(dir.path());
  directory.save(example());
  const std::string before = read_bytes(directory.file("state.safetensors"));
  Campaign more = example();
  more.chosen.resize(500, more.chosen.back());
  {
    const FullDisk full(1000);
    EXPECT_NE(message_of<SystemError>([&] { directory.save(more); }).find("state.safetensors"), std::string::npos);
  }
  EXPECT_EQ(read_bytes(directory.file("state.safetensors")), before);
  EXPECT_EQ(dir.list(), (std::vector<std::string>{"lock", "state.safetensors"}));
}

TEST(CampaignDirectory, TablesRepeatTheState) {
  const TempDir dir;
  CampaignDirectory directory = held(dir.path());
  const Problem data = small_problem();
  directory.write_tables(example(), data);
  const Table rounds = read_csv(directory.file("rounds.csv"));
  EXPECT_EQ(rounds.num_rows, 1U);
  EXPECT_EQ(rounds.column("labelled").values, std::vector<double>{12});
  EXPECT_EQ(rounds.column("rmse_paper").missing_rows, std::vector<std::size_t>{0});
  EXPECT_EQ(rounds.column("score_seconds").values, std::vector<double>{0.25});
  const Table chosen = read_csv(directory.file("chosen.csv"));
  EXPECT_EQ(chosen.column("row").values, (std::vector<double>{7, 2}));
  EXPECT_EQ(chosen.column("x1").values[0], data.pool.inputs[15]);
  EXPECT_EQ(chosen.column("y0").values[0], 1e-300);
  EXPECT_EQ(chosen.column("y0").missing_rows, std::vector<std::size_t>{1});
}

TEST(CampaignDirectory, KnowsItsModel) {
  const TempDir dir;
  CampaignDirectory directory = held(dir.path());
  const Problem data = small_problem();
  Campaign campaign = begin_campaign(data, quick_settings());
  const FittedRound fitted = fit_round(campaign, data);
  take_model(campaign, fitted);
  const std::uint64_t fingerprint = campaign.model_fingerprint;
  EXPECT_FALSE(directory.load_model(fingerprint).has_value());
  directory.save_model(fitted.model);
  ASSERT_TRUE(directory.load_model(fingerprint).has_value());
  EXPECT_FALSE(directory.load_model(fingerprint + 1).has_value());
  std::ofstream(directory.file("model.safetensors")) << "damaged";
  EXPECT_FALSE(directory.load_model(fingerprint).has_value());
}

TEST(CampaignDirectory, TouchesNothingBeforeItIsHeld) {
  const TempDir dir;
  const CampaignDirectory directory(dir.file("new"));
  EXPECT_FALSE(directory.begun());
  EXPECT_TRUE(dir.list().empty());
}

TEST(OpenCampaign, BeginsOnceAndGoesOnWithTheSame) {
  const TempDir dir;
  const Problem data = small_problem();
  CampaignSettings settings = quick_settings();
  const auto refused = [&] {
    return message_of<InputError>([&] {
      CampaignDirectory directory(dir.file("c"));
      open_campaign(directory, data, settings);
    });
  };
  settings.batch = 61;
  EXPECT_EQ(refused(), "batch = 61; more rows than the pool has, which are 60");
  EXPECT_TRUE(dir.list().empty());  // nothing is begun by mistake
  settings.batch = 4;
  for (int time = 0; time < 2; ++time) {
    CampaignDirectory directory(dir.file("c"));
    EXPECT_EQ(open_campaign(directory, data, settings).num_targets, 2U);
    EXPECT_TRUE(directory.begun());
  }
  settings.batch = 5;
  EXPECT_NE(refused().find("begun with batch = 4 and cannot go on with batch = 5"), std::string::npos);
  settings.batch = 4;
  {
    CampaignDirectory directory = held(dir.file("c"));
    directory.save(begin_campaign(data, settings, Driver::kAsk));
  }
  EXPECT_EQ(refused(), dir.file("c") + ": the campaign was begun by ask; go on with ask and tell");
}

// What is not said stays as the campaign has it, and what is said is compared.
TEST(CampaignDirectory, SettingsThatAreNotGivenAreTheCampaigns) {
  const TempDir dir;
  CampaignDirectory directory = held(dir.file("c"));
  EXPECT_EQ(settings_for(directory, {{"batch", std::uint64_t{5}}}).batch, 5U);
  directory.save(begin_campaign(small_problem(), other_settings()));
  EXPECT_EQ(first_difference(settings_for(directory, {{"candidates", "all"}}), other_settings()), nullptr);
  EXPECT_EQ(first_difference(settings_for(directory, {{"batch", std::uint64_t{5}}}), other_settings())->name, "batch");
  EXPECT_NE(message_of<InputError>([&] {
              settings_for(directory, {{"model", "pne"}, {"bins", std::uint64_t{5}}});
            }).find("bins = 5; model pne has no flow"),
            std::string::npos);
}

}  // namespace
}  // namespace dissent
