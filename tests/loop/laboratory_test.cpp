#include "dissent/loop/laboratory.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>

#include "dissent/loop/question_table.hpp"
#include "dissent/table/csv.hpp"
#include "loop/loop_fixture.hpp"
#include "support/temp_dir.hpp"

namespace dissent {
namespace {

class LaboratoryTest : public testing::Test {
 protected:
  LaboratoryTest() {
    std::ofstream labelled(dir_.file("l.csv"));
    std::ofstream pool(dir_.file("p.csv"));
    labelled << "x,y\n";
    pool << "x,name\n";
    for (int k = 0; k < 12; ++k) {
      labelled << 0.1 * k << "," << 0.3 * k << "\n";
      pool << 0.2 * k << ",n" << k << "\n";
    }
  }

  LaboratoryOptions options() const {
    return {.tables = read_tables({dir_.file("l.csv"), dir_.file("p.csv"), "", {{"y"}, {"x"}}}),
            .settings = {{"model", "pne"},
                         {"epochs", std::uint64_t{5}},
                         {"hidden", std::vector<std::uint64_t>{4}},
                         {"components", std::uint64_t{2}}}};
  }
  Laboratory open(const LaboratoryOptions& options = {}) const { return Laboratory::open(dir_.file("lab"), options); }

  std::vector<std::size_t> waiting(const Laboratory& laboratory) const {
    std::vector<std::size_t> rows;
    for (const std::size_t position : pending(laboratory.campaign())) {
      rows.push_back(laboratory.campaign().chosen[position].row);
    }
    return rows;
  }

