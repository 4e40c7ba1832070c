#include "dissent/loop/row_match.hpp"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "dissent/base/error.hpp"
#include "dissent/table/csv.hpp"

namespace dissent {
namespace {

using Rows = std::vector<std::size_t>;

// The second and the third are the same to five digits, the last two are copies.
constexpr const char* kAsked = "a,b\n1,2\n3,4\n3.00001,4\n5,6\n5,6\n";

Rows match(const std::string& csv) { return match_rows(parse_csv(csv, "answer"), parse_csv(kAsked, "question")); }

std::string refusal(const std::string& csv) {
  try {
    match(csv);
  } catch (const InputError& error) {
    return error.what();
  }
  return "no error";
}

TEST(RowMatch, NumbersAreTheSameToFiveDigits) {
  EXPECT_TRUE(same_number(0, 0));
  EXPECT_TRUE(same_number(1, 1.00001));
  EXPECT_TRUE(same_number(-1e-300, -1.000001e-300));
  EXPECT_FALSE(same_number(1, 1.0001));
  EXPECT_FALSE(same_number(1, -1));
  EXPECT_FALSE(same_number(0, 1e-300));
}

TEST(RowMatch, CellsOfAnyKind) {
  const Table one = parse_csv("n,t,m\n1.5,site A,\n2, x ,7\n", "one");
  const Table other = parse_csv("n,t,m\n1.500001,site A,\n\"3\",x,many\n", "other");
  for (const std::size_t column : {0, 1, 2}) {
    EXPECT_TRUE(same_cell(one.columns[column], 0, other.columns[column], 0)) << column;
  }
  EXPECT_FALSE(same_cell(one.columns[0], 1, other.columns[0], 1));
  EXPECT_TRUE(same_cell(one.columns[1], 1, other.columns[1], 1));
  EXPECT_FALSE(same_cell(one.columns[2], 1, other.columns[2], 1));
  EXPECT_FALSE(same_cell(one.columns[2], 0, other.columns[2], 1));
}

TEST(RowMatch, WithoutInputsRowsStandInOrder) { EXPECT_EQ(match("y\n1\n2\n3\n4\n5\n"), (Rows{0, 1, 2, 3, 4})); }

TEST(RowMatch, RowsAreFoundInAnyOrder) {
  EXPECT_EQ(match("a,b\n5,6\n3.00001,4\n3,4\n5,6\n1,2\n"), (Rows{4, 2, 1, 0, 3}));
  EXPECT_EQ(match("b,y,a\n6,0,5\n4,0,3.00001\n4,0,3\n6,0,5\n2,0,1\n"), (Rows{4, 2, 1, 0, 3}));
}

TEST(RowMatch, WhatCannotBeToldApartStandsInOrderOrIsRefused) {
  EXPECT_EQ(match("a\n1\n3.000004\n3.000006\n5\n5\n"), (Rows{0, 1, 2, 3, 4}));  // rounded, in place
  EXPECT_NE(refusal("a\n3.000004\n1\n3.000006\n5\n5\n").find("row 1: a = 3.000004 is the same for several rows"),
            std::string::npos);
  EXPECT_EQ(match("b\n2\n4\n4\n6\n6\n"), (Rows{0, 1, 2, 3, 4}));
  EXPECT_NE(refusal("b\n4\n2\n4\n6\n6\n").find("write all inputs"), std::string::npos);
}

TEST(RowMatch, RowsThatNobodyAskedForAreRefused) {
  EXPECT_EQ(refusal("a,b\n1,2\n3,4\n3.00001,4\n5,6\n5,7\n"), "row 5: a = 5, b = 7 was not asked for; it was asked for b = 6");
  EXPECT_EQ(refusal("a,b\n1,2\n1,2\n3.00001,4\n5,6\n5,6\n"),
            "row 2: a = 1, b = 2 is answered more often than it was asked for");
}

TEST(RowMatch, ColumnsOfText) {
  const Table question = parse_csv("site,a\nA,1\nB,1\nC,2\n", "question");
  EXPECT_EQ(match_rows(parse_csv("y,site\n1,C\n2,A\n3, B \n", "answer"), question), (Rows{1, 2, 0}));
  EXPECT_THROW(match_rows(parse_csv("y,site\n1,C\n2,A\n3,D\n", "answer"), question), InputError);
  EXPECT_THROW(match_rows(parse_csv("y,site\n1,C\n2,A\n3,\n", "answer"), question), InputError);
}

TEST(RowMatch, TheInputsOfAnswersAreThoseOfThePool) {
  const Table pool = parse_csv("a,site\n1,A\n2,B\n", "pool");
  const std::vector<std::string> inputs{"a", "site"};
  const Rows rows{1, 0};
  const Rows lines{0, 2};
  check_inputs(parse_csv("row,a,site\n1,2.000001,B\n9,9,9\n0,,A\n", "t"), lines, pool, rows, inputs);
  check_inputs(parse_csv("row\n1\n9\n0\n", "t"), lines, pool, rows, inputs);
  try {
    check_inputs(parse_csv("row,site,a\n1,B,2\n9,B,9\n0,B,1\n", "t"), lines, pool, rows, inputs);
    ADD_FAILURE() << "no error";
  } catch (const InputError& error) {
    EXPECT_STREQ(
        error.what(),
        "t: column 'site': it is 'B' on line 4 of the file, but row 0 of the pool has 'A'; the answers are of other "
        "rows, or of another campaign");
  }
}

}  // namespace
}  // namespace dissent
