#include "dissent/loop/campaign.hpp"

#include <gtest/gtest.h>

#include <limits>
#include <numeric>

#include "loop/loop_fixture.hpp"
#include "support/temp_dir.hpp"

namespace dissent {
namespace {

Campaign with_choices(const Problem& data) {
  Campaign campaign = begin_campaign(data, CampaignSettings{.batch = 3});
  campaign.chosen = {{7, 1, 0.5, 0.1, 0.2, {}}, {2, 1, 0.4, 0.1, 0.2, {}}, {30, 1, 0.3, 0.1, 0.2, {}}};
  campaign.rounds.push_back({.round = 1, .chosen_epistemic = 0.1});
  return campaign;
}

TEST(Campaign, RowsMoveFromThePoolToTheLabelledOnes) {
  const Problem data = small_problem();
  Campaign campaign = with_choices(data);
  EXPECT_EQ(campaign.num_pending(), 3U);
  EXPECT_EQ(campaign.next_round(), 2U);
  EXPECT_EQ(labelled_rows(campaign, data).num_rows, data.train.num_rows);
  const std::vector<std::size_t> open = open_rows(campaign, data);
  EXPECT_EQ(open.size(), data.pool.num_rows - 3);
  EXPECT_EQ((std::vector<std::size_t>(open.begin(), open.begin() + 7)),
            (std::vector<std::size_t>{0, 1, 3, 4, 5, 6, 8}));

  campaign.fitted = RoundRecord{};
  tell(campaign, 2, std::vector<double>{1.5, -2});
  EXPECT_FALSE(campaign.fitted.has_value());
  EXPECT_EQ(pending(campaign), (std::vector<std::size_t>{0, 1}));
  const ProblemRows rows = labelled_rows(campaign, data);
  EXPECT_EQ(rows.num_rows, data.train.num_rows + 1);
  EXPECT_EQ(rows.inputs[2 * data.train.num_rows], data.pool.inputs[60]);
  EXPECT_EQ(rows.targets.back(), -2);
}

TEST(Campaign, TheOrderOfAnswersDoesNotMatter) {
  const Problem data = small_problem();
  Campaign forth = with_choices(data);
  Campaign back = forth;
  for (const std::size_t k : {0, 1, 2}) {
    tell(forth, k, std::vector<double>{1.0 * static_cast<double>(k), 0});
    tell(back, 2 - k, std::vector<double>{1.0 * static_cast<double>(2 - k), 0});
  }
  EXPECT_EQ(labelled_rows(forth, data).inputs, labelled_rows(back, data).inputs);
  EXPECT_EQ(labelled_rows(forth, data).targets, labelled_rows(back, data).targets);
}

TEST(Campaign, AnswersThatAreNone) {
  const Problem data = small_problem();
  Campaign campaign = with_choices(data);
  tell(campaign, 0, std::vector<double>{1, 2});
  EXPECT_EQ(message_of<InputError>([&] {
              tell(campaign, 0, std::vector<double>{1, 2});
            }),
            "row 7 has its answer already; a row is told once, unless correct replaces it");
  EXPECT_EQ(message_of<InputError>([&] { tell(campaign, 1, std::vector<double>{1}); }),
            "row 2 is told 1 values; there are 2 targets");
  const std::vector<double> bad{1, std::numeric_limits<double>::quiet_NaN()};
  EXPECT_EQ(message_of<InputError>([&] { tell(campaign, 1, bad); }),
            "row 2 is told nan; answers must be finite numbers");
  EXPECT_EQ(campaign.num_pending(), 2U);
}

TEST(Campaign, OtherSettingsOrDataAreRefused) {
  Problem data = small_problem();
  CampaignSettings begun{.batch = 3};
  begun.fit.ensemble.keep_probability = 1;
  begun.fit.train.epochs = 0;
  const Campaign campaign = begin_campaign(data, begun);
  check_same(campaign, begun, "d");
  check_same(campaign, data, "d");
  const auto refused = [&](const char* name, const Value& value) {
    CampaignSettings other = begun;
    set_fields(other, {{name, value}});
    return message_of<InputError>([&] { check_same(campaign, other, "d"); });
  };
  EXPECT_EQ(refused("batch", std::uint64_t{4}),
            "d: the campaign was begun with batch = 3 and cannot go on with batch = 4; use the same options, or begin "
            "another campaign");
  EXPECT_NE(refused("keep_probability", 0.5).find("begun with keep_probability = 1 and cannot go on with"),
            std::string::npos);
  EXPECT_NE(refused("seed", std::uint64_t{1}).find("begun with seed = 0"), std::string::npos);
  EXPECT_NE(refused("epochs", std::uint64_t{5}).find("begun with no epochs and cannot go on with epochs = 5"),
            std::string::npos);
  CampaignSettings same = begun;
  set_fields(same, {{"seed", std::uint64_t{0}}});
  check_same(campaign, same, "d");
  Campaign damaged = campaign;
  damaged.chosen.resize(2);
  EXPECT_NE(message_of<InputError>([&] { check_same(damaged, data, "d"); }).find("chosen row 0 twice"),
            std::string::npos);
  damaged.chosen[1].row = data.pool.num_rows;
  EXPECT_NE(message_of<InputError>([&] { check_same(damaged, data, "d"); }).find("beyond the pool of 60"),
            std::string::npos);
  data.pool.inputs[17] = std::nextafter(data.pool.inputs[17], 10);
  EXPECT_NE(message_of<InputError>([&] { check_same(campaign, data, "d"); }).find("other data"), std::string::npos);
}

TEST(Campaign, FingerprintsTellNamesAndPlacesApart) {
  const Problem data = small_problem();
  Problem other = data;
  other.input_names = {"x0x", "1"};
  EXPECT_NE(fingerprint(data), fingerprint(other));
  other = data;
  std::swap(other.train.inputs[0], other.train.inputs[1]);
  EXPECT_NE(fingerprint(data), fingerprint(other));
  other = data;
  std::swap(other.pool, other.test);
  EXPECT_NE(fingerprint(data), fingerprint(other));
  EXPECT_EQ(fingerprint(data), fingerprint(small_problem()));
}

}  // namespace
}  // namespace dissent
