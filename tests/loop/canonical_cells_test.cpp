#include "dissent/loop/canonical_cells.hpp"

#include <gtest/gtest.h>

#include "dissent/loop/row_match.hpp"
#include "dissent/table/csv.hpp"
#include "dissent/table/date.hpp"

namespace dissent {
namespace {

std::vector<std::string> rewritten(const ColumnCode& code, const std::string& csv) {
  return canonical_cells(parse_csv(csv, "t"), {.columns = {code}}).columns.front().text;
}

TEST(CanonicalCells, BooleansByMeaning) {
  const ColumnCode code{.column = "b", .kind = ColumnKind::kBoolean};
  const std::vector<std::string> expected{"true", "false"};
  for (const char* csv : {"b\nTRUE\nFALSE\n", "b\nTrue\nFalse\n", "b\n1\n0\n", "b\n yes\nno \n"}) {
    EXPECT_EQ(rewritten(code, csv), expected) << csv;
  }
  EXPECT_EQ(rewritten(code, "b\nmaybe\nno\n").front(), "maybe");
}

TEST(CanonicalCells, DatesByDay) {
  const ColumnCode code{.column = "d", .kind = ColumnKind::kDate, .date_order = DateOrder::kYearFirst};
  const std::vector<std::string> expected{"2024-08-16", "2024-03-01"};
  for (const char* csv : {"d\n2024-08-16\n2024-03-01\n", "d\n16.08.2024\n1.3.2024\n", "d\n8/16/2024\n3/1/2024\n",
                          "d\n2024-08-16 00:00:00\n2024/03/01\n"}) {
    EXPECT_EQ(rewritten(code, csv), expected) << csv;
  }
  EXPECT_EQ(rewritten(code, "d\n1/3/2024\n"), std::vector<std::string>{"1/3/2024"});  // March or January
  EXPECT_EQ(rewritten(code, "d\n2024-08-16 14:30:15\n"), std::vector<std::string>{"2024-08-16 14:30:15"});
}

TEST(CanonicalCells, DatesStayReadableForTheEncoding) {
  for (const DateOrder order : {DateOrder::kDayFirst, DateOrder::kMonthFirst}) {
    const ColumnCode code{.column = "d", .kind = ColumnKind::kDate, .date_order = order};
    const std::string text = rewritten(code, "d\n2024-08-16 14:30\n").front();
    EXPECT_EQ(parse_date(text, order), parse_date("2024-08-16 14:30", DateOrder::kYearFirst)) << text;
  }
}

TEST(CanonicalCells, MissingCellsAndOtherColumnsStay) {
  const ColumnCode code{.column = "b", .kind = ColumnKind::kBoolean};
  const Table table = canonical_cells(parse_csv("b,site\nTRUE,True\n,x\n", "t"), {.columns = {code}});
  EXPECT_TRUE(table.columns[0].is_missing(1));
  EXPECT_EQ(table.columns[1].text.front(), "True");
}

TEST(CanonicalCells, RowsAreFoundAgainHoweverTheyAreWritten) {
  const TableEncoding encoding{
      .columns = {{.column = "wet", .kind = ColumnKind::kBoolean}, {.column = "day", .kind = ColumnKind::kDate}}};
  const Table asked = canonical_cells(parse_csv("wet,day\nFALSE,2024-08-16\nTRUE,2024-08-16\n", "asked"), encoding);
  const Table echo = canonical_cells(parse_csv("wet,day\nTrue,16.08.2024\nFalse,16.08.2024\n", "echo"), encoding);
  EXPECT_EQ(match_rows(echo, asked), (std::vector<std::size_t>{1, 0}));
}

}  // namespace
}  // namespace dissent
