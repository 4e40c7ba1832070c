#include "dissent/table/csv.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <clocale>
#include <cmath>
#include <cstring>
#include <fstream>
#include <iterator>
#include <limits>

#include "dissent/base/error.hpp"
#include "dissent/table/text_bytes.hpp"
#include "support/full_disk.hpp"
#include "support/property.hpp"
#include "support/temp_dir.hpp"

namespace dissent {
namespace {

using Values = std::vector<double>;
using Text = std::vector<std::string>;

bool contains(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

Table parse(std::string_view text) { return parse_csv(text, "t.csv"); }

std::string refusal(std::string_view text, CsvOptions options = {}) {
  return message_of<InputError>([&] { parse_csv(text, "t.csv", options); });
}

TEST(CsvReader, NumbersInEverySpelling) {
  const Table table = parse("a,b,c\n1,-2.5,+3e2\n .5 ,1e-7, \"4\"\n\"6\",1E5,7.\n");
  EXPECT_EQ(table.num_rows, 3U);
  EXPECT_EQ(table.column("a").values, (Values{1, 0.5, 6}));
  EXPECT_EQ(table.column("b").values, (Values{-2.5, 1e-7, 1e5}));
  EXPECT_TRUE(table.column("c").is_text());  // a quote after a space is a character like any other
  const Table special = parse("x\nnan\n-NaN\nINF\n-infinity\n+inf\n0x10\n");
  EXPECT_TRUE(special.column("x").is_text());
  EXPECT_EQ(special.column("x").first_text_row, 5U);
  const Column words = parse("x\nnan\n-NaN\nINF\n-infinity\n+inf\n").columns[0];
  EXPECT_TRUE(std::isnan(words.values[0]) && std::isnan(words.values[1]));
  EXPECT_EQ(words.values[2], std::numeric_limits<double>::infinity());
  EXPECT_EQ(words.values[3], -std::numeric_limits<double>::infinity());
  EXPECT_EQ(words.values[4], std::numeric_limits<double>::infinity());
  EXPECT_TRUE(words.missing_rows.empty());
  for (const char* text : {"NA", "1.5.2", "nan(1)", "+-1", "++1", "1 2", "e5", "-", "+", "0x1p3", "1,5"}) {
    double value = 0;
    EXPECT_EQ(parse_cell(text, value), NumberText::kText) << text;
  }
}

TEST(CsvReader, TheLocaleDoesNotMatter) {
  const std::string before = std::setlocale(LC_ALL, nullptr);
  for (const char* locale : {"de_DE.UTF-8", "fr_FR.UTF-8", "C.UTF-8"}) {
    std::setlocale(LC_ALL, locale);
    EXPECT_EQ(parse("x\n1.5\n").columns[0].values, Values{1.5});
  }
  std::setlocale(LC_ALL, before.c_str());
}

TEST(CsvReader, QuotingLineEndsAndByteOrderMark) {
  const Table table = parse("\xEF\xBB\xBF\"x, \"\"y\"\"\",city\r\n1,\"Bern,\r\n \"\"BE\"\"\"\r\n2,\r\n\r\n3,Ge\"nf");
  ASSERT_EQ(table.columns.size(), 2U);
  EXPECT_EQ(table.columns[0].name, "x, \"y\"");
  EXPECT_EQ(table.columns[0].values, (Values{1, 2, 3}));
  EXPECT_EQ(table.column("city").text, (Text{"Bern,\r\n \"BE\"", "", "Ge\"nf"}));
  EXPECT_EQ(table.column("city").missing_rows, std::vector<std::size_t>{1});
  EXPECT_TRUE(table.column("city").values.empty());
}

TEST(CsvReader, DelimiterIsFoundOrGiven) {
  EXPECT_EQ(parse("a;b\n1;2\n").columns[1].values, Values{2});
  EXPECT_EQ(parse("a\tb\n1\t2\n").columns[1].values, Values{2});
  EXPECT_EQ(parse("\"a,b,c\";d\n1;2\n").columns[1].name, "d");
  EXPECT_EQ(parse("alone\n1\n").columns.size(), 1U);
  EXPECT_EQ(parse("price;amount\n1,5;2\n").column("price").values, Values{1.5});
  EXPECT_EQ(parse_csv("a|b\n1|2\n", "t", {.delimiter = '|'}).columns[1].values, Values{2});
  EXPECT_TRUE(contains(refusal("a\n1\n", {.delimiter = 'e'}), "cannot be the delimiter"));
}

TEST(CsvReader, MissingIsRememberedApartFromNan) {
  const Table table = parse("a,b\n,1\nnan,2\n\"\",3\n  ,\n");
  EXPECT_EQ(table.column("a").missing_rows, (std::vector<std::size_t>{0, 2, 3}));
  EXPECT_EQ(table.column("b").missing_rows, std::vector<std::size_t>{3});
  for (const double value : table.column("a").values) {
    EXPECT_TRUE(std::isnan(value));
  }
}

TEST(CsvReader, HeaderAloneIsATableWithoutRows) {
  for (const char* text : {"a,b", "a,b\n", "a,b\r\n\r\n", "\n\na,b\n"}) {
    const Table table = parse(text);
    EXPECT_EQ(table.num_rows, 0U);
    EXPECT_EQ(table.columns.size(), 2U);
    EXPECT_TRUE(table.matrix(Text{"a", "b"}).empty());
  }
}

TEST(CsvReader, ErrorsSayWhere) {
  EXPECT_EQ(refusal("a,b,c\n1,2,3\n\n1,2\n"), "t.csv:4:4: expected 3 fields, found 2");
  EXPECT_EQ(refusal("a,b\n1,2,3,\"x\n,\"\n"), "t.csv:2:5: expected 2 fields, found 4");
  EXPECT_EQ(refusal("a,b\n1,\"x\ny\"\n3\n"), "t.csv:4:2: expected 2 fields, found 1");
  EXPECT_EQ(refusal("a,b\n1,1e999\n"), "t.csv:2:3: '1e999' is outside the range of float64");
  EXPECT_EQ(refusal("a,b\n1,-1e-999\n"), "t.csv:2:3: '-1e-999' is outside the range of float64");
  EXPECT_EQ(refusal("a,b\n1,2\n3,\"never\n\n"), "t.csv:3:3: the quote opened here is never closed");
  EXPECT_TRUE(contains(refusal("a,b\n\"1\"x,2\n"), "t.csv:2:4: text follows a closing quote"));
  EXPECT_TRUE(contains(refusal(std::string_view("a,b\n1,2\0\n", 9)), "t.csv:2:4: zero byte"));
  EXPECT_TRUE(contains(refusal(std::string_view("a,b\n1,\"\0\"\n", 10)), "t.csv:2:4: zero byte"));
  EXPECT_TRUE(contains(refusal(std::string_view("a\0,b\n", 5)), "t.csv:1:2: zero byte"));
  EXPECT_TRUE(contains(refusal("a,b\r1,2\r"), "t.csv:1:4: carriage return without line feed"));
  EXPECT_TRUE(contains(refusal("a,b\n" + std::string(200, '1') + ",2\n", {.max_record_bytes = 100}),
                       "line is longer than 100 bytes"));
}

TEST(CsvReader, HeaderIsRequired) {
  EXPECT_EQ(refusal(""), "t.csv: is empty; a header line with column names is required");
  EXPECT_EQ(refusal("\xEF\xBB\xBF\n\r\n"), "t.csv: is empty; a header line with column names is required");
  EXPECT_EQ(message_of<InputError>([] { parse("1.5,2,nan\n3,4,5\n").column("y"); }),
            "t.csv: has no column 'y'; its first line holds numbers only; a header line with column names is required");
  EXPECT_EQ(refusal("1,2,1\n3,4,5\n"),
            "t.csv:1: column name '1' occurs twice; is the header line with column names missing?");
  EXPECT_EQ(refusal("a,b,a\n"), "t.csv:1: column name 'a' occurs twice; names must be unique");
  EXPECT_EQ(parse("a,,b\n").columns[1].name, "column 2");
  EXPECT_TRUE(parse("a,,b\n").columns[1].unnamed);
  EXPECT_EQ(parse("year,2020\n1,2\n").columns[1].name, "2020");
}

TEST(CsvReader, FileProblemsAreNamed) {
  const TempDir dir;
  EXPECT_TRUE(contains(message_of<InputError>([&] { read_csv(dir.path()); }), "is a directory"));
  EXPECT_TRUE(contains(message_of<InputError>([&] { read_csv(dir.file("no.csv")); }), "No such file"));
  EXPECT_TRUE(contains(message_of<InputError>([&] { read_csv(dir.write("e.csv", "")); }), "e.csv: is empty"));
}

TEST(Table, MatrixTakesNumbersOnly) {
  const Table table = parse("x,city,y,z\n1,Bern,2,\n3,Genf,4,5\n");
  EXPECT_EQ(table.matrix(Text{"y", "x"}), (Values{2, 1, 4, 3}));
  const auto refuse = [&](const char* name) { return message_of<InputError>([&] { table.matrix(Text{"x", name}); }); };
  EXPECT_EQ(refuse("city"), "t.csv: column 'city' row 1: 'Bern' is text; a number is required");
  EXPECT_EQ(refuse("z"), "t.csv: column 'z' row 1: the value is missing; a number is required");
  EXPECT_EQ(refuse("w"), "t.csv: has no column 'w'; it has: x, city, y, z");
  const std::vector<const Column*> found = table.find(Text{"z", "city"});
  EXPECT_EQ(found, (std::vector<const Column*>{&table.columns[3], &table.columns[1]}));
  EXPECT_TRUE(table.has("city"));
  EXPECT_FALSE(table.has("w"));
}

TEST(CsvWriter, WritesTheShortestExactForm) {
  const TempDir dir;
  CsvWriter writer(dir.file("w.csv"), {"plain", "a,b", " c ", "say \"x\""});
  writer.row(0.1, 0.1F, -7, "two\nlines");
  writer.row(1e300, 5e-324, std::size_t{18446744073709551615U}, "x;y");
  writer.row(std::nan(""), -std::numeric_limits<float>::infinity(), true, std::string("=1+1"));
  writer.missing();
  writer.row(1.0, 2.0, "");
  EXPECT_TRUE(dir.list().size() == 1 && dir.list()[0] != "w.csv");
  writer.commit();
  EXPECT_EQ(read_bytes(dir.file("w.csv")),
            "plain,\"a,b\",\" c \",\"say \"\"x\"\"\"\n"
            "0.1,0.1,-7,\"two\nlines\"\n"
            "1e+300,5e-324,18446744073709551615,x;y\n"
            "nan,-inf,1,=1+1\n"
            ",1,2,\"\"\n");
  EXPECT_EQ(dir.list(), Text{"w.csv"});
}

TEST(CsvWriter, RefusesRowsAndNamesThatCannotBeReadBack) {
  const TempDir dir;
  const std::string path = dir.file("w.csv");
  const auto refuse = [&](Text names) { return message_of<InputError>([&] { CsvWriter writer(path, names); }); };
  EXPECT_TRUE(contains(refuse({}), "has no columns"));
  EXPECT_TRUE(contains(refuse({"a", "a"}), "occurs twice"));
  EXPECT_TRUE(contains(refuse({"a", ""}), "column 2 has no name"));
  EXPECT_TRUE(contains(refuse({std::string("a\0", 2)}), "zero byte"));
  EXPECT_THROW(CsvWriter(path, {"a"}, {'|'}), InputError);
  EXPECT_THROW(CsvWriter(path, {"a"}, {',', true}), InputError);
  CsvWriter writer(path, {"a", "b"});
  EXPECT_EQ(message_of<InputError>([&] { writer.row(1); }),
            path + ": a row of 1 fields was written to a table of 2 columns");
  EXPECT_TRUE(contains(message_of<InputError>([&] { writer.commit(); }), "last row is not finished"));
}

TEST(CsvWriter, FullDiskLeavesNoFile) {
  const TempDir dir;
  const std::string path = dir.write("w.csv", "old\n");
  std::string message;
  {
    const FullDisk disk(8192);
    message = message_of<SystemError>([&] {
      CsvWriter writer(path, {"a"});
      for (int k = 0; k < 100000; ++k) {
        writer.row(k);
      }
      writer.commit();
    });
  }
  EXPECT_EQ(message, path + ": write failed: File too large");
  EXPECT_EQ(dir.list(), Text{"w.csv"});
  EXPECT_EQ(read_bytes(path), "old\n");
}

TEST(Csv, NumbersRoundTripToTheBit) {
  const TempDir dir;
  test::check_property(100, [&](const std::vector<std::uint64_t>& bits) {
    CsvWriter writer(dir.file("r.csv"), {"x", "narrow"});
    Values expected;
    for (const std::uint64_t word : bits) {
      double value = 0;
      std::memcpy(&value, &word, sizeof value);  // every float64 there is, NaN included
      expected.push_back(value);
      writer.row(value, static_cast<float>(word >> 40));
    }
    writer.commit();
    const Table table = read_csv(dir.file("r.csv"));
    RC_ASSERT(table.num_rows == bits.size());
    for (std::size_t k = 0; k < bits.size(); ++k) {
      const double value = table.columns[0].values[k];
      const bool same = std::isnan(value) ? std::isnan(expected[k]) : std::memcmp(&value, &expected[k], 8) == 0;
      RC_ASSERT(same);
      RC_ASSERT(static_cast<float>(table.columns[1].values[k]) == static_cast<float>(bits[k] >> 40));
    }
  });
}

TEST(Csv, TextAndMissingRoundTrip) {
  const TempDir dir;
  const auto field =
      rc::gen::container<std::string>(rc::gen::element('a', ',', '"', '\n', '\r', ';', ' ', '\t', '\xEF'));
  const auto as_read = [](const std::string& text) { return is_utf8(text) ? text : utf8_of_windows(text); };
  test::check_property(100, [&] {
    Table table;
    table.num_rows = *rc::gen::inRange<std::size_t>(1, 8);
    const std::size_t num_columns = *rc::gen::inRange<std::size_t>(1, 4);
    for (std::size_t k = 0; k < num_columns; ++k) {
      Column column;
      column.name = *field + "name" + std::to_string(k);
      for (std::size_t row = 0; row < table.num_rows; ++row) {
        column.text.push_back(*field);
        if (column.text.back().find_first_not_of(" \t") == std::string::npos) {
          column.text.back() = "";
          column.missing_rows.push_back(row);
        } else if (!column.first_text_row) {
          column.first_text_row = row;
        }
      }
      if (!column.is_text()) {  // nothing but missing values: numeric, as far as anyone can tell
        column.text.clear();
        column.values.assign(table.num_rows, std::nan(""));
      }
      table.columns.push_back(column);
    }
    std::ofstream(dir.file("t.csv")) << format_csv(table);
    const Table back = read_csv(dir.file("t.csv"), {.delimiter = ','});
    RC_ASSERT(back.num_rows == table.num_rows);
    RC_ASSERT(back.columns.size() == num_columns);
    for (std::size_t k = 0; k < num_columns; ++k) {
      RC_ASSERT(back.columns[k].name == as_read(table.columns[k].name));
      Text expected;
      std::ranges::transform(table.columns[k].text, std::back_inserter(expected), as_read);
      RC_ASSERT(back.columns[k].text == expected);
      RC_ASSERT(back.columns[k].missing_rows == table.columns[k].missing_rows);
      RC_ASSERT(back.columns[k].first_text_row == table.columns[k].first_text_row);
    }
  });
}

TEST(Csv, NumbersKeepTheirSpelling) {
  const std::string text =
      "id,a,b,c\n0001,1.50,+1,9007199254740993\n0002,0.0001,-0.10,100000\n10,+2.5,1E5,007\n3,.5,\"08\",4.0\n";
  const Table table = parse(text);
  EXPECT_EQ(table.column("id").values, (Values{1, 2, 10, 3}));
  EXPECT_EQ(table.column("b").values, (Values{1, -0.1, 1e5, 8}));
  EXPECT_EQ(format_csv(table),
            "id,a,b,c\n0001,1.50,+1,9007199254740993\n0002,0.0001,-0.10,100000\n10,+2.5,1E5,007\n"
            "3,.5,08,4.0\n");
  const std::vector<std::size_t> rows{3, 0};
  EXPECT_EQ(format_csv(picked_rows(table, rows)), "id,a,b,c\n3,.5,08,4.0\n0001,1.50,+1,9007199254740993\n");
  EXPECT_EQ(format_csv(parse("a;b\n1,50;NaN\n2,5; inf \n")), "a,b\n1.5,nan\n2.5,inf\n");
}

TEST(Csv, WhatIsWrittenAsItWasReadHasNoSpelling) {
  for (const double value :
       {0.0, -0.0, 1.0, 10000.0, 123456789012345.0, 0.1, 0.001, 0.25, -1234.5678, 1e5, 1e-4, 1e300}) {
    CsvText csv("t", {"a"});
    csv.field(value);
    csv.end_row();
    const Table table = parse(csv.text());
    EXPECT_FALSE(table.columns[0].spellings.of(0)) << csv.text();
    EXPECT_EQ(table.columns[0].values[0], value);
  }
  EXPECT_FALSE(parse("a\n1.000000000000000000e+00\n").columns[0].spellings.of(0));
}

TEST(CsvReader, ExcelsFirstLineNamesTheDelimiter) {
  for (const char* text : {"sep=;\na;b, m\n1,5;2\n", "\xEF\xBB\xBFsep=;\r\n\r\na;b, m\r\n1,5;2\r\n"}) {
    const Table table = parse(text);
    ASSERT_EQ(table.columns.size(), 2U);
    EXPECT_EQ(table.columns[0].values, Values{1.5});
    EXPECT_EQ(table.columns[1].name, "b, m");
  }
  EXPECT_EQ(parse("sep=|\na|b\n1|2\n").columns.size(), 2U);
  EXPECT_EQ(parse("sep=,b\n1,2\n").columns[0].name, "sep=");  // a name like any other
  EXPECT_EQ(parse_csv("sep=;\n1\n", "t.csv", {.delimiter = ','}).columns[0].name, "sep=;");
  EXPECT_EQ(message_of<InputError>([] { parse("sep=;\n"); }),
            "t.csv: is empty; a header line with column names is required");
  EXPECT_EQ(message_of<InputError>([] { parse("sep=;\na;b\n1\n"); }), "t.csv:3:2: expected 2 fields, found 1");
  EXPECT_NE(message_of<InputError>([] { parse("sep=5\na5b\n"); }).find("cannot be the delimiter"), std::string::npos);
}

TEST(CsvReader, TextThatIsNotUtf8IsThatOfWindows) {
  const Table table = parse(
      "Gr\xF6\xDF"
      "e,site\n1,K\xF6ln\n2,\x80 5 \x96 10\n3,\xC3\xBC\n");
  EXPECT_EQ(table.columns[0].name, "Größe");
  EXPECT_EQ(table.columns[1].text, (Text{"Köln", "€ 5 – 10", "ü"}));
  EXPECT_EQ(table.notes, Text{"t.csv: text that is not UTF-8 is read as Windows-1252 (Latin-1): 'Größe'"});
  EXPECT_TRUE(parse("Größe,site\n1,Köln\n").notes.empty());
  EXPECT_EQ(parse_csv("\xF6\n07\n", "t.csv", {.text_columns = {"ö"}}).columns[0].text, Text{"07"});
}

TEST(TextBytes, OnlyShortestFormsAreUtf8) {
  for (const char* text : {"", "plain", "ü", "€", "\xF0\x9F\x98\x80", "\xED\x9F\xBF", "\xF4\x8F\xBF\xBF"}) {
    EXPECT_TRUE(is_utf8(text)) << text;
  }
  for (const char* text : {"\xC3", "\xC3(", "\x80", "\xC0\xAF", "\xE0\x80\xAF", "\xED\xA0\x80", "\xF4\x90\x80\x80",
                           "\xF0\x80\x80\xAF", "\xE2\x82", "\xFF"}) {
    EXPECT_FALSE(is_utf8(text));
  }
  std::string all;
  for (int byte = 1; byte < 256; ++byte) {
    all += static_cast<char>(byte);
  }
  EXPECT_TRUE(is_utf8(utf8_of_windows(all)));
  EXPECT_EQ(utf8_of_windows("\x93\xFC\x94"), "“ü”");
}

// Numbers read back to the same bits, and none of them looks like thousands.
TEST(Csv, IsWrittenInTheStyleItCameIn) {
  const std::string text = "id;a;b;c\nx;1,2340;731;00,5\n\"y;\";731;1e-07;2,5\nz,;1,5e-07;;3\n";
  const Table table = parse(text);
  EXPECT_EQ(table.style, (TextStyle{';', true}));
  EXPECT_EQ(table.column("a").values, (Values{1.234, 731, 1.5e-7}));
  EXPECT_EQ(format_csv(table, table.style), "id;a;b;c\nx;1,2340;731;0,5\n\"y;\";731;1e-07;2,5\nz,;1,5e-07;;3\n");
  const Table again = parse(format_csv(table, table.style));
  for (const char* name : {"a", "c"}) {
    EXPECT_EQ(again.column(name).values, table.column(name).values);
  }
  EXPECT_EQ(again.column("id").text, table.column("id").text);
  EXPECT_EQ(again.column("b").missing_rows, table.column("b").missing_rows);
  EXPECT_EQ(parse("a;b\n1.5;2\n").style, (TextStyle{';', false}));
  EXPECT_EQ(parse("a;b\n1.5;2,5\n").style, (TextStyle{';', false}));  // points and commas: points are safe
  EXPECT_EQ(parse("a\tb\n1,5\t2\n").style, TextStyle());
  Table one = picked_rows(table, std::vector<std::size_t>{0, 1, 2});
  one.columns = {one.column("a")};
  EXPECT_EQ(format_csv(one, one.style), "a\n1.234\n731\n1.5e-07\n");  // a delimiter would not be seen
}

TEST(CsvReader, ColumnsOfTextAreTextWhateverTheyHold) {
  const Table table = parse_csv("a,b\n1,NA\n02,1e999\n,nan\n", "t.csv", {.text_columns = {"a", "b"}});
  EXPECT_EQ(table.column("a").text, (Text{"1", "02", ""}));
  EXPECT_EQ(table.column("a").missing_rows, (std::vector<std::size_t>{2}));
  EXPECT_EQ(table.column("b").text, (Text{"NA", "1e999", "nan"}));
  EXPECT_TRUE(table.column("b").missing_rows.empty());
  EXPECT_FALSE(parse_csv("a\n", "t.csv", {.text_columns = {"a"}}).columns[0].is_text());
}

TEST(CsvReader, PointsBesideDecimalCommasMayBeThousands) {
  const auto column_n = [](const char* rows) {
    return parse_csv(std::string("x;n\n") + rows, "t.csv", {.delimiter = ';'}).columns[1];
  };
  for (const char* rows : {"0,5;1.234\n0,7;450\n", "0,5;450\n0,7;1.234.567\n1,5;-2.250\n"}) {
    const std::string why = message_of<InputError>([&] { column_n(rows).check_numbers(); });
    EXPECT_TRUE(contains(why, "row 1: '1.234' may be thousands") || contains(why, "'1.234.567'")) << why;
  }
  // Fractions for certain, no decimal commas, or commas that may be thousands themselves.
  for (const char* rows :
       {"0,5;1.234\n0,7;0.5\n", "0,5;0.731\n0,7;0.250\n", "5;1.234\n7;2.250\n", "a,b;1.234\nc;450\n"}) {
    EXPECT_FALSE(column_n(rows).is_text()) << rows;
  }
}

TEST(CsvReader, ThousandsAreNotTakenForFractions) {
  for (const char* rows : {"731\n875\n1,234\n", "1,234\n2.5\n", "1,234\n1,234,567\n", "-1,234\n-500\n"}) {
    const Table table = parse_csv(std::string("n\n") + rows, "t.tsv", {.delimiter = '\t'});
    EXPECT_TRUE(table.columns[0].is_text()) << rows;
    const std::string why = message_of<InputError>([&] { table.columns[0].check_numbers(); });
    EXPECT_TRUE(contains(why, "1,234' may be thousands or a fraction")) << why;
    EXPECT_TRUE(table.notes.empty());
  }
  const Table words = parse("n;m\n731;1\n1,234;2\nBerlin;3\n");
  EXPECT_TRUE(words.column("n").is_text() && words.column("n").doubt.empty());
  const Table fractions = parse("n;m\n731;1\n1,234;2\n0,5;3\n");
  EXPECT_EQ(fractions.column("n").values, (Values{731, 1.234, 0.5}));
  EXPECT_EQ(fractions.notes, (Text{"t.csv: commas are read as decimal marks: 1,234 of 'n' is 1.234"}));
  EXPECT_EQ(parse("n;m\n1,234;1\n9,876;2\n").column("n").values, (Values{1.234, 9.876}));
}

}  // namespace
}  // namespace dissent
