#include "dissent/loop/settings.hpp"

#include <gtest/gtest.h>

#include "dissent/loop/campaign_file.hpp"
#include "support/temp_dir.hpp"

namespace dissent {
namespace {

TEST(CampaignSettings, CandidatesAreADefaultAllThePapersOrANumber) {
  EXPECT_EQ(parse_candidates(""), Candidates(MethodDefault()));
  EXPECT_EQ(parse_candidates("all"), Candidates(All()));
  EXPECT_EQ(parse_candidates("020"), Candidates(std::size_t{20}));
  EXPECT_EQ(parse_candidates("paper"), Candidates(PaperNumber()));
  EXPECT_EQ(parse_candidates("nested:20"), Candidates(Nested{20}));
  for (const char* text : {"", "all", "paper", "20", "nested:20"}) {
    EXPECT_EQ(candidates_text(parse_candidates(text)), text);
  }
  for (const char* text : {"0", "-1", "1.5", "some", "nested:0", "nested:all"}) {
    EXPECT_EQ(message_of<InputError>([&] { parse_candidates(text); }),
              fmt::format("candidates = {}; it must be a whole number >= 1, 'all', 'paper' or 'nested:N'", text));
  }
  check_candidates(std::size_t{4}, 4);
  check_candidates(All(), 4);
  check_candidates(MethodDefault(), 4);
  EXPECT_NE(message_of<InputError>([] { check_candidates(std::size_t{3}, 4); }).find("candidates = 3; fewer than"),
            std::string::npos);
  EXPECT_THROW(check_candidates(Nested{3}, 4), InputError);
  const Acquisition chance = Acquisition::parse("random");
  const Acquisition sampled = Acquisition::parse("mc:10");
  EXPECT_EQ(num_candidates(MethodDefault(), chance, 1, 70), 70U);
  EXPECT_EQ(num_candidates(MethodDefault(), sampled, 1, 70), sampled.default_candidates(1));
  EXPECT_EQ(num_candidates(PaperNumber(), Acquisition::parse("bait"), 1, 70), 10'000U);
  EXPECT_EQ(num_candidates(PaperNumber(), sampled, 257, 70), 100U);
  EXPECT_EQ(num_candidates(All(), sampled, 1, 70), 70U);
  EXPECT_EQ(num_candidates(std::size_t{7}, sampled, 1, 70), 7U);
  EXPECT_EQ(num_candidates(Nested{7}, sampled, 1, 70), 7U);
}

TEST(CampaignSettings, FieldsReadBackFromTheirTexts) {
  CampaignSettings settings;
  set_fields(settings, {{"acquisition", "chernoff:0.3"},
                        {"candidates", std::uint64_t{30}},
                        {"preset", "paper"},
                        {"hidden", std::vector<std::uint64_t>{8, 4}},
                        {"weights", std::vector<double>{0.5, 0.25, 0.25}},
                        {"components", std::uint64_t{3}},
                        {"bootstrap", false},
                        {"masks", false},
                        {"batch_size", std::uint64_t{0}}});
  EXPECT_EQ(settings.fit.train.epochs, 6000U);
  EXPECT_EQ(settings.fit.ensemble.keep_probability, 1);
  settings.check_values();
  Values read;
  for (const Field<CampaignSettings>& field : fields<CampaignSettings>()) {
    read[std::string(field.name)] = parse_value(field, to_text(field.get(settings)));
  }
  CampaignSettings again;
  set_fields(again, read);
  EXPECT_EQ(first_difference(settings, again), nullptr);
  again.batch = 11;
  ASSERT_NE(first_difference(settings, again), nullptr);
  EXPECT_EQ(first_difference(settings, again)->name, "batch");
}

// What every edge takes by default; campaigns of before keep theirs.
TEST(CampaignSettings, OneDefaultAcquisition) {
  EXPECT_EQ(CampaignSettings().acquisition.text(), default_acquisition());
  EXPECT_EQ(campaign_preset("paper").acquisition.text(), "kl");
  EXPECT_EQ(campaign_file::settings_of_0_2().acquisition.text(), "kl");
}

TEST(CampaignSettings, RulesForThePool) {
  CampaignSettings settings;
  for (const char* name : {"cost", "require", "exclude"}) {
    EXPECT_EQ(find_field<CampaignSettings>(name)->get(settings), Value());
  }
  set_fields(settings, {{"cost", "hours"}, {"require", "depth<=70,site=A"}, {"skip_outliers", true}});
  EXPECT_EQ(settings.require, "depth<=70,site=A");
  set_fields(settings, {{"preset", "paper"}});  // which says nothing of them
  EXPECT_EQ(settings.cost, "hours");
  EXPECT_TRUE(settings.skip_outliers);
  set_fields(settings, {{"require", ""}});
  EXPECT_EQ(settings.require, "");
  EXPECT_EQ(message_of<InputError>([&] {
              set_fields(settings, {{"exclude", "depth"}});
            }).substr(0, 18),
            "exclude = depth; a");
}

TEST(CampaignSettings, MethodsThatHaveNoUseForAnAimOrCostsSayWhichHave) {
  check_uses(Acquisition::parse("aim"), true, true);
  check_uses(Acquisition::parse("random"), false, false);
  const std::string aim = message_of<InputError>([] { check_uses(Acquisition::parse("kl"), true, false); });
  EXPECT_TRUE(aim.starts_with("acquisition 'kl' does not look at an aim; use one that does: ")) << aim;
  EXPECT_NE(aim.find("kl-aim"), std::string::npos) << aim;
  const std::string cost = message_of<InputError>([] { check_uses(Acquisition::parse("random"), false, true); });
  EXPECT_TRUE(cost.starts_with("acquisition 'random' does not look at costs; use one that does: ")) << cost;
  EXPECT_NE(cost.find(" kl, "), std::string::npos) << cost;
}

TEST(CampaignSettings, ValuesThatCannotBeAreRefused) {
  CampaignSettings one;
  one.fit.ensemble.num_components = 1;
  EXPECT_NE(message_of<InputError>([&] { one.check_values(); }).find("at least two components"), std::string::npos);
  EXPECT_EQ(message_of<InputError>([&] {
              set_fields(one, {{"batch", std::uint64_t{0}}});
            }).substr(0, 10),
            "batch = 0;");
}

// All of the paper's settings, whatever the order they are given in; what is given besides overrides them.
TEST(CampaignSettings, ThePresetPaperIsThePaper) {
  CampaignSettings paper;
  set_fields(paper, {{"acquisition", "bait"}, {"batch", std::uint64_t{7}}, {"preset", "paper"}});
  EXPECT_EQ(paper.acquisition.text(), "bait");
  EXPECT_EQ(paper.batch, 7U);
  EXPECT_EQ(paper.candidates, Candidates(PaperNumber()));
  EXPECT_EQ(paper.ranking, Ranking::kValue);
  EXPECT_EQ(paper.fit.ensemble.flow_hidden, std::vector<std::size_t>{20});
  EXPECT_EQ(paper.fit.train.validation, 0);
  EXPECT_EQ(paper.fit.train.resolved(1, 1, 600).batch_size, 0U);
  EXPECT_EQ(paper.fit.train.resolved(2, 1, 600).batch_size, 256U);
  EXPECT_EQ(paper.fit.train.resolved(1, 2, 600).batch_size, 256U);
  CampaignSettings own;
  set_fields(own, {{"preset", "paper"},
                   {"candidates", "all"},
                   {"ranking", "deficit"},
                   {"batch_size", std::uint64_t{32}},
                   {"validation", 0.2}});
  EXPECT_EQ(own.candidates, Candidates(All()));
  EXPECT_EQ(own.ranking, Ranking::kDeficit);
  EXPECT_EQ(own.fit.train.resolved(1, 1, 600).batch_size, 32U);
  EXPECT_EQ(own.fit.train.validation, 0.2);
  EXPECT_NE(message_of<InputError>([&] {
              set_fields(own, {{"ranking", "rank"}});
            }).find("ranking = rank; there are: deficit, value"),
            std::string::npos);
}

// What was said when the campaign was begun stays, and the preset fills the rest.
TEST(CampaignSettings, APresetLeavesAloneWhatWasGiven) {
  CampaignSettings begun;
  set_fields(begun, {{"epochs", std::uint64_t{7}}, {"hidden", std::vector<std::uint64_t>{8}}});
  const CampaignSettings paper = changed_settings(begun, {{"preset", "paper"}, {"seed", std::uint64_t{3}}});
  EXPECT_EQ(paper.fit.train.epochs, 7U);
  EXPECT_EQ(paper.fit.ensemble.hidden, std::vector<std::size_t>{8});
  EXPECT_EQ(paper.fit.train.learning_rate, fit_preset("paper").train.learning_rate);
  EXPECT_EQ(paper.fit.ensemble.seed, 3U);
  EXPECT_EQ(paper.ranking, Ranking::kValue);
  begun.candidates = All();
  EXPECT_EQ(changed_settings(begun, {{"preset", "paper"}}).candidates, Candidates(All()));
  EXPECT_EQ(first_difference(begun, changed_settings(begun, {{"preset", "default"}})), nullptr);
}

}  // namespace
}  // namespace dissent