  TempDir dir_;
};

TEST_F(LaboratoryTest, RemembersWhatItAskedFor) {
  std::vector<std::size_t> rows;
  {
    Laboratory laboratory = open(options());
    EXPECT_EQ(laboratory.ask(3), 3U);
    rows = waiting(laboratory);
    laboratory.tell({"a", {rows[2], rows[0]}, {1, 2}}, false);
  }
  Laboratory laboratory = open();
  EXPECT_EQ(laboratory.num_labelled(), 14U);
  EXPECT_EQ(waiting(laboratory), std::vector{rows[1]});
  EXPECT_EQ(laboratory.ask(2), 1U);
  EXPECT_EQ(laboratory.ask(2), 0U);
  EXPECT_EQ(laboratory.ask(100), 8U);  // the pool ends
}

// Asking for more before an answer came continues the batch.
TEST_F(LaboratoryTest, AsksForMoreAsIfForAllAtOnce) {
  for (const char* method : {"kl-joint", "lcmd"}) {
    LaboratoryOptions of = options();
    of.settings["acquisition"] = method;
    Laboratory whole = Laboratory::open(dir_.file(fmt::format("whole-{}", method)), of);
    Laboratory parts = Laboratory::open(dir_.file(fmt::format("parts-{}", method)), of);
    whole.ask(7);
    parts.ask(3);
    parts.ask(7);
    EXPECT_EQ(waiting(parts), waiting(whole)) << method;
  }
}

TEST_F(LaboratoryTest, AnAnswerThatIsWrongLeavesTheRestUntold) {
  Laboratory laboratory = open(options());
  laboratory.ask(2);
  const std::vector<std::size_t> rows = waiting(laboratory);
  EXPECT_EQ(message_of<InputError>([&] {
              laboratory.tell({"a", {rows[0], 99}, {1, 2}}, true);
            }),
            "a: row 99 was never asked for; extra takes rows that nobody asked for");
  EXPECT_EQ(message_of<InputError>([&] {
              laboratory.tell({"a", {rows[0]}, {1, 2}}, true);
            }),
            "a: 2 target values for 1 rows of 1");
  EXPECT_EQ(waiting(laboratory), rows);
  EXPECT_TRUE(laboratory.campaign().fitted.has_value());
  laboratory.tell({"a", rows, {1, 2}}, true);
  EXPECT_EQ(laboratory.campaign().fitted->labelled, 14U);
}

// Somebody fills in the file that the next batch should replace, while a model is fitted for it.
TEST_F(LaboratoryTest, AnswersThatComeDuringTheFitAreNotReplaced) {
  const std::string todo = dir_.file("todo.csv");
  Laboratory laboratory = open(options());
  laboratory.ask(2);
  EXPECT_EQ(write_questions(todo, laboratory), "");
  laboratory.tell({"a", waiting(laboratory), {1, 2}}, false);
  EXPECT_EQ(why_not_replace(todo, laboratory), "");  // its rows are told
  const std::string filled = "row,x,name,why,y\n" + std::to_string(laboratory.campaign().chosen[0].row) + ",,,,7\n";
  const FitControl control{.progress = [&](const FitProgress&) {
    std::ofstream(todo) << filled;
    return true;
  }};
  EXPECT_EQ(laboratory.ask(2, control), 2U);
  EXPECT_EQ(write_questions(todo, laboratory),
            fmt::format("its answer for row {} is 7, but 1 was told", laboratory.campaign().chosen[0].row));
  std::ifstream file(todo);
  EXPECT_EQ(std::string(std::istreambuf_iterator<char>(file), {}), filled);
  EXPECT_EQ(write_questions(dir_.file("next.csv"), laboratory), "");
  EXPECT_EQ(read_csv(dir_.file("next.csv")).num_rows, 2U);
}

// As a German Excel has it: what is asked opens there, today and when only the directory is left.
TEST_F(LaboratoryTest, AsksInTheStyleOfThePool) {
  std::ofstream(dir_.file("l.csv")) << "x;z;y\n0,1;731;1,5\n0,234;8;2\n0,5;9;3,5\n1,001;9;4\n";
  std::ofstream(dir_.file("p.csv")) << "x;z;Ort\n1,234;731;K\xF6ln\n0,25;1;Bonn\n0,75;2;Aachen\n";
  LaboratoryOptions german = options();
  german.tables = read_tables({dir_.file("l.csv"), dir_.file("p.csv"), "", {{"y"}, {"x", "z"}}});
  const auto questions = [](const Laboratory& laboratory) {
    const Table table = question_table(laboratory);
    return format_csv(table, table.style);
  };
  std::string asked;
  {
    Laboratory laboratory = open(german);
    EXPECT_EQ(laboratory.data().told.size(), 3U);  // the commas of both tables, and a word that is not UTF-8
    laboratory.ask(3);
    asked = questions(laboratory);
  }
  EXPECT_TRUE(asked.starts_with("row;x;z;Ort;why;y\n")) << asked;
  EXPECT_NE(asked.find("0;1,2340;731;Köln;"), std::string::npos) << asked;
  Laboratory again = open();
  EXPECT_EQ(questions(again), asked);
  EXPECT_TRUE(again.data().told.empty());
  const Table told = parse_csv("row;x;y\n0;1,2340;2,5\n", "done.csv");
  EXPECT_EQ(again.answers_in(told).targets, std::vector{2.5});
}

TEST_F(LaboratoryTest, TablesThatCannotBeWrittenTakeNoAnswerBack) {
  std::vector<std::size_t> rows;
  {
    Laboratory laboratory = open(options());
    laboratory.ask(2);
    rows = waiting(laboratory);
    std::filesystem::remove(dir_.file("lab/chosen.csv"));
    std::filesystem::create_directory(dir_.file("lab/chosen.csv"));
    try {
      laboratory.tell({"a", {rows[0]}, {1}}, false);
      ADD_FAILURE() << "no error";
    } catch (const SystemError& error) {
      EXPECT_NE(std::string(error.what()).find("the campaign itself is saved"), std::string::npos) << error.what();
    }
    EXPECT_EQ(waiting(laboratory), std::vector{rows[1]});
    std::filesystem::remove(dir_.file("lab/chosen.csv"));
  }
  EXPECT_EQ(waiting(open()), std::vector{rows[1]});
  EXPECT_TRUE(std::filesystem::is_regular_file(dir_.file("lab/chosen.csv")));
}

TEST_F(LaboratoryTest, ARowAnsweredTwiceIsNamedByItsPlaces) {
  Table table = parse_csv("row,y\n4,1\n7,2\n4,3\n", "t.csv");
  EXPECT_EQ(message_of<InputError>([&] { read_answers(table, {"y"}); }),
            "t.csv: lines 2 and 4 of the file both answer row 4 of the pool; a row is told once");
  table = parse_csv("row,y\n4,\n7,2\n4,3\n", "t.csv");
  EXPECT_EQ(read_answers(table, {"y"}).rows, (std::vector<std::size_t>{7, 4}));
}

TEST_F(LaboratoryTest, TablesNeedNotBeFiles) {
  LaboratoryOptions in_memory = options();
  in_memory.tables.labelled = parse_csv("x,y\n1,2\n2,x\n", "labelled");
  EXPECT_EQ(
      message_of<InputError>([&] { open(in_memory); }),
      "labelled: column 'y' row 2: 'x' is text; a number is required: correct it, or leave it empty, and its row is "
      "left out");
  EXPECT_FALSE(std::filesystem::exists(dir_.file("lab")));
  in_memory.tables.labelled = parse_csv("x,y\n1,2\n2,3\n0,1\n", "labelled");
  EXPECT_EQ(open(in_memory).num_labelled(), 3U);
  EXPECT_EQ(open().data().train.source, dir_.file("lab/labelled.csv"));
}

TEST_F(LaboratoryTest, RulesForThePoolCanChange) {
  const auto names = [&](const Laboratory& laboratory) {
    std::vector<std::string> result;
    for (const std::size_t row : waiting(laboratory)) {
      result.push_back(laboratory.pool().column("name").text[row]);
    }
    return result;
  };
  LaboratoryOptions first = options();
  first.settings["require"] = "name!=n3,x<1";
  {
    Laboratory laboratory = open(first);
    EXPECT_EQ(laboratory.ask(12), 4U);  // n0, n1, n2, n4
    const std::vector<std::string> asked = names(laboratory);
    EXPECT_EQ(std::ranges::find(asked, "n3"), asked.end());
  }
  {
    Laboratory laboratory = open();
    EXPECT_EQ(laboratory.ask(12), 0U);
  }
  {
    Laboratory laboratory = open({.settings = {{"require", "x<1"}}});
    EXPECT_EQ(laboratory.ask(12), 1U);
    EXPECT_EQ(names(laboratory).back(), "n3");
  }
  LaboratoryOptions again = options();
  again.settings.clear();
  EXPECT_EQ(waiting(open(again)).size(), 5U);  // the same tables, the rules of the last time
  EXPECT_EQ(message_of<InputError>([&] {
              open({.settings = {{"require", "z<1"}}});
            }),
            dir_.file("lab/pool.csv") + ": has no column 'z'; did you mean 'x'?");
}

TEST_F(LaboratoryTest, RulesThatLeaveNothingAreNotKept) {
  {
    Laboratory laboratory = open(options());
    laboratory.ask(2);
  }
  const std::string none =
      dir_.file("lab") + ": no row may be chosen: none of the 10 rows left in the pool meets the conditions";
  EXPECT_EQ(message_of<InputError>([&] { open({.settings = {{"require", "x<0.3,x>2"}}}); }), none);
  EXPECT_EQ(message_of<InputError>([&] {
              open({.settings = {{"require", "x>9"}}});
            }),
            dir_.file("lab/pool.csv") + ": no row meets require x>9: column 'x' has 0 to 2.2");
  Laboratory laboratory = open();
  EXPECT_EQ(laboratory.campaign().settings.require, "");
  EXPECT_EQ(laboratory.ask(12), 10U);
}

TEST_F(LaboratoryTest, SaysWhetherThePoolOrTheConditionsEndIt) {
  LaboratoryOptions first = options();
  first.settings["require"] = "x<0.5";  // 3 rows of 12
  Laboratory laboratory = open(first);
  EXPECT_EQ(laboratory.ask(5), 3U);
  EXPECT_EQ(laboratory.ask(5), 0U);  // those wait
  laboratory.tell({"a", waiting(laboratory), {1, 2, 3}}, false);
  EXPECT_NE(message_of<InputError>([&] {
              laboratory.ask(5);
            }).find("none of the 9 rows left in the pool meets the conditions"),
            std::string::npos);
}

TEST_F(LaboratoryTest, AnAimIsNotForgottenWithAnotherMethod) {
  LaboratoryOptions first = options();
  first.tables.aim = parse_csv("x\n0.5\n", "aim");
  {
    Laboratory laboratory = open(first);
    laboratory.ask(1);
  }
  const std::string refused = message_of<InputError>([&] { open({.settings = {{"acquisition", "kl"}}}); });
  EXPECT_NE(refused.find("acquisition 'kl' does not look at an aim"), std::string::npos) << refused;
  EXPECT_EQ(open().campaign().settings.acquisition.text(), "aim");
}

// Every row is there twice: once one of the two waits for its label, the other is worth little.
TEST_F(LaboratoryTest, LabelsOnTheirWayAreNotAskedForTwice) {
  LaboratoryOptions twice = options();
  std::string rows = "x\n";
  for (int k = 0; k < 12; ++k) {
    rows += fmt::format("{0}\n{0}\n", 0.3 * k * k);
  }
  twice.tables.pool = parse_csv(rows, "pool");
  twice.settings["model"] = "gp";
  twice.settings.erase("epochs");
  twice.settings.erase("hidden");
  twice.settings.erase("components");
  Laboratory laboratory = open(twice);
  for (std::size_t count = 1; count <= 4; ++count) {
    laboratory.ask(count);
  }
  std::vector<std::size_t> pairs;
  for (const std::size_t row : waiting(laboratory)) {
    pairs.push_back(row / 2);
  }
  std::ranges::sort(pairs);
  EXPECT_EQ(std::ranges::adjacent_find(pairs), pairs.end());
}

TEST_F(LaboratoryTest, RowsRememberWhyTheyWereChosen) {
  std::vector<std::string> why;
  {
    Laboratory laboratory = open(options());
    laboratory.ask(3);
    for (const ChosenRow& chosen : laboratory.campaign().chosen) {
      why.push_back(chosen.why);
      EXPECT_NE(chosen.why.find("components say "), std::string::npos) << chosen.why;
    }
  }
  const Laboratory laboratory = open();
  ASSERT_EQ(laboratory.campaign().chosen.size(), 3U);
  for (std::size_t k = 0; k < 3; ++k) {
    EXPECT_EQ(laboratory.campaign().chosen[k].why, why[k]);
  }
}

TEST_F(LaboratoryTest, WhatWasToldIsThereAfterwards) {
  std::vector<std::size_t> rows;
  std::string model;
  {
    Laboratory laboratory = open(options());
    laboratory.ask(4);
    rows = waiting(laboratory);
    Answers answers = laboratory.answers_in(parse_csv("x,y\n0.55,1.5\n", "e"), true);
    answers.dropped = {rows[3]};
    laboratory.tell(answers, false);
    laboratory.tell({"a", {rows[0]}, {1}}, false);
    Answers better{"b", {rows[0]}, {0.5}};
    EXPECT_EQ(message_of<InputError>([&] { laboratory.tell(better, false); }),
              fmt::format("b: row {} has its answer already; a row is told once, unless correct replaces it", rows[0]));
    better.correct = true;
    laboratory.tell(better, true);
    model = read_bytes(dir_.file("lab/model.safetensors"));
  }
  Laboratory laboratory = open();
  const Campaign& campaign = laboratory.campaign();
  EXPECT_EQ(laboratory.num_labelled(), 14U);
  EXPECT_EQ(campaign.num_dropped(), 1U);
  EXPECT_TRUE(campaign.chosen[3].dropped);
  EXPECT_EQ(campaign.chosen[0].targets, std::vector{0.5});
  EXPECT_EQ(campaign.extra.inputs, std::vector{0.55});
  EXPECT_EQ(campaign.extra.targets, std::vector{1.5});
  EXPECT_GT(campaign.chosen[0].asked, 1.7e9);
  EXPECT_GE(campaign.chosen[0].told, campaign.chosen[0].asked);
  EXPECT_EQ(campaign.chosen[1].told, 0);
  EXPECT_EQ(waiting(laboratory), (std::vector{rows[1], rows[2]}));
  // Fitted again from what was saved, as if the model had been lost, it has the same bits.
  std::filesystem::remove(dir_.file("lab/model.safetensors"));
  laboratory.model();
  EXPECT_EQ(read_bytes(dir_.file("lab/model.safetensors")), model);
}

TEST_F(LaboratoryTest, ACampaignWithoutAModelTakesOtherTables) {
  LaboratoryOptions bad = options();
  bad.tables.pool = parse_csv("x\n1\n2\n1e200\n", "pool");
  {
    Laboratory laboratory = open(bad);
    EXPECT_NE(message_of<InputError>([&] { laboratory.ask(2); }).find("too far"), std::string::npos);
  }
  EXPECT_EQ(open().data().pool.num_rows, 3U);  // it is still there, as after a kill
  {
    Laboratory laboratory = open(options());
    EXPECT_EQ(laboratory.data().pool.num_rows, 12U);
    EXPECT_EQ(laboratory.ask(2), 2U);
  }
  EXPECT_EQ(open().data().pool.num_rows, 12U);
  EXPECT_NE(message_of<InputError>([&] { open(bad); }).find("begun with other data: with other rows in pool"),
            std::string::npos);
}

TEST_F(LaboratoryTest, OneThatFailsAtOnceCanBeAbandoned) {
  LaboratoryOptions bad = options();
  bad.tables.pool = parse_csv("x\n1\n2\n1e200\n", "pool");
  {
    Laboratory laboratory = open(bad);
    EXPECT_THROW(laboratory.ask(2), InputError);
    laboratory.abandon();
  }
  EXPECT_FALSE(std::filesystem::exists(dir_.file("lab")));
  Laboratory laboratory = open(options());
  laboratory.ask(2);
  laboratory.abandon();  // has a model
  EXPECT_TRUE(std::filesystem::exists(dir_.file("lab/state.safetensors")));
}

// A row that still waits is described by the model that the next batch is chosen by.
TEST_F(LaboratoryTest, RowsThatWaitAreDescribedAnew) {
  LaboratoryOptions of = options();
  of.settings["acquisition"] = "kl";
  Laboratory laboratory = open(of);
  laboratory.ask(3);
  const std::vector<ChosenRow> before = laboratory.campaign().chosen;
  laboratory.tell({"a", {before[0].row, before[1].row}, {50, -50}}, false);
  const std::string told = laboratory.campaign().chosen[0].why;
  laboratory.ask(2);
  const std::vector<ChosenRow>& after = laboratory.campaign().chosen;
  ASSERT_EQ(after.size(), 4U);
  EXPECT_EQ(after[0].why, told);  // as it was chosen
  EXPECT_NE(after[2].why, before[2].why);
  EXPECT_NE(after[2].why.find("components say "), std::string::npos);
  EXPECT_EQ(after[2].score, before[2].score);
}

TEST_F(LaboratoryTest, NewSettingsFitANewModel) {
  {
    Laboratory laboratory = open(options());
    laboratory.ask(1);
  }
  const auto fitted = [&](const Values& given) { return open({.settings = given}).campaign().fitted.has_value(); };
  EXPECT_TRUE(fitted({}));
  EXPECT_TRUE(fitted({{"acquisition", "random"}, {"epochs", std::uint64_t{5}}}));
  EXPECT_FALSE(fitted({{"epochs", std::uint64_t{6}}}));
  EXPECT_TRUE(fitted({}));  // nothing was saved
}

}  // namespace
}  // namespace dissent
