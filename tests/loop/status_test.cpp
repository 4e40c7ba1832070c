// Where a campaign stands and what is exported of it, from values whose answer is known.
#include "dissent/loop/status.hpp"

#include <gtest/gtest.h>

#include <limits>

#include "dissent/loop/export.hpp"
#include "dissent/table/csv.hpp"
#include "loop/loop_fixture.hpp"

namespace dissent {
namespace {

constexpr double kDay = 86400;
constexpr double kStart = 1.7e9;

// Of a pool of 60: two answers, one row that waits, one dropped, one told that nobody asked for, one beside the pool.
Campaign half_done(const Problem& data) {
  Campaign campaign = begin_campaign(data, quick_settings(), Driver::kAsk);
  campaign.rounds.push_back({.round = 1, .labelled = 12, .fit_seconds = 2, .score_seconds = 1});
  campaign.rounds.push_back({.round = 2, .labelled = 13, .fit_seconds = 4, .score_seconds = 1});
  campaign.chosen.push_back({7, 1, 0.5, 0.4, 0.3, {1, 2}, "far out", false, kStart, kStart + kDay});
  campaign.chosen.push_back({3, 1, 0.4, 0.3, 0.3, {}, "", true, kStart, kStart + 3 * kDay});
  campaign.chosen.push_back({9, 2, 0.3, 0.2, 0.3, {3, 4}, "", false, kStart + kDay, kStart + 4 * kDay});
  campaign.chosen.push_back({5, 2, 0.2, 0.1, 0.3, {}, "near", false, kStart + kDay, 0});
  const std::size_t unasked = place_of(campaign, 20);
  tell(campaign, unasked, std::vector<double>{5, 6});
  campaign.extra = {{0.25, 0.5}, {7, 8}, {kStart + 5 * kDay}};
  return campaign;
}

TEST(Status, CountsAndTimes) {
  const Problem data = small_problem();
  const CampaignStatus status = status_of(half_done(data), &data);
  EXPECT_EQ(status.given, 12U);
  EXPECT_EQ(status.told, 4U);
  EXPECT_EQ(status.extra, 1U);
  EXPECT_EQ(status.labelled(), 16U);
  EXPECT_EQ(status.left, 55U);
  ASSERT_EQ(status.waiting.size(), 1U);
  EXPECT_EQ(status.waiting[0].row, 5U);
  ASSERT_EQ(status.dropped.size(), 1U);
  ASSERT_TRUE(status.pace.has_value());
  EXPECT_EQ(status.pace->num_answers, 3U);  // what failed took its time as well
  EXPECT_EQ(status.pace->seconds, 4 * kDay);
  EXPECT_EQ(status.seconds_per_round, 4);
  const Json json = to_json(status, kStart + 2 * kDay);
  EXPECT_EQ(json["pending"][0]["waiting_seconds"], kDay);
  EXPECT_EQ(json["pending"][0]["asked"], "2023-11-15T22:13:20Z");
  EXPECT_EQ(json["seconds_for_pending"], 4 * kDay / 3);
  EXPECT_EQ(json["dropped"], Json({3}));
  EXPECT_EQ(json["rounds"].size(), 2U);
  EXPECT_TRUE(json["fitted"].is_null());
}

TEST(Status, WhatACampaignOfLearnDoesNotKnow) {
  const Problem data = small_problem();
  Campaign campaign = begin_campaign(data, quick_settings());
  Json json = to_json(status_of(campaign, nullptr), kStart);
  for (const char* key : {"labelled", "given", "pool", "pool_left", "answers_per_day", "seconds_for_pool"}) {
    EXPECT_TRUE(json[key].is_null()) << key;
  }
  campaign.rounds.push_back({.round = 1, .labelled = 12});
  json = to_json(status_of(campaign, nullptr), kStart);
  EXPECT_EQ(json["given"], 12);
}

TEST(Status, Durations) {
  EXPECT_EQ(duration_text(0), "0 s");
  EXPECT_EQ(duration_text(119), "119 s");
  EXPECT_EQ(duration_text(600), "10 min");
  EXPECT_EQ(duration_text(3 * 3600), "3 h");
  EXPECT_EQ(duration_text(2.5 * kDay), "2.5 days");
  EXPECT_EQ(duration_text(100 * kDay), "100 days");
  EXPECT_EQ(time_text(0), "");
  EXPECT_EQ(time_text(1e300), "9999-12-31T23:59:59Z");
}

TEST(Export, EveryLabelledRowSaysWhereItIsFrom) {
  Problem data = small_problem();
  data.input_names = {"score", "x1"};  // a name that the export has for itself
  const Campaign campaign = half_done(data);
  Table pool{"pool", 60, {}};
  Column site{"site", {}, std::vector<std::string>(60, "A"), {9}, 0};
  pool.columns = {{"score", std::vector<double>(60), {}, {}, {}}, {"x1", std::vector<double>(60), {}, {}, {}}, site};
  const Table table = exported_rows(campaign, data, pool);
  EXPECT_EQ(table.num_rows, 16U);
  const std::vector<std::string>& source = table.column("source").text;
  EXPECT_EQ(std::vector(source.begin() + 11, source.end()),
            (std::vector<std::string>{"given", "chosen", "chosen", "unasked", "extra"}));
  EXPECT_EQ(table.column("row").values[12], 7);
  EXPECT_TRUE(table.column("row").is_missing(15));
  EXPECT_TRUE(table.column("round").is_missing(14));
  EXPECT_EQ(table.column("score").values[15], 0.25);
  EXPECT_EQ(table.column("score_").values[12], 0.5);
  EXPECT_TRUE(table.column("score_").is_missing(14));
  EXPECT_EQ(table.column("y1").values[15], 8);
  EXPECT_EQ(table.column("site").text[12], "A");
  EXPECT_TRUE(table.column("site").is_missing(13));
  EXPECT_EQ(table.column("why").text[12], "far out");
  EXPECT_EQ(table.column("told").text[12], "2023-11-15T22:13:20Z");
  const Table again = parse_csv(format_csv(table), "again");
  EXPECT_EQ(again.column("y0").values, table.column("y0").values);
  const Json whole = exported_json(campaign, data, pool);
  EXPECT_EQ(whole["rows"].size(), 16U);
  EXPECT_EQ(whole["dropped"], Json({3}));
  EXPECT_EQ(whole["pending"], Json({5}));
  EXPECT_TRUE(whole["rows"][0]["row"].is_null());
  EXPECT_EQ(whole["settings"]["batch"], 4);
}

}  // namespace
}  // namespace dissent
