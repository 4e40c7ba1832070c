#include "dissent/table/pool_file.hpp"

#include <gtest/gtest.h>

#include <limits>

#include "dissent/array/npz.hpp"
#include "dissent/base/error.hpp"
#include "support/temp_dir.hpp"

namespace dissent {
namespace {

constexpr std::size_t kRows = 20'000;  // more than are read at a time

// a = row, b = -row, as an archive with a matrix [kRows, 2].
std::string write_archive(const TempDir& dir, double odd = -17) {
  std::vector<double> values;
  for (std::size_t row = 0; row < kRows; ++row) {
    values.insert(values.end(), {static_cast<double>(row), row == 17 ? odd : -static_cast<double>(row)});
  }
  const std::string path = dir.file("p.npz");
  write_npz(path, {{"x", ArrayView(std::span<const double>(values), {kRows, 2})}});
  return path;
}

TEST(PoolFile, AnArchiveAndATableHandOutTheSameRows) {
  const TempDir dir;
  const PoolFile archive(write_archive(dir));
  std::string text = "x0,x1,note\n";
  for (std::size_t row = 0; row < kRows; ++row) {
    text += fmt::format("{},{},n{}\n", row, -static_cast<double>(row), row);
  }
  const PoolFile table(dir.write("p.csv", text));
  for (const PoolFile* pool : {&archive, &table}) {
    EXPECT_EQ(pool->num_rows(), kRows);
    EXPECT_TRUE(pool->has("x1"));
    EXPECT_FALSE(pool->has("x2"));
    std::vector<double> some(2 * 10'000);
    pool->read({"x1", "x0"}, 5'000, 15'000, some);
    EXPECT_EQ(some[0], -5'000);
    EXPECT_EQ(some.back(), 14'999);
    EXPECT_EQ(pool->pick({"x0"}, std::vector<std::size_t>{19'999, 3}), (std::vector<double>{19'999, 3}));
    EXPECT_EQ(pool->table(std::vector<std::size_t>{4, 2}).column("x1").values, (std::vector<double>{-4, -2}));
  }
  EXPECT_EQ(table.table(std::vector<std::size_t>{7}).column("note").text, std::vector<std::string>{"n7"});
}

TEST(PoolFile, SaysWhereAValueIsThatIsNoNumber) {
  const TempDir dir;
  const auto picked = [](const std::string& path, const char* name) {
    return message_of<InputError>([&] { PoolFile(path).pick({name}, std::vector<std::size_t>{17}); });
  };
  const std::string archive = write_archive(dir, std::numeric_limits<double>::quiet_NaN());
  EXPECT_EQ(picked(archive, "x1"), archive + ": column 'x1' row 18: 'nan' is not a finite number");
  EXPECT_EQ(picked(archive, "y"), archive + ": has no column 'y'; it has: x0, x1");
  std::vector<double> all(kRows);
  EXPECT_EQ(message_of<InputError>([&] { PoolFile(archive).read({"x1"}, 0, kRows, all); }),
            archive + ": column 'x1' row 18: 'nan' is not a finite number");
  EXPECT_EQ(message_of<InputError>([&] { PoolFile{dir.write("e.csv", "a,b\n")}; }),
            dir.file("e.csv") + ": has no rows");
}

TEST(PoolFile, RowsPassTheCheckWithTheirNumbersInTheFile) {
  const TempDir dir;
  PoolFile pool(write_archive(dir));
  std::vector<std::size_t> seen;
  pool.set_check([&](std::span<const double> rows, const PoolFile::RowNumber& row_of) {
    for (std::size_t k = 0; k < rows.size(); ++k) {
      EXPECT_EQ(rows[k], static_cast<double>(row_of(k)));
      seen.push_back(row_of(k));
    }
  });
  pool.pick({"x0"}, std::vector<std::size_t>{5, 9'000});
  EXPECT_EQ(seen, (std::vector<std::size_t>{5, 9'000}));
  seen.clear();
  std::vector<double> out(9'000);
  pool.read({"x0"}, 1'000, 10'000, out);
  EXPECT_EQ(seen.size(), 9'000U);
  EXPECT_EQ(seen.front(), 1'000U);
  pool.set_check([](std::span<const double>, const PoolFile::RowNumber&) { fail("no"); });
  EXPECT_EQ(message_of<InputError>([&] { pool.pick({"x0"}, std::vector<std::size_t>{1}); }), "no");
}

}  // namespace
}  // namespace dissent
