#include "dissent/loop/row_match.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "dissent/base/error.hpp"
#include "dissent/base/random.hpp"
#include "dissent/loop/cell_match.hpp"
#include "dissent/loop/row_finder.hpp"
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

TEST(RowMatch, WhatRoundingExplains) {
  for (const double written : {1.23456789, 1.2345679, 1.234568, 1.23457, 1.234567890000001}) {
    EXPECT_TRUE(is_rounded(1.23456789, written)) << written;
  }
  for (const double written : {1.23456, 1.2346, 1.2345678, 1.234569, 1.23458, -1.23457}) {
    EXPECT_FALSE(is_rounded(1.23456789, written)) << written;
  }
  EXPECT_FALSE(is_rounded(300.002, 300.001));
  EXPECT_TRUE(is_rounded(1234567.8, 1.23457e6));
  EXPECT_FALSE(is_rounded(1700200000, 1700199000));
  EXPECT_FALSE(is_rounded(1700199600, 1700200000));  // whole numbers are written in full
  EXPECT_TRUE(is_rounded(0.3, 0.1 + 0.2));
  EXPECT_TRUE(is_rounded(0.1, static_cast<double>(0.1F)));
  EXPECT_TRUE(is_rounded(0, -0.0));
  EXPECT_FALSE(is_rounded(1e-300, 0));
}

// With an index or without, and whichever column it is of.
TEST(RowMatch, RowsAreFoundAsIfAllWereCompared) {
  Stream stream(3, Purpose::kTest);
  std::string csv = "a,b,c\n";
  for (int row = 0; row < 300; ++row) {
    const std::size_t a = stream.below(8);
    csv += fmt::format("{},{:.6g},{}\n", a == 0 ? "" : fmt::format("site {}", a), 1 + 1e-6 * stream.uniform() * 40,
                       stream.below(4) == 0 ? "x" : std::to_string(stream.below(3)));
  }
  const Table known = parse_csv(csv, "known");
  for (const std::vector<std::string>& names : {std::vector<std::string>{"a", "c"}, {"a", "b", "c"}, {"b"}, {}}) {
    for (const CellRule is_same : {CellRule{same_cell}, CellRule{rounded_cell}}) {
      const RowFinder finder(known, names, is_same);
      for (std::size_t row = 0; row < known.num_rows; row += 7) {
        Rows equal;
        for (std::size_t k = 0; k < known.num_rows; ++k) {
          if (std::ranges::all_of(known.find(names), [&](auto* c) { return equal_cell(*c, k, *c, row); })) {
            equal.push_back(k);
          }
        }
        ASSERT_EQ(finder.find(known, row), equal);
      }
    }
  }
  const RowFinder near(known, {"b"}, same_cell);
  Rows same;
  const Table other = parse_csv("b\n1.00000512345\n", "other");
  for (std::size_t k = 0; k < known.num_rows; ++k) {
    if (same_number(known.column("b").values[k], 1.00000512345)) {
      same.push_back(k);
    }
  }
  EXPECT_GT(same.size(), 10U);
  EXPECT_LT(same.size(), 290U);
  EXPECT_EQ(near.find(other, 0), same);
}

TEST(RowMatch, APartOfAColumnOfTextMayBeNumbers) {
  const Table table = parse_csv("t\n0.5\nn.d.\n\"\"\n 2\n", "t");
  Column numbers = picked_rows(table, Rows{3, 2, 0}).columns[0];
  take_for_numbers(numbers);
  EXPECT_FALSE(numbers.is_text());
  EXPECT_EQ(numbers.number(0), 2);
  EXPECT_TRUE(numbers.is_missing(1));
  EXPECT_EQ(numbers.number(2), 0.5);
  Column texts = picked_rows(table, Rows{0, 1}).columns[0];
  take_for_numbers(texts);
  EXPECT_TRUE(texts.is_text());
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
  EXPECT_EQ(refusal("a,b\n1,2\n3,4\n3.00001,4\n5,6\n5,7\n"),
            "row 5: a = 5, b = 7 was not asked for; it was asked for b = 6");
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
