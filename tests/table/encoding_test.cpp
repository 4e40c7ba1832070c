#include "dissent/table/encoding.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "dissent/base/error.hpp"
#include "dissent/table/csv.hpp"
#include "dissent/table/date.hpp"
#include "dissent/table/encoded_rows.hpp"
#include "dissent/table/encoding_fit.hpp"
#include "dissent/table/own_columns.hpp"
#include "support/temp_dir.hpp"
#include "table/encoding_samples.hpp"

namespace dissent {
namespace {

using namespace test;

TEST(TableEncoding, NumbersAreThemselvesToTheBit) {
  const Table table = table_of("a,b,y\n0.1,1e-300,1\n-3,2,2\n");
  const FittedEncoding fit = fit_encoding({.targets = {"y"}}, table);
  EXPECT_TRUE(fit.encoding.is_plain());
  EXPECT_TRUE(fit.encoding.kept().empty());
  EXPECT_TRUE(fit.told.empty());
  EXPECT_EQ(fit.encoding.features(), (Names{"a", "b"}));
  EXPECT_EQ(fit.encoding.matrix(table), table.matrix(Names{"a", "b"}));
}

TEST(TableEncoding, CategoriesAreOneHot) {
  const Table table = table_of("cut,x,y\nIdeal,1,1\nFair,2,2\n Ideal ,3,3\n");
  const FittedEncoding fit = fit_encoding({.targets = {"y"}}, table);
  EXPECT_EQ(fit.told, (Names{"cut: 2 categories, one-hot"}));
  EXPECT_EQ(fit.encoding.features(), (Names{"cut=Fair", "cut=Ideal", "x"}));
  EXPECT_EQ(fit.encoding.matrix(table), (std::vector<double>{0, 1, 1, 1, 0, 2, 0, 1, 3}));
  EXPECT_EQ(fit.encoding.cell_text(0, std::vector<double>{0, 1, 3}), "Ideal");
}

TEST(TableEncoding, WhatTheFitNeverSawHasAnAnswerAndIsTold) {
  const FittedEncoding fit = fitted("cut,x,y\nIdeal,1,1\nFair,2,2\nFair,4,2\n");
  Names told;
  const std::vector<double> rows = fit.encoding.matrix(table_of("x,cut\n,Super\n5,\n"), &told);
  EXPECT_EQ(rows, (std::vector<double>{0, 0, 2, 0, 0, 5}));
  EXPECT_EQ(told, (Names{"cut: 'Super' not seen in the fit (1 row), taken for none of its categories",
                         "cut: 1 missing, none in the fit, taken for none of its categories",
                         "x: 1 missing, none in the fit, filled with 2"}));
}

TEST(TableEncoding, MissingCellsAreFilledWithTheMedianAndMarked) {
  const FittedEncoding fit = fitted("Ozone,kind,y\n1,a,1\nNA,b,2\n4,NA,3\nnan,a,4\n2,?,5\n,null,6\n");
  EXPECT_EQ(fit.told, (Names{"Ozone: 3 missing, filled with the median 2 and marked",
                             "kind: 2 categories, one-hot; 3 missing, marked"}));
  EXPECT_EQ(fit.encoding.features(), (Names{"Ozone", "Ozone missing", "kind=a", "kind=b", "kind missing"}));
  EXPECT_EQ(fit.encoding.matrix(table_of("Ozone,kind\nN/A,b\n7,na\n")),
            (std::vector<double>{2, 1, 0, 1, 0, 7, 0, 0, 0, 1}));
}

TEST(TableEncoding, BooleansDatesAndOrders) {
  const Table table =
      table_of("smoker,when,cut,y\nTRUE,2020-03-01,Good,1\nfalse,2020-03-03 12:00,Fair,2\nTrue,2020-02-29,Ideal,3\n");
  const FittedEncoding fit = fit_encoding({.targets = {"y"}, .order = {{"cut=Fair", "Good", "Ideal"}}}, table);
  EXPECT_EQ(fit.told, (Names{"smoker: true or false, as 1 or 0", "when: days since 2020-02-29",
                             "cut: Fair < Good < Ideal as 0 to 2"}));
  EXPECT_EQ(fit.encoding.features(), (Names{"smoker", "when", "cut"}));
  EXPECT_EQ(fit.encoding.matrix(table), (std::vector<double>{1, 1, 1, 0, 3.5, 0, 1, 0, 2}));
  EXPECT_EQ(fit.encoding.cell_text(1, std::vector<double>{1, 1, 1}), "2020-03-01");
  EXPECT_EQ(fit.encoding.cell_text(2, std::vector<double>{1, 1, 1}), "Good");
  Names told;
  EXPECT_EQ(fit.encoding.matrix(table_of("smoker,when,cut\n0,2020-03-01,Super\n"), &told),
            (std::vector<double>{0, 1, 1}));
  EXPECT_EQ(told, (Names{"cut: 'Super' not seen in the fit (1 row), taken for missing"}));
}

TEST(TableEncoding, ColumnsThatTellNothingAreLeftOut) {
  std::string text = ",name,empty,x,y\n";
  for (int row = 0; row < 30; ++row) {
    text += fmt::format("{0},who{0},NA,{1},1\n", row + 1, 2 * row);
  }
  const FittedEncoding fit = fitted(text);
  EXPECT_EQ(fit.told, (Names{"column 1: a column without a name, left out",
                             "name: 30 different texts in 30 rows, left out", "empty: no values, left out"}));
  EXPECT_EQ(fit.encoding.features(), (Names{"x"}));
  const FittedEncoding named = fitted(text, {.targets = {"y"}, .inputs = {"column 1", "x"}});
  EXPECT_EQ(named.encoding.features(), (Names{"column 1", "x"}));
}

TEST(TableEncoding, RareCategoriesShareAFeature) {
  std::string text = "k,y\n";
  for (int row = 0; row < 400; ++row) {
    text += fmt::format("v{},1\n", row % 80 < 40 ? row % 40 : row % 80);
  }
  const FittedEncoding fit = fitted(text);
  EXPECT_EQ(fit.told, (Names{"k: 80 categories, the 49 most frequent one-hot, others as 'other'"}));
  EXPECT_EQ(fit.encoding.features().size(), 50U);
  Names told;
  EXPECT_EQ(fit.encoding.matrix(table_of("k\nnever\n"), &told).back(), 1);
  EXPECT_TRUE(told.empty());  // rare or new: nobody can tell any more
}

TEST(TableEncoding, ThePoolsCategoriesCount) {
  const Table labelled = table_of("k,x,y\na,1,1\nb,2,2\n");
  const Table pool = table_of("k,x\na,\nc,3\n");
  const FittedEncoding fit = fit_encoding({.targets = {"y"}}, labelled, &pool);
  EXPECT_EQ(fit.encoding.features(), (Names{"k=a", "k=b", "k=c", "x", "x missing"}));
  EXPECT_EQ(fit.told.back(), "x: 0 missing and 1 in the pool, filled with the median 1.5 and marked");
}

TEST(TableEncoding, AllRefusedColumnsAreNamedAtOnce) {
  std::string text = "a,when,x,y\n";
  for (int row = 0; row < 30; ++row) {
    text += fmt::format("{},{:02}/{:02}/2020,{},1\n", row == 7 ? "<5" : std::to_string(row), row % 12 + 1, row % 11 + 1,
                        row);
  }
  const std::string message = refusal(text);
  EXPECT_TRUE(contains(message, "'a' is numbers but for text ('<5' in row 8)")) << message;
  EXPECT_TRUE(contains(message, "'when' has dates like 01/01/2020")) << message;
  EXPECT_TRUE(contains(message, "leave the column out with ignore")) << message;
  EXPECT_TRUE(contains(refusal("k,x,y\na,1,1\nb,2,2\n", {.targets = {"y"}, .order = {{"k=a", "c"}}}),
                       "order has no place for b of 'k'"));
}

TEST(TableEncoding, NamesOfFeaturesAreAllDifferent) {
  const FittedEncoding fit = fitted("a,a=b,a missing,y\nb,1,1,1\nc,2,2,2\n,3,3,3\n");
  EXPECT_EQ(fit.encoding.features(), (Names{"a=b_", "a=c", "a missing_", "a=b", "a missing"}));
}

TEST(TableEncoding, ReadsBackFromJson) {
  const FittedEncoding fit = fitted("k,when,\"a \"\"b\",x,y\na,2020-01-01,yes,1,1\nb,2021-01-01,no,,2\n",
                                    {.targets = {"y"}, .ids = {}, .order = {}});
  EXPECT_EQ(parse_encoding(format_encoding(fit.encoding)), fit.encoding);
  for (const char* text : {"", "[]", "{}", "{\"columns\":[{}]}", "{\"columns\":[{\"column\":\"a\",\"kind\":\"x\"}]}",
                           "{\"columns\":[{\"column\":\"a\",\"kind\":\"ordered\"}]}",
                           "{\"columns\":[{\"column\":\"a\",\"kind\":\"category\"}]}",
                           "{\"columns\":[{\"column\":\"a\",\"kind\":\"date\",\"order\":7}]}"}) {
    EXPECT_THROW(parse_encoding(text), InputError) << text;
  }
}

TEST(TableEncoding, CodesKeepTheirSpellingInATableOfDigits) {
  const FittedEncoding fit = fitted("g,y\n01,1\n02,2\nA1,3\n");
  Names told;
  EXPECT_EQ(fit.encoding.matrix(table_of("g\n01\n02\n"), &told), (std::vector<double>{1, 0, 0, 0, 1, 0}));
  EXPECT_TRUE(told.empty()) << told.front();
  const Table labelled = table_of("g,y\n01,1\n02,2\nA1,3\n");
  for (const char* digits : {"g\n01\n02\n", "g\n1.0\n2.0\n"}) {  // the second is numerically the same
    const Table pool = table_of(digits);
    EXPECT_EQ(fit_encoding({.targets = {"y"}}, labelled, &pool).told, (Names{"g: 3 categories, one-hot"}));
  }
  const Table both = table_of("g,y\n01,1\n1,2\nA1,3\n");
  EXPECT_EQ(fit_encoding({.targets = {"y"}}, both).encoding.matrix(table_of("g\n1\n01\n1.0\n"), &told),
            (std::vector<double>{0, 1, 0, 1, 0, 0, 0, 0, 0}));
  EXPECT_EQ(told, (Names{"g: '1.0' not seen in the fit (1 row), taken for none of its categories"}));
}

TEST(TableEncoding, OrdersAndBooleansOfDigits) {
  for (const char* levels : {"g=01", "g=1"}) {
    const ColumnOptions options{.targets = {"y"}, .order = {{levels, "02", "03"}}};
    const FittedEncoding fit = fitted("g,y\n03,1\n02,2\n01,3\n", options);
    EXPECT_EQ(fit.encoding.matrix(table_of("g\n1\n02\n3.0\n")), (std::vector<double>{0, 1, 2}));
  }
  EXPECT_EQ(fitted("b,y\nyes,1\nno,2\n").encoding.matrix(table_of("b\n1.0\n0.0\n")), (std::vector<double>{1, 0}));
}

TEST(TableEncoding, ThousandsAreRefusedWithARemedy) {
  const ColumnOptions options{.targets = {"y"}};
  const Table table = table_of("n;y\n731;1\n875;2\n1,234;3\n");
  const std::string why = message_of<InputError>([&] { fit_encoding(options, table); });
  EXPECT_TRUE(contains(why, "'n' in row 3: '1,234' may be thousands")) << why;
  const Table commas = table_of("n;y\n7,5;1\n8;2\n");
  Names told;
  EXPECT_EQ(fit_encoding(options, commas).encoding.matrix(commas, &told), (std::vector<double>{7.5, 8}));
  EXPECT_EQ(told, (Names{"t.csv: commas are read as decimal marks: 7,5 of 'n' is 7.5"}));
}

TEST(EncodedRows, RowsWithoutTargetsAreLeftOutAndTold) {
  const Table table = table_of("x,y\n1,10\n2,NA\n3,30\n4,nan\n");
  Names told;
  const EncodedRows rows = encoded_rows(table, fit_encoding({.targets = {"y"}}, table).encoding, {"y"}, told);
  EXPECT_EQ(rows.inputs, (std::vector<double>{1, 3}));
  EXPECT_EQ(rows.targets, (std::vector<double>{10, 30}));
  EXPECT_EQ(told, (Names{"t.csv: 2 rows without y, left out"}));
  const Table none = table_of("x,y\n1,NA\n");
  EXPECT_EQ(
      message_of<InputError>([&] { encoded_rows(none, fit_encoding({.targets = {"y"}}, none).encoding, {"y"}, told); }),
      "t.csv: no row has its targets (y)");
}

TEST(Dates, AreReadAndWritten) {
  const struct {
    const char* text;
    DateOrder order;
    double days;
  } cases[] = {
      {"1970-01-01", DateOrder::kYearFirst, 0},
      {"1970-01-02T12:00", DateOrder::kYearFirst, 1.5},
      {"1969-12-31", DateOrder::kYearFirst, -1},
      {"2000/03/01", DateOrder::kYearFirst, 11017},
      {"1.3.2000", DateOrder::kDayFirst, 11017},
      {"01/03/2000", DateOrder::kDayFirst, 11017},
      {"03/01/2000", DateOrder::kMonthFirst, 11017},
      {"1970-01-01 02:00:00+02:00", DateOrder::kYearFirst, 0},
      {"1970-01-01T06:00:00Z", DateOrder::kYearFirst, 0.25},
  };
  for (const auto& [text, order, days] : cases) {
    EXPECT_EQ(parse_date(text, order), days) << text;
  }
  for (const char* text : {"2000-02-30", "2000-13-01", "00-1-1", "2000-1", "2000-01-01x", "2000-01-01T25:99", "1.2", "",
                           "2000-01-01T", "12-2000-01"}) {
    EXPECT_FALSE(parse_date(text, DateOrder::kYearFirst)) << text;
  }
  EXPECT_EQ(date_text(11017), "2000-03-01");
  EXPECT_EQ(date_text(-0.5), "1969-12-31 12:00");
  EXPECT_EQ(date_text(1 + 31.0 / 86'400), "1970-01-02 00:00:31");
  EXPECT_TRUE(judge_dates(Names{"01/02/2000", "03/04/2001"}).ambiguous);
  EXPECT_EQ(judge_dates(Names{"01/02/2000", "13/04/2001"}).order, DateOrder::kDayFirst);
  EXPECT_EQ(judge_dates(Names{"01/02/2000", "04/13/2001"}).order, DateOrder::kMonthFirst);
  EXPECT_FALSE(judge_dates(Names{"2000-01-01", "3.4.2001"}).are_dates);
}

TEST(OwnColumns, MakeRoomForTheUsers) {
  EXPECT_EQ(own_columns({"row", "score", "why"}, {"score", "score_", "x"}), (Names{"row", "score__", "why"}));
}

}  // namespace
}  // namespace dissent
