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
