// Tables as people have them, and worse: each is read or refused in words, never both, and never with a crash. What is
// read is judged by the columns it gives to a fit of 'y'.
#include <gtest/gtest.h>
#include <zlib.h>

#include <fstream>

#include "dissent/base/error.hpp"
#include "dissent/table/csv.hpp"
#include "dissent/table/encoding_fit.hpp"
#include "dissent/table/read_table.hpp"
#include "dissent/table/text_file.hpp"
#include "support/temp_dir.hpp"

namespace dissent {
namespace {

bool contains(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

// The features that a fit of 'y' would have, joined by '|'; or why there is none.
std::string outcome(const std::string& text) {
  try {
    const Table table = parse_csv(text, "t.csv");
    table.column("y");
    const FittedEncoding fitted = fit_encoding({.targets = {"y"}}, table);
    fitted.encoding.matrix(table);
    return fmt::format("{}", fmt::join(fitted.encoding.features(), "|"));
  } catch (const InputError& error) {
    return error.what();
  }
}

// `count` rows like "1,1".
std::string rows(int count, const std::string& other = "") {
  std::string text;
  for (int k = 0; k < count; ++k) {
    text += fmt::format("{},{}\n", k, k) + (k == 5 ? other : "");
  }
  return text;
}

struct Case {
  const char* name;
  std::string text;
  std::string says;  // a part of the outcome
};

const std::vector<Case>& cases() {
  using namespace std::string_literals;
  static const std::vector<Case> list{
      {"empty file", "", "is empty"},
      {"blank lines", "\n\n\r\n", "is empty"},
      {"only a header", "x,y\n", "x"},
      {"a row too short", "x,y\n1,2\n3\n", "t.csv:3:2: expected 2 fields, found 1"},
      {"a row too long", "x,y\n1,2\n3,4,5\n", "expected 2 fields, found 3"},
      {"a note below the table", "x,y\n1,2\n\nmeasured by hand\n", "expected 2 fields, found 1"},
      {"byte order mark", "\xEF\xBB\xBFx,y\n1,2\n", "x"},
      {"byte order mark before a quote", "\xEF\xBB\xBF\"x\",y\n1,2\n", "x"},
      {"UTF-16, little end first", "\xFF\xFEx\0,\0y\0\n\0"s, "save it as UTF-8"},
      {"UTF-16, big end first", "\xFE\xFF\0x\0,\0y\0\n"s, "save it as UTF-8"},
      {"UTF-32", "\xFF\xFE\0\0x\0\0\0"s, "save it as UTF-8"},
      {"zero byte in a cell", "x,y\n1\0,2\n"s, "zero byte"},
      {"zero byte in quotes", "x,y\n\"1\0\",2\n"s, "zero byte"},
      {"old Macintosh line ends", "x,y\r1,2\r", "carriage return"},
      {"mixed line ends", "x,y\r\n1,2\n3,4\r\n", "x"},
      {"no line end at the end", "x,y\n1,2", "x"},
      {"spaces around names", " x , y\n1,2\n", "x"},
      {"names twice", "x,x,y\n1,2,3\n", "'x' occurs twice"},
      {"names that differ by case", "x,X,y\n1,2,3\n", "x|X"},
      {"no name, as R has it", "\"\",x,y\n\"1\",1,2\n\"2\",2,3\n", "x"},
      {"row names of texts, as R has them", "\"\",x,y\n\"Fiat\",1,2\n\"Audi\",2,3\n", "x"},
      {"no name, as pandas has it", ",x,y\n0,1,2\n1,2,3\n", "x"},
      {"a name that pandas made", "Unnamed: 0,x,y\n0,1,2\n1,2,3\n", "x"},
      {"no names at the end", "x,y,,\n1,2,,\n3,4,,\n", "x"},
      {"only columns without names", ",y\n1,2\n", "no column is left as input"},
      {"no header", "1,2\n3,4\n", "its first line holds numbers only"},
      {"columns named by numbers", "400,410,y\n1,2,3\n", "400|410"},
      {"a name with quotes", "\"5\"\" pipe\",y\n1,2\n", "5\" pipe"},
      {"a quote inside of a bare name", "5\" pipe,y\n1,2\n", "5\" pipe"},
      {"a name with a line break", "\"a\nb\",y\n1,2\n", "a\nb"},
      {"a name that is a formula", "=1+1,y\n1,2\n", "=1+1"},
      {"a name in Greek", "\xCE\xB8,y\n1,2\n", "\xCE\xB8"},
      {"bytes that are no UTF-8", "\xE9t\xE9,y\n1,2\n", "\xC3\xA9t\xC3\xA9"},
      {"a quote that never ends", "x,y\n\"1,2\n", "is never closed"},
      {"text behind a quote", "x,y\n\"1\"2,3\n", "text follows a closing quote"},
      {"semicolons", "x;y\n1;2\n", "x"},
      {"tabs", "x\ty\n1\t2\n", "x"},
      {"semicolons and commas in names", "depth, m;salt, g;y\n1;2;3\n", "depth, m|salt, g"},
      {"decimal commas", "x;y\n1,5;2,5\n-0,25;3\n", "x"},
      {"decimal commas and points in one column",
       "x;y\n" +
           [] {
             std::string text;
             for (int k = 0; k < 20; ++k) {
               text += fmt::format("{}{}5;1\n", k, k == 3 ? ',' : '.');
             }
             return text;
           }(),
       "'x' is numbers but for text ('3,5' in row 4)"},
      {"a number beyond float64", "x,y\n1e999,2\n", "outside the range of float64"},
      {"infinity", "x,y\ninf,2\n1,2\n", "is not a finite number"},
      {"one word among numbers", "x,y\n" + rows(20, "abc,1\n"), "'x' is numbers but for text ('abc' in row 7)"},
      {"thousands in groups",
       "x,y\n" +
           [] {
             std::string text;
             for (int k = 0; k < 20; ++k) {
               text += fmt::format("\"{},{}\",1\n", k, 100 + k);
             }
             return text;
           }(),
       "'x' is numbers but for text ('0,100' in row 1)"},
      {"units in the cells", "x,y\n" + rows(20, "12 mg,1\n"), "text ('12 mg' in row 7)"},
      {"a comment among numbers", "x,y\n" + rows(20, "# bad,1\n"), "text ('# bad' in row 7)"},
      {"missing cells in every spelling", "x,y\n1,1\nNA,1\nn/a,1\nNULL,1\n?,1\n#N/A,1\n-,1\n,1\nNaN,1\n",
       "x|x missing"},
      {"a column of missing cells", "x,z,y\n1,NA,1\n2,,1\n", "x"},
      {"missing cells alone", "x,y\nNA,1\n", "no column is left as input"},
      {"two orders of dates", "d,x,y\n2020-01-01,1,1\n1.2.2020,2,2\n",
       "'d' has dates of more than one style ('1.2.2020' in row 2)"},
      {"dates that nobody can tell", "d,y\n01/02/2020,1\n03/04/2020,2\n", "nothing tells the day from the month"},
      {"a day that is none", "d,x,y\n2020-02-30,1,1\n2020-02-28,2,2\n", "d=2020-02-28|d=2020-02-30|x"},
      {"words for true and false, mixed", "b,y\nyes,1\nTRUE,2\n", "b=TRUE|b=yes"},
      {"one category", "k,y\na,1\na,2\n", "k: 'a' in every row, left out"},
      {"categories and numbers mixed", "k,y\n1,1\n2,2\nother,3\n", "k=1|k=2|k=other"},
      {"a category called as the rest is", "k,x,y\nother,1,1\n,2,2\n", "k=other|k missing|x"},
      {"a cell of a megabyte", "x,k,y\n1," + std::string(std::size_t{1} << 20, 'a') + ",2\n2,b,3\n", "x|k="},
      {"a record beyond all measure", "x,y\n1," + std::string((std::size_t{1} << 24) + 10, '1') + "\n", "'111"},
      {"ten thousand columns",
       [] {
         std::string header = "y";
         std::string row = "1";
         for (int k = 0; k < 10000; ++k) {
           header += fmt::format(",c{}", k);
           row += ",1";
         }
         return header + "\n" + row + "\n";
       }(),
       "c0|c1|"},
      {"no target", "x,z\n1,2\n", "has no column 'y'; it has: x, z"},
  };
  return list;
}

TEST(HostileTable, IsReadOrRefusedInWords) {
  for (const Case& one : cases()) {
    const std::string found = outcome(one.text);
    EXPECT_TRUE(contains(found, one.says)) << one.name << ": " << found.substr(0, 300);
  }
  EXPECT_GE(cases().size(), 50U);
}

std::string gzip(const std::string& text) {
  z_stream stream{};
  deflateInit2(&stream, 9, Z_DEFLATED, 15 + 16, 9, Z_DEFAULT_STRATEGY);
  std::string packed(deflateBound(&stream, text.size()) + 64, '\0');
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(text.data()));
  stream.avail_in = static_cast<uInt>(text.size());
  stream.next_out = reinterpret_cast<Bytef*>(packed.data());
  stream.avail_out = static_cast<uInt>(packed.size());
  deflate(&stream, Z_FINISH);
  const std::size_t size = stream.total_out;
  deflateEnd(&stream);
  return packed.substr(0, size);
}

void write_bytes(const std::string& path, const std::string& bytes) { std::ofstream(path, std::ios::binary) << bytes; }

TEST(PackedTable, IsReadWholeOrRefused) {
  const TempDir dir;
  const std::string path = dir.file("t.csv.gz");
  const std::string text = "x,y\n" + rows(20000);
  const std::string packed = gzip(text);
  write_bytes(path, packed);
  EXPECT_EQ(read_table(path).num_rows, 20000U);
  write_bytes(path, gzip("x,y\n1,2\n") + gzip("3,4\n"));  // two parts, as `cat` makes them
  EXPECT_EQ(read_table(path).num_rows, 2U);
  write_bytes(path, gzip("x,y\n1,2\n") + std::string(512, '\0'));  // as tapes pad
  EXPECT_EQ(read_table(path).num_rows, 1U);
  const auto refusal = [&] { return message_of<InputError>([&] { read_table(path); }); };
  for (const std::size_t length : {std::size_t{2}, std::size_t{9}, packed.size() / 2, packed.size() - 1}) {
    write_bytes(path, packed.substr(0, length));
    EXPECT_TRUE(contains(refusal(), "cut short")) << length << ": " << refusal();
  }
  write_bytes(path, packed + "x");
  EXPECT_TRUE(contains(refusal(), "1 bytes behind what gzip packed")) << refusal();
  write_bytes(path, packed + std::string(4, '\0') + packed);
  EXPECT_TRUE(contains(refusal(), "behind what gzip packed")) << refusal();
  std::string damaged = packed;
  damaged[packed.size() / 2] = static_cast<char>(damaged[packed.size() / 2] ^ 0x55);
  write_bytes(path, damaged);
  EXPECT_TRUE(contains(refusal(), "is damaged") || contains(refusal(), "cut short")) << refusal();
  write_bytes(path, text);
  EXPECT_TRUE(contains(refusal(), "is not packed by gzip"));
  write_bytes(path, "");
  EXPECT_TRUE(contains(refusal(), "is not packed by gzip"));
  const std::string bomb = gzip(std::string(std::size_t{1} << 24, '0'));
  EXPECT_LT(bomb.size(), 100000U);
  EXPECT_TRUE(contains(message_of<InputError>([&] { unpack_gzip(std::as_bytes(std::span(bomb)), "bomb", 1 << 20); }),
                       "holds more than 1048576 bytes"));
}

TEST(PackedTable, IsWrittenAsGzipReadsIt) {
  const auto unpacked = [](const std::string& packed) {
    return unpack_gzip(std::as_bytes(std::span(packed)), "t.csv.gz");
  };
  for (const std::string& text : {std::string(), std::string("x,y\n1,2\n"), "x,y\n" + rows(200000)}) {
    EXPECT_EQ(unpacked(pack_gzip(text)), text);
  }
  EXPECT_EQ(pack_gzip("x,y\n"), pack_gzip("x,y\n"));
}

TEST(TextTable, TabsAreTheDelimiterOfTsv) {
  const TempDir dir;
  write_bytes(dir.file("t.tsv"), "a,b\ty\n1\t2\n");
  EXPECT_EQ(read_table(dir.file("t.tsv")).columns.front().name, "a,b");
  write_bytes(dir.file("t.tsv.gz"), gzip("a,b\ty\n1\t2\n"));
  EXPECT_EQ(read_table(dir.file("t.tsv.gz")).columns.front().name, "a,b");
  write_bytes(dir.file("t.txt"), "a,b\n1,2\n");
  EXPECT_TRUE(contains(message_of<InputError>([&] { read_table(dir.file("t.txt")); }),
                       "a table must end in .csv, .tsv, .npz, .h5 or .hdf5"));
}

TEST(TextTable, NamesSurviveAnyCopy) {
  const std::string text = "\"a;b\",\"c\td\",\"e\"\"f\",\"g,h\",\";;;;\",400,y\n1,2,3,4,5,6,7\n";
  const Table table = parse_csv(text, "t.csv");
  const Table copy = parse_csv(format_csv(table), "copy.csv");
  ASSERT_EQ(copy.columns.size(), table.columns.size());
  for (std::size_t k = 0; k < copy.columns.size(); ++k) {
    EXPECT_EQ(copy.columns[k].name, table.columns[k].name);
  }
  const Table one = parse_csv(format_csv(parse_csv("\"a;b\"\n1\n", "t.csv")), "copy.csv");
  EXPECT_EQ(one.columns.front().name, "a;b");
}

TEST(TextTable, AMissingColumnIsNamedWithTheNearest) {
  const Table table = parse_csv("price,weight\n1,2\n", "t.csv");
  EXPECT_EQ(message_of<InputError>([&] { table.column("prise"); }),
            "t.csv: has no column 'prise'; did you mean 'price'?");
  const std::vector<std::string> names{"a", "price", "b"};
  EXPECT_EQ(message_of<InputError>([&] { table.find(names); }),
            "t.csv: has no columns 'a', 'b'; it has: price, weight");
  const Table numbers = parse_csv("1,2\n3,4\n", "t.csv");
  EXPECT_TRUE(contains(message_of<InputError>([&] { numbers.column("y"); }), "its first line holds numbers only"));
}

}  // namespace
}  // namespace dissent
