#include "dissent/table/row_condition.hpp"

#include <gtest/gtest.h>

#include "dissent/base/error.hpp"
#include "dissent/table/csv.hpp"

namespace dissent {
namespace {

Table wells() { return parse_csv("depth,site,note\n10,A,\n70,B,old\n70.5,A,\"old, cold\"\n,C,old\n", "wells.csv"); }

std::vector<std::uint8_t> held(const char* text) {
  const std::vector<RowCondition> conditions = parse_conditions("require", text);
  EXPECT_EQ(conditions.size(), 1U) << text;
  return conditions.at(0).holds(wells());
}

std::string message_of(const char* text) {
  try {
    for (const RowCondition& condition : parse_conditions("require", text)) {
      condition.holds(wells());
    }
  } catch (const InputError& error) {
    return error.what();
  }
  return "no error";
}

using Held = std::vector<std::uint8_t>;

TEST(RowCondition, NumbersAreCompared) {
  EXPECT_EQ(held("depth<70"), (Held{1, 0, 0, 0}));
  EXPECT_EQ(held("depth<=70"), (Held{1, 1, 0, 0}));
  EXPECT_EQ(held("depth > 70.0"), (Held{0, 0, 1, 0}));
  EXPECT_EQ(held("depth>=7e1"), (Held{0, 1, 1, 0}));
  EXPECT_EQ(held("depth=70"), (Held{0, 1, 0, 0}));
  EXPECT_EQ(held("depth==70"), (Held{0, 1, 0, 0}));
  EXPECT_EQ(held("depth!=70"), (Held{1, 0, 1, 1}));  // a missing one is different
}

TEST(RowCondition, TextsAreEqualOrNot) {
  EXPECT_EQ(held("site=A"), (Held{1, 0, 1, 0}));
  EXPECT_EQ(held("site != A"), (Held{0, 1, 0, 1}));
  EXPECT_EQ(held("note=\"old, cold\""), (Held{0, 0, 1, 0}));
  EXPECT_EQ(held("\"note\"!=old"), (Held{1, 0, 1, 0}));
}

TEST(RowCondition, DatesAreComparedAsDates) {
  const Table iso = parse_csv("when\n2024-04-30\n\"\"\n2024-05-01\n2024-05-02 12:00\n", "t.csv");
  const Table german = parse_csv("when\n30.4.2024\nNA\n1.5.2024\n2.5.2024 12:00\n", "t.csv");
  for (const Table& table : {iso, german}) {
    const auto held_in = [&](const char* text) { return parse_conditions("require", text).at(0).holds(table); };
    EXPECT_EQ(held_in("when<2024-05-01"), (Held{1, 0, 0, 0}));
    EXPECT_EQ(held_in("when>=2024-05-01"), (Held{0, 0, 1, 1}));
    EXPECT_EQ(held_in("when=2024/5/1"), (Held{0, 0, 1, 0}));
    EXPECT_EQ(held_in("when!=2024-05-01"), (Held{1, 1, 0, 1}));
    EXPECT_THROW(held_in("when<May"), InputError);
  }
  EXPECT_EQ(parse_conditions("require", "when<=1.5.2024").at(0).holds(german), (Held{1, 0, 1, 0}));
}

TEST(RowCondition, WhatNoCellIsNamesThoseThereAre) {
  EXPECT_EQ(message_of("site=b"),
            "wells.csv: no row meets require site=b: column 'site' has A, B, C; did you mean 'B'?");
  EXPECT_EQ(parse_conditions("exclude", "site=a").at(0).holds(wells()), (Held{0, 0, 0, 0}));
  EXPECT_EQ(message_of("depth=3"), "wells.csv: no row meets require depth=3: column 'depth' has 10 to 70.5");
  EXPECT_EQ(message_of("depth<10"), "wells.csv: no row meets require depth<10: column 'depth' has 10 to 70.5");
  EXPECT_EQ(parse_conditions("exclude", "depth=3").at(0).holds(wells()), (Held{0, 0, 0, 0}));
  const Table wet = parse_csv("wet\nTRUE\nFALSE\n", "t.csv");
  EXPECT_EQ(parse_conditions("require", "wet=true").at(0).holds(wet), (Held{1, 0}));
  EXPECT_EQ(parse_conditions("require", "wet!=True").at(0).holds(wet), (Held{0, 1}));
}

TEST(RowCondition, CommasSeparateSeveral) {
  const std::vector<RowCondition> conditions = parse_conditions("require", "depth<=70, note=\"old, cold\",site!=B");
  ASSERT_EQ(conditions.size(), 3U);
  EXPECT_EQ(conditions[1].column, "note");
  EXPECT_EQ(conditions[1].value, "old, cold");
  EXPECT_EQ(conditions[2].relation, RowCondition::Operator::kNotEqual);
  EXPECT_TRUE(parse_conditions("require", "").empty());
}

TEST(RowCondition, MistakesNameColumnAndOperators) {
  EXPECT_EQ(message_of("depth"),
            "require = depth; a condition is a column, one of < <= > >= = !=, and a value, as in depth<=70 or site=A");
  EXPECT_EQ(message_of("<3"), "require = <3; it names no column; write it as in depth<=70");
  EXPECT_EQ(message_of("depth<"), "require = depth<; it has no value to compare with; write it as in depth<=70");
  EXPECT_EQ(message_of("detph<3"), "wells.csv: has no column 'detph'; did you mean 'depth'?");
  EXPECT_EQ(message_of("zzz<3"), "wells.csv: has no column 'zzz'; it has: depth, site, note");
  EXPECT_EQ(message_of("site<B"),
            "wells.csv: column 'site' has text ('A' in row 1), which is compared by = and != only: site<B");
  EXPECT_EQ(message_of("depth=deep"), "wells.csv: column 'depth' has numbers, and 'deep' is none: depth=deep");
}

}  // namespace
}  // namespace dissent
