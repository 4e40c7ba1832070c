// What a column is judged to be where people make mistakes: dates of several styles, options that are misspelt, rows
// without targets, row numbers and columns that say the same in every row.
#include "dissent/table/encoding_fit.hpp"

#include <gtest/gtest.h>

#include <functional>

#include "dissent/base/error.hpp"
#include "dissent/table/csv.hpp"
#include "dissent/table/encoded_rows.hpp"
#include "support/temp_dir.hpp"
#include "table/encoding_samples.hpp"

namespace dissent {
namespace {

using namespace test;

std::string dated(const char* row, int num_rows = 40) {
  std::string text = "when,x,y\n";
  for (int day = 0; day < num_rows; ++day) {
    text += fmt::format(fmt::runtime(row), day % 30 + 1, 3 + day / 30);
  }
  return text;
}

constexpr const char* kIsoRow = "2024-{1:02}-{0:02},1,1\n";
constexpr const char* kGermanRow = "{0}.{1}.2024,1,1\n";
constexpr const char* kUsRow = "{1}/{0}/2024,1,1\n";

TEST(TableEncoding, EachTableWritesDatesInItsOwnStyle) {
  const Table iso = table_of(dated(kIsoRow));
  const FittedEncoding plain = fit_encoding({.targets = {"y"}}, iso, &iso);
  for (const char* row : {kGermanRow, kUsRow}) {
    const Table pool = table_of(dated(row), "pool.csv");
    const FittedEncoding fit = fit_encoding({.targets = {"y"}}, iso, &pool);
    EXPECT_EQ(fit.encoding, plain.encoding);
    EXPECT_EQ(fit.encoding.matrix(pool), plain.encoding.matrix(iso));
    EXPECT_EQ(fit_encoding({.targets = {"y"}}, pool, &iso).encoding.matrix(iso), plain.encoding.matrix(iso));
  }
  const Table unclear = table_of("when,x\n1/2/2024,1\n3/4/2024,1\n", "pool.csv");
  EXPECT_TRUE(contains(message_of<InputError>([&] { fit_encoding({.targets = {"y"}}, iso, &unclear); }),
                       "'when' has dates like 1/2/2024"));
}

TEST(TableEncoding, DatesWithMistakesAmongThemAreRefused) {
  const auto with = [](const std::string& cell, int num_rows) {
    return dated(kIsoRow, 3) + cell + ",1,1\n" + dated(kIsoRow, num_rows).substr(9);
  };
  for (const int num_rows : {40, 5}) {
    const std::string message = refusal(with("2024-13-45", num_rows));
    EXPECT_TRUE(contains(message, "'when' is dates but for text ('2024-13-45' in row 4); correct it")) << message;
    EXPECT_TRUE(contains(refusal(with("unknown", num_rows)), "'when' is dates but for text ('unknown' in row 4)"));
    EXPECT_TRUE(
        contains(refusal(with("30.4.2024", num_rows)), "has dates of more than one style ('30.4.2024' in row 4)"));
  }
  const Table iso = table_of(dated(kIsoRow));
  const Table pool = table_of(with("soon", 40), "pool.csv");
  const std::string message = message_of<InputError>([&] { fit_encoding({.targets = {"y"}}, iso, &pool); });
  EXPECT_TRUE(message.starts_with("pool.csv: 'when' is dates but for text ('soon' in row 4)")) << message;
}

TEST(TableEncoding, MistakesAreLaidToTheirFile) {
  const auto of = [](const std::string& name, const std::string& a, const std::string& b) {
    std::string text = "a,b,y\n";
    for (int row = 0; row < 30; ++row) {
      text += fmt::format("{},{},{}\n", row == 7 ? a : std::to_string(row), row == 9 ? b : std::to_string(row), row);
    }
    return table_of(text, name);
  };
  const auto message = [](const ColumnOptions& columns, const Table& labelled, const Table& pool) {
    return message_of<InputError>([&] { fit_encoding(columns, labelled, &pool); });
  };
  const Table good = of("lab.csv", "1", "2");
  const ColumnOptions plain{.targets = {"y"}};
  EXPECT_EQ(message(plain, good, of("pool.csv", "<5", "2")),
            "pool.csv: 'a' is numbers but for text ('<5' in row 8); correct it, or leave the column out with ignore");
  EXPECT_EQ(message(plain, of("lab.csv", "<5", "2"), of("pool.csv", "1", "<7")),
            "lab.csv: 'a' is numbers but for text ('<5' in row 8); pool.csv: 'b' is numbers but for text ('<7' in row "
            "10); correct them, or leave the column out with ignore");
  const Table letters = table_of("k,x,y\np,1,1\nq,2,2\n", "lab.csv");
  EXPECT_TRUE(message({.targets = {"y"}, .order = {{"k=p", "q"}}}, letters, table_of("k,x\nz,1\n", "pool.csv"))
                  .starts_with("pool.csv: order has no place for z of 'k'"));
  EXPECT_TRUE(message({.targets = {"y"}, .order = {{"k=p", "q"}}}, table_of("k,x,y\nz,1,1\nq,2,2\n", "lab.csv"),
                      table_of("k,x\nz,1\n", "pool.csv"))
                  .starts_with("lab.csv: order has no place for z of 'k'; correct it"));
  EXPECT_TRUE(message({.targets = {"y"}, .order = {{"k=p", "q"}}}, table_of("k,x,y\nz,1,1\nq,2,2\n", "lab.csv"),
                      table_of("k,x\nw,1\nz,1\n", "pool.csv"))
                  .starts_with("lab.csv: order has no place for z of 'k'; pool.csv: order has no place for w of 'k'"));
  EXPECT_TRUE(message(plain, table_of("when,x,y\n,1,1\n,2,2\n", "lab.csv"),
                      table_of("when,x\n1/2/2024,1\n3/4/2024,1\n", "pool.csv"))
                  .starts_with("pool.csv: 'when' has dates like 1/2/2024"));
  const Table units = table_of("w,x,y\n1 mm,1,1\n2 mm,2,2\n", "lab.csv");
  std::string millimetres = "w,x\n";
  for (int row = 0; row < 40; ++row) {
    millimetres += fmt::format("{} mm,1\n", row);
  }
  EXPECT_TRUE(
      message(plain, units, table_of(millimetres, "pool.csv")).starts_with("lab.csv: 'w' is numbers with signs"));
}

TEST(TableEncoding, DoubtsAreOfRowsWithTargetsAndNamedByTheirRowOfTheFile) {
  const auto with_commas = [](const std::map<int, std::string>& doubted) {
    std::string text = "a;x;y\n";
    for (int row = 0; row < 12; ++row) {
      text += fmt::format("{};{};{}\n", doubted.contains(row) ? doubted.at(row) : "2.5", row, row < 3 ? "" : "1");
    }
    return parse_csv(text, "t.csv");
  };
  const auto message = [&](const std::map<int, std::string>& doubted) {
    return message_of<InputError>([&] { fit_encoding({.targets = {"y"}}, with_commas(doubted)); });
  };
  const std::string second = message({{2, "5,678"}, {6, "1,234"}});
  EXPECT_TRUE(message({{6, "1,234"}}).starts_with("t.csv: 'a' in row 7: '1,234' may be thousands or a fraction"));
  EXPECT_TRUE(second.starts_with("t.csv: 'a' in row 7: '1,234' may be thousands or a fraction")) << second;
  for (const char* others : {"2.5", "2.345"}) {
    EXPECT_EQ(fit_encoding({.targets = {"y"}}, with_commas({{2, "1,234"}, {7, others}})).encoding.features().back(),
              "x");
  }
}

TEST(TableEncoding, PointsInDoubtCountOnlyInRowsWithTargets) {
  const auto with_point_in = [](int doubted) {
    std::string text = "a;x;y\n";
    for (int row = 0; row < 12; ++row) {
      text += fmt::format("{};{},5;{}\n", row == doubted ? "1.234" : "450", row, row < 3 ? "" : "1");
    }
    return parse_csv(text, "t.csv");
  };
  const auto fit = [&](int doubted) { return fit_encoding({.targets = {"y"}}, with_point_in(doubted)); };
  const std::string message = message_of<InputError>([&] { fit(6); });
  EXPECT_TRUE(message.starts_with("t.csv: 'a' in row 7: '1.234' may be thousands or a fraction, beside")) << message;
  EXPECT_EQ(fit(2).encoding.features().back(), "x");
}

TEST(TableEncoding, NumbersThatAreNotReadAreRefusedInSmallTablesToo) {
  const auto message = [](const char* text) { return message_of<InputError>([&] { fitted(text); }); };
  EXPECT_TRUE(contains(message("w,x,y\n7 mm,1,1\n14 mm,2,2\n21 mm,3,3\n"), "'w' is numbers with signs or units"));
  EXPECT_TRUE(contains(message_of<InputError>([] {
                         fit_encoding({.targets = {"y"}}, parse_csv("w;y\n1,5;1\n1.5;2\n2,5;3\n3,5;5\n", "t.csv"));
                       }),
                       "some with a decimal comma and some with a point"));
  EXPECT_EQ(fitted("k,x,y\n1,1,1\nA1,2,2\n<5,3,3\n").encoding.features(), (Names{"k=1", "k=<5", "k=A1", "x"}));
  EXPECT_EQ(fitted("k,x,y\n5%,1,1\n10%,2,2\n5%,3,3\n10%,4,4\n").encoding.features(), (Names{"k=10%", "k=5%", "x"}));
}

TEST(TableEncoding, SpreadsheetsWriteTrueInTheirLanguage) {
  EXPECT_EQ(fitted("wet,x,y\nWAHR,1,1\nFALSCH,2,2\n").told, (Names{"wet: true or false, as 1 or 0"}));
  const FittedEncoding fit = fitted("wet,x,y\nTRUE,1,1\nFALSE,2,2\n");
  EXPECT_EQ(fit.encoding.matrix(table_of("wet,x\nvrai,5\nFALSCH,6\n")), (std::vector<double>{1, 5, 0, 6}));
}

TEST(TableEncoding, OneOfTwoLettersIsNoBoolean) {
  EXPECT_EQ(fitted("sex,x,y\nF,1,1\nM,2,2\n").told, (Names{"sex: 2 categories, one-hot"}));
  EXPECT_EQ(fitted("sex,x,y\nF,1,1\n,2,2\n").encoding.features(), (Names{"sex=F", "sex missing", "x"}));
  EXPECT_EQ(fitted("wet,x,y\nyes,1,1\n,2,2\n").encoding.features(), (Names{"wet", "wet missing", "x"}));
  EXPECT_EQ(fitted("wet,x,y\nt,1,1\nF,2,2\n").told, (Names{"wet: true or false, as 1 or 0"}));
}

TEST(TableEncoding, WhatIsNeitherTrueNorFalseIsMissing) {
  const FittedEncoding fit = fitted("wet,x,y\nyes,1,1\nno,2,2\n,3,3\n");
  Names told;
  EXPECT_EQ(fit.encoding.matrix(table_of("wet,x\nmaybe,5\nyes,6\n"), &told), (std::vector<double>{0, 1, 5, 1, 0, 6}));
  EXPECT_EQ(told, (Names{"wet: 'maybe' not seen in the fit (1 row), taken for missing"}));
}

TEST(TableEncoding, EachOrderIsReadByItself) {
  const std::string text = "cut,clarity,x,y\nFair,SI2,1,1\nGood,I1,2,2\n";
  const FittedEncoding fit = fitted(text, {.targets = {"y"}, .order = {{"cut=Fair", "Good"}, {"clarity=I1", "SI2"}}});
  EXPECT_EQ(fit.told, (Names{"cut: Fair < Good as 0 to 1", "clarity: I1 < SI2 as 0 to 1"}));
  const Names together{"cut=Fair", "Good", "clarity=I1", "SI2"};
  EXPECT_EQ(fitted(text, {.targets = {"y"}, .order = {together}}).told, fit.told);
  EXPECT_EQ(refusal(text, {.targets = {"y"}, .order = {{"cut=Fair", "Good"}, {"Clarity=I1", "SI2"}}}),
            "t.csv: has no column 'Clarity'; did you mean 'clarity'?");
  EXPECT_TRUE(contains(refusal(text, {.targets = {"y"}, .order = {{"cut=Fair"}, {"Good"}}}),
                       "order = Good; write a column and its categories"));
  EXPECT_TRUE(contains(refusal(text, {.targets = {"y"}, .order = {{"cut=Fair"}, {"cut=Good"}}}),
                       "order = cut=Good; the column has its categories already"));
}

TEST(TableEncoding, RowsWithoutTargetsDoNotShapeIt) {
  const std::string all = "bill,kind,note,y\n1,a,7,1\nNA,new,<5,NA\n4,b,8,3\n9,,6,\n3,a,9,4\n";
  const std::string labelled = "bill,kind,note,y\n1,a,7,1\n4,b,8,3\n3,a,9,4\n";
  const FittedEncoding fit = fitted(all);
  const FittedEncoding expected = fitted(labelled);
  EXPECT_EQ(fit.encoding, expected.encoding);
  EXPECT_EQ(fit.told, expected.told);
  Names told;
  Names none;
  EXPECT_EQ(encoded_rows(table_of(all), fit.encoding, {"y"}, told).inputs,
            encoded_rows(table_of(labelled), fit.encoding, {"y"}, none).inputs);
  EXPECT_EQ(told, (Names{"t.csv: 2 rows without y, left out"}));
  EXPECT_TRUE(none.empty());
}

TEST(TableEncoding, CategoriesWrittenAsNumbersKeepTheirNames) {
  const FittedEncoding fit = fitted("site,x,y\n01,1,1\n02,2,2\nK,3,3\n");
  Names told;
  EXPECT_EQ(encoded_rows(table_of("site,x,y\n02,5,1\nK,6,NA\n"), fit.encoding, {"y"}, told).inputs,
            (std::vector<double>{0, 1, 0, 5}));
}

TEST(TableEncoding, MistakesAreNamedByTheirRowInTheFile) {
  std::string text = "a,y\n0,NA\n";
  for (int row = 0; row < 20; ++row) {
    text += fmt::format("{},1\n", row == 5 ? "<5" : std::to_string(100 * row));
  }
  EXPECT_TRUE(contains(refusal(text), "'a' is numbers but for text ('<5' in row 7)")) << refusal(text);
  EXPECT_TRUE(contains(refusal("a,y\n0,NA\n1,1\ninf,2\n"), "column 'a' row 3"));
  const Table infinite = table_of("a,y\n0,NA\n1,1\ninf,2\n");
  Names told;
  EXPECT_TRUE(contains(message_of<InputError>([&] { encoded_rows(infinite, {{{.column = "a"}}}, {"y"}, told); }),
                       "column 'a' row 3"));
}

// A table of 30 rows with one column by row, and a target.
std::string column_of(const std::string& name, const std::function<std::string(int)>& cell) {
  std::string text = name + ",x,y\n";
  for (int row = 0; row < 30; ++row) {
    text += fmt::format("{},{},{}\n", cell(row), row % 7, row);
  }
  return text;
}

TEST(TableEncoding, MeasurementsThatAreNotReadAreRefusedAndNotTakenForIdentifiers) {
  const std::vector<std::pair<const char*, std::function<std::string(int)>>> written{
      {"'<0.5' in row 1", [](int row) { return row % 4 == 0 ? "<0.5" : fmt::format("{}.25", row); }},
      {"'0.5 mm' in row 1", [](int row) { return fmt::format("{}.5 mm", row); }},
      {"'\u20ac15' in row 1", [](int row) { return fmt::format("\u20ac{}", 15 + row); }},
      {"'\u22120.0' in row 1", [](int row) { return fmt::format("\u2212{}.{}", row, row % 10); }},
      {"'~0.4' in row 1", [](int row) { return fmt::format("~{}.4", row); }},
  };
  for (const auto& [cell, column] : written) {
    const std::string message = refusal(column_of("a", column));
    EXPECT_TRUE(contains(message, fmt::format("'a' is numbers with signs or units, which are not read ({})", cell)))
        << cell << ": " << message;
  }
}

TEST(TableEncoding, DecimalCommasAmongPointsAreSaid) {
  const auto mixed = [](int row) { return fmt::format(fmt::runtime(row % 5 == 0 ? "\"{},64\"" : "{}.64"), row); };
  EXPECT_TRUE(contains(refusal(column_of("a", mixed)),
                       "'a' is numbers but for text ('0,64' in row 1), some with a decimal comma "
                       "and some with a point"));
}

TEST(TableEncoding, RowsOfAPoolThatAreMeasuredAreTold) {
  const Table pool = table_of("x,y\n1,1\n2,NA\n3,\n");
  Names told;
  tell_measured(pool, {"y"}, told);
  EXPECT_EQ(told, (Names{"t.csv: 1 row has y already, and may be chosen again; give a pool without it"}));
  tell_measured(pool, {"y", "z"}, told);
  tell_measured(table_of("x,y\n1,1\n2,2\n"), {"y"}, told);  // answers, all of them
  tell_measured(table_of("x,y\n1,\n2,\n"), {"y"}, told);
  EXPECT_EQ(told.size(), 1U);
}

TEST(TableEncoding, TimesThatAreNotReadAreRefusedAndNotTakenForIdentifiers) {
  const std::vector<std::pair<const char*, std::function<std::string(int)>>> written{
      {"'14:00' in row 1", [](int row) { return fmt::format("14:{:02}", row); }},
      {"'1-Feb-2024' in row 1", [](int row) { return fmt::format("{}-Feb-2024", row + 1); }},
      {"'Feb 1, 2024' in row 1", [](int row) { return fmt::format("\"Feb {}, 2024\"", row + 1); }},
      {"'01.02.24' in row 1", [](int row) { return fmt::format("{:02}.02.24", row + 1); }},
      {"'01/01/2024 05:00 AM' in row 1", [](int row) { return fmt::format("01/{:02}/2024 05:00 AM", row + 1); }},
  };
  for (const auto& [cell, column] : written) {
    const std::string message = refusal(column_of("a", column));
    EXPECT_TRUE(contains(message, fmt::format("2020-03-01 14:05, which are not read ({})", cell)))
        << cell << ": " << message;
  }
}

TEST(TableEncoding, IdentifiersWithNumbersAreStillLeftOut) {
  for (const char* style :
       {"S-{:03}",    "{0}-{0:03}",      "{:03}/24",   "64-{}-5",       "run {}",      "{0:03}x{0}",
        "2024-{:03}", "192.168.0.{}",    "1.0.{}",     "555.123.{:04}", "230{:02}A",   "3{:02}L",
        "{} A{}",     "101{:02} Berlin", "{} Main St", "{0} rep{0}",    "{:03}-00-00", "{0}-octanol 99",
        "{}b",        "{} mmX",          "({:03}) 5",  "{:03}:99"}) {
    const FittedEncoding fit =
        fitted(column_of("a", [&](int row) { return fmt::format(fmt::runtime(style), row, row); }));
    EXPECT_EQ(fit.told, (Names{"a: 30 different texts in 30 rows, left out"})) << style;
  }
}

TEST(TableEncoding, MeasurementsThatRepeatOrAreNamedAreCategories) {
  const std::string levels = column_of("a", [](int row) { return fmt::format("{} mm", 8 + row % 12); });
  EXPECT_EQ(fitted(levels).encoding.columns[0].levels.size(), 12U);
  const std::string hours = column_of("a", [](int row) { return fmt::format("{}:00", row % 24); });
  EXPECT_EQ(fitted(hours, {.targets = {"y"}, .inputs = {"a"}}).encoding.columns[0].levels.size(), 24U);
}

TEST(TableEncoding, RowNumbersAreTold) {
  std::string text = "t,ID,x,y\n";
  for (int row = 0; row < 12; ++row) {
    text += fmt::format("{},{},{},{}\n", row, row + 1, row + 2, row == 3 ? "NA" : "1");
  }
  const FittedEncoding fit = fitted(text);
  EXPECT_EQ(fit.told, (Names{"t: 0, 1, 2, ..., looks like row numbers; leave it out if it is",
                             "ID: 1, 2, 3, ..., looks like row numbers; leave it out if it is"}));
  EXPECT_EQ(fit.encoding.features(), (Names{"t", "ID", "x"}));
  const FittedEncoding named = fitted(text, {.targets = {"y"}, .inputs = {"t", "ID"}});
  EXPECT_TRUE(named.told.empty());
  EXPECT_EQ(named.encoding.features(), (Names{"t", "ID"}));
  EXPECT_TRUE(fitted("id,y\n1,1\n2,2\n3,3\n").told.empty());  // too few to tell
}

TEST(TableEncoding, WhatIsTheSameInEveryRowIsLeftOut) {
  const std::string text = "util,wet,half,x,y\nAll,yes,a,1,1\nAll,yes,,2,2\n";
  EXPECT_EQ(fitted(text).told, (Names{"util: 'All' in every row, left out", "wet: 'yes' in every row, left out",
                                      "half: 1 category, one-hot; 1 missing, marked"}));
  EXPECT_EQ(fitted(text, {.targets = {"y"}, .inputs = {"util"}}).encoding.features(), (Names{"util=All"}));
  const Table pool = table_of("util,wet,half,x\nNone,yes,a,1\n");
  EXPECT_EQ(fit_encoding({.targets = {"y"}}, table_of(text), &pool).told.front(), "util: 2 categories, one-hot");
}

TEST(TableEncoding, ManyCategoriesShareALine) {
  const FittedEncoding fit =
      fitted("a,b,wet,c,d,e,f,g,y\n1x,p,yes,p,p,p,p,p,1\n2x,q,no,q,q,q,q,q,2\n3x,q,no,q,q,q,q,q,2\n");
  EXPECT_EQ(fit.told, (Names{"a, b, c, d, e, f, g: categories, one-hot (3, 2, 2, 2, 2, 2 and 2)",
                             "wet: true or false, as 1 or 0"}));
}

}  // namespace
}  // namespace dissent
