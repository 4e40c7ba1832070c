#include "dissent/loop/campaign_directory.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <limits>
#include <span>

#include "dissent/table/csv.hpp"
#include "loop/loop_fixture.hpp"
#include "support/full_disk.hpp"
#include "support/temp_dir.hpp"

namespace dissent {
namespace {

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

Campaign example() {
  Campaign campaign = begin_campaign(small_problem(), {{"--batch", "3"}, {"--no-masks", ""}, {"-x", "a,\"b\" \n"}});
  campaign.chosen = {{7, 1, 0.1, 1.0 / 3, -0.2, {1e-300, -0.0}}, {2, 1, INFINITY, 0.1, 0.2, {}}};
  campaign.rounds = {{1, {12, 0.1, kNan, -7.25, 1.5, 0}, 0.3, 0.25}};
  campaign.fitted = FitRecord{13, 0.5, 0.25, kNan, 2, 0xfedcba9876543210};
  return campaign;
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
  EXPECT_EQ(read.settings, example().settings);
  EXPECT_EQ(read.chosen[0].targets, (std::vector<double>{1e-300, -0.0}));
  EXPECT_TRUE(read.chosen[1].targets.empty());
  EXPECT_EQ(read.chosen[1].score, INFINITY);
  EXPECT_EQ(read.rounds[0].round, 1U);
  EXPECT_TRUE(std::isnan(read.rounds[0].fit.rmse_paper));
  EXPECT_EQ(read.fitted->fingerprint, 0xfedcba9876543210);
  save_campaign(dir.file("b"), read);
  EXPECT_EQ(read_bytes(dir.file("a")), read_bytes(dir.file("b")));
  save_campaign(dir.file("c"), begin_campaign(small_problem(), {}));
  EXPECT_FALSE(load_campaign(dir.file("c")).fitted.has_value());
  EXPECT_TRUE(load_campaign(dir.file("c")).rounds.empty());
}

TEST(CampaignDirectory, DamagedStatesAreErrors) {
  const TempDir dir;
  save_campaign(dir.file("state"), example());
  const std::string whole = read_bytes(dir.file("state"));
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
  EXPECT_NE(refused(replaced("\"format_version\":\"1\"", "\"format_version\":\"9\"")).find("version 9"),
            std::string::npos);
  EXPECT_NE(refused(replaced("fedcba98", "fedcbag8")).find("model_fingerprint"), std::string::npos);
  EXPECT_NE(refused(replaced("\"targets\":\"2\"", "\"targets\":\"3\"")).find("chosen.targets"), std::string::npos);
  EXPECT_NE(refused(replaced("chosen.score", "chosen.scare")).find("chosen.score"), std::string::npos);
}

TEST(CampaignDirectory, HasOneUserAtATime) {
  const TempDir dir;
  const std::string path = dir.file("new/campaign");
  {
    const CampaignDirectory first(path);
    EXPECT_NE(message_of<InputError>([&] { CampaignDirectory second(path); }).find("another process is at work"),
              std::string::npos);
  }
  const CampaignDirectory third(path);
  EXPECT_FALSE(third.begun());
}

TEST(CampaignDirectory, RemovesWhatAKillLeft) {
  const TempDir dir;
  dir.write(".state.safetensors.123-0.tmp", "half");
  dir.write(".notes.tmp", "mine");
  const CampaignDirectory directory(dir.path());
  EXPECT_EQ(dir.list(), (std::vector<std::string>{".notes.tmp", "lock"}));
}

TEST(CampaignDirectory, DoesNotReplaceFilesOfOthers) {
  const TempDir dir;
  dir.write("rounds.csv", "precious");
  const CampaignDirectory directory(dir.path());
  EXPECT_NE(message_of<InputError>([&] { directory.begun(); }).find("has a file rounds.csv"), std::string::npos);
}

TEST(CampaignDirectory, MustBeADirectory) {
  const TempDir dir;
  const std::string file = dir.write("file", "x");
  EXPECT_NE(message_of<InputError>([&] { CampaignDirectory here(file); }).find(file), std::string::npos);
  EXPECT_NE(message_of<SystemError>([&] { CampaignDirectory here(file + "/below"); }).find(file), std::string::npos);
}

TEST(CampaignDirectory, AFullDiskLeavesTheOldState) {
  const TempDir dir;
  CampaignDirectory directory(dir.path());
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
  CampaignDirectory directory(dir.path());
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
  CampaignDirectory directory(dir.path());
  const Problem data = small_problem();
  const Campaign campaign = begin_campaign(data, {});
  const FittedRound fitted = fit_round(campaign, data, quick_options());
  EXPECT_FALSE(directory.load_model(fitted.record).has_value());
  directory.save_model(fitted.model);
  ASSERT_TRUE(directory.load_model(fitted.record).has_value());
  FitRecord other = fitted.record;
  ++other.fingerprint;
  EXPECT_FALSE(directory.load_model(other).has_value());
  std::ofstream(directory.file("model.safetensors")) << "damaged";
  EXPECT_FALSE(directory.load_model(fitted.record).has_value());
}

}  // namespace
}  // namespace dissent
