#include "dissent/array/npy.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <limits>

#include "dissent/base/error.hpp"
#include "support/full_disk.hpp"
#include "support/property.hpp"
#include "support/temp_dir.hpp"

namespace dissent {
namespace {

bool contains(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

std::span<const std::byte> bytes_of(const std::string& text) { return std::as_bytes(std::span(text)); }

// A file made by hand: any version, any header text, any items.
std::string npy(const std::string& dict, const std::string& items, int version = 1) {
  std::string file = "\x93NUMPY";
  file += static_cast<char>(version);
  file += '\0';
  for (int k = 0; k < (version == 1 ? 2 : 4); ++k) {
    file += static_cast<char>(dict.size() >> (8 * k) & 0xFF);
  }
  return file + dict + items;
}

template <class T>
std::string items(std::initializer_list<T> values) {
  std::string out;
  for (const T value : values) {
    out.append(reinterpret_cast<const char*>(&value), sizeof value);
  }
  return out;
}

std::string dict(const std::string& descr, const std::string& shape, const std::string& order = "False") {
  return "{'descr': '" + descr + "', 'fortran_order': " + order + ", 'shape': " + shape + ", }\n";
}

std::string refusal(const std::string& file) {
  return message_of<InputError>([&] { parse_npy(bytes_of(file), "bad.npy"); });
}

TEST(Npy, HeaderIsTheOneNumpyWrites) {
  const std::string header = format_npy_header(DType::kFloat32, {3, 4});
  std::string expected = "\x93NUMPY";
  expected += std::string("\x01\x00\x76\x00", 4) + "{'descr': '<f4', 'fortran_order': False, 'shape': (3, 4), }";
  expected += std::string(127 - expected.size(), ' ') + "\n";
  EXPECT_EQ(header, expected);
  EXPECT_TRUE(contains(format_npy_header(DType::kInt64, {7}), "'shape': (7,), }"));
  EXPECT_TRUE(contains(format_npy_header(DType::kFloat64, {}), "'shape': (), }"));
  EXPECT_EQ(format_npy_header(DType::kFloat64, Shape(20, 100000)).size() % 64, 0U);
}

TEST(Npy, ReadsEveryNumberType) {
  const auto read = [](const std::string& descr, const std::string& data) {
    return parse_npy(bytes_of(npy(dict(descr, "(2,)"), data)), "x").to<double>();
  };
  using Values = std::vector<double>;
  EXPECT_EQ(read("<f4", items<float>({1.5F, -2})), (Values{1.5, -2}));
  EXPECT_EQ(read("<f8", items<double>({1e300, -2})), (Values{1e300, -2}));
  EXPECT_EQ(read("|i1", items<std::int8_t>({-128, 127})), (Values{-128, 127}));
  EXPECT_EQ(read("<i2", items<std::int16_t>({-32768, 5})), (Values{-32768, 5}));
  EXPECT_EQ(read("<i4", items<std::int32_t>({-2147483647 - 1, 5})), (Values{-2147483648.0, 5}));
  EXPECT_EQ(read("<i8", items<std::int64_t>({std::int64_t{1} << 53, -1})), (Values{0x1p53, -1}));
  EXPECT_EQ(read("|u1", items<std::uint8_t>({255, 0})), (Values{255, 0}));
  EXPECT_EQ(read("<u2", items<std::uint16_t>({65535, 0})), (Values{65535, 0}));
  EXPECT_EQ(read("<u4", items<std::uint32_t>({4294967295U, 0})), (Values{4294967295.0, 0}));
  EXPECT_EQ(read("<u8", items<std::uint64_t>({~std::uint64_t{0}, 0})), (Values{0x1p64, 0}));
  EXPECT_EQ(read("|b1", items<std::uint8_t>({7, 0})), (Values{1, 0}));
}

TEST(Npy, ReadsAllVersionsAndHeaderSpellings) {
  for (const int version : {1, 2, 3}) {
    const std::string file = npy(dict("<i4", "(1, 2)"), items<std::int32_t>({3, 4}), version);
    const Array array = parse_npy(bytes_of(file), "x");
    EXPECT_EQ(array.shape(), (Shape{1, 2}));
    EXPECT_EQ(array.to<float>(), (std::vector<float>{3, 4}));
  }
  const std::string odd = "{\"shape\":(2L,),\n 'fortran_order':True,'descr':\"<f4\"}";
  EXPECT_EQ(parse_npy(bytes_of(npy(odd, items<float>({3, 4}))), "x").to<float>(), (std::vector<float>{3, 4}));
}

TEST(Npy, ScalarsAndEmptyArraysAreLegal) {
  const Array scalar = parse_npy(bytes_of(npy(dict("<f8", "()"), items<double>({2.5}))), "x");
  EXPECT_TRUE(scalar.shape().empty());
  EXPECT_EQ(scalar.to<double>(), std::vector<double>{2.5});
  for (const std::string order : {"False", "True"}) {
    const Array empty = parse_npy(bytes_of(npy(dict("<f4", "(0, 3)", order), "")), "x");
    EXPECT_EQ(empty.shape(), (Shape{0, 3}));
    EXPECT_EQ(empty.size(), 0U);
    // Many rows of nothing must cost nothing.
    EXPECT_EQ(parse_npy(bytes_of(npy(dict("|b1", "(4611686018427387904, 0)", order), "")), "x").size(), 0U);
  }
}

TEST(Npy, FortranOrderIsTransposed) {
  // a[i][j][k] = 100 i + 10 j + k of shape (2, 3, 2), first index fastest in the file.
  std::string data;
  for (int k = 0; k < 2; ++k) {
    for (int j = 0; j < 3; ++j) {
      for (int i = 0; i < 2; ++i) {
        data += items<std::int16_t>({static_cast<std::int16_t>(100 * i + 10 * j + k)});
      }
    }
  }
  const Array array = parse_npy(bytes_of(npy(dict("<i2", "(2, 3, 2)", "True"), data)), "x");
  EXPECT_EQ(array.to<double>(), (std::vector<double>{0, 1, 10, 11, 20, 21, 100, 101, 110, 111, 120, 121}));
}

TEST(Npy, ConversionRoundsButNeverTurnsFiniteIntoInfinite) {
  const double largest = std::numeric_limits<float>::max();
  const double rounds_down = std::nextafter(0x1.ffffffp127, 0.0);
  const auto narrow = [](double value) {
    return parse_npy(bytes_of(npy(dict("<f8", "(2,)"), items<double>({0, value}))), "x.npy").to<float>()[1];
  };
  EXPECT_EQ(narrow(0.1), 0.1F);
  EXPECT_EQ(narrow(1e-60), 0.0F);
  EXPECT_EQ(narrow(rounds_down), largest);
  EXPECT_TRUE(std::isinf(narrow(std::numeric_limits<double>::infinity())));
  EXPECT_TRUE(std::isnan(narrow(std::numeric_limits<double>::quiet_NaN())));
  EXPECT_EQ(message_of<InputError>([&] { narrow(-0x1.ffffffp127); }),
            "x.npy: element 1 of shape (2,) is too large for float32");
}

TEST(Npy, RefusesWhatItCannotRead) {
  const std::string one = items<float>({1});
  EXPECT_EQ(refusal(""), "bad.npy: is empty; an NPY file was expected");
  EXPECT_TRUE(contains(refusal("PK\x03\x04 and so on"), "bad.npy: is not an NPY file"));
  EXPECT_TRUE(contains(refusal("\x93NUMPY"), "ends inside its NPY header"));
  EXPECT_TRUE(contains(refusal(npy(dict("<f4", "(1,)"), one, 4)), "has NPY version 4.0"));
  EXPECT_EQ(refusal(npy(dict(">f4", "(1,)"), one)),
            "bad.npy: holds big-endian numbers ('>f4'), only little-endian ones are read; convert it in numpy with "
            "array.astype('<f4')");
  EXPECT_TRUE(contains(refusal(npy(dict("<c8", "(1,)"), one)), "dtype '<c8' (complex numbers)"));
  EXPECT_TRUE(contains(refusal(npy(dict("<f2", "(1,)"), one)), "dtype '<f2' (floating point numbers of that size)"));
  EXPECT_TRUE(contains(refusal(npy(dict("|O", "(1,)"), one)), "dtype '|O'"));
  EXPECT_TRUE(contains(refusal(npy(dict("<U3", "(1,)"), one)), "dtype '<U3' (text)"));
  EXPECT_TRUE(contains(refusal(npy(dict("|S3", "(1,)"), one)), "(byte strings)"));
  const std::string fields = "{'descr': [('a', '<f4')], 'fortran_order': False, 'shape': (1,), }";
  EXPECT_TRUE(contains(refusal(npy(fields, one)), "structured dtype"));
}

TEST(Npy, RefusesHeadersThatLie) {
  const std::string one = items<float>({1});
  EXPECT_EQ(refusal(npy(dict("<f4", "(3,)"), one)),
            "bad.npy: is truncated: shape (3,) of float32 needs 12 bytes, but 4 follow the header");
  EXPECT_TRUE(contains(refusal(npy(dict("<f4", "(1,)"), one + one)), "needs 4 bytes, but 8 follow the header"));
  EXPECT_TRUE(contains(refusal(npy(dict("<f4", "(0,)"), one)), "needs 0 bytes, but 4 follow"));
  EXPECT_TRUE(contains(refusal(npy(dict("<f4", "(-1,)"), one)), "negative dimension '-1'"));
  EXPECT_TRUE(contains(refusal(npy(dict("<f4", "(4294967296, 4294967296, 16)"), one)), "overflows"));
  EXPECT_TRUE(contains(refusal(npy(dict("<f4", "(0, 4294967296, 4294967296, 16)"), "")), "overflows"));
  EXPECT_TRUE(contains(refusal(npy(dict("<f4", "(99999999999999999999999,)"), one)), "dimension too large"));
  std::string beyond = npy(dict("<f4", "(1,)"), one);
  beyond[9] = '\x7F';
  EXPECT_TRUE(contains(refusal(beyond), "but the file ends after"));
  const std::string huge = npy(dict("<f4", "(1,)") + std::string(kMaxNpyHeaderBytes, ' '), one, 2);
  EXPECT_TRUE(contains(refusal(huge), "at most 1048576 are read"));
}

TEST(Npy, RefusesHostileHeaders) {
  const auto text = [](const std::string& header) { return refusal(npy(header, items<float>({1}))); };
  EXPECT_TRUE(contains(text("{'descr': '<f4', 'shape': (1,), }"), "lacks 'fortran_order'"));
  EXPECT_TRUE(contains(text(dict("<f4", "(1,)") + "x"), "goes on after its closing brace"));
  EXPECT_TRUE(contains(text("{'descr': '<f4\xC3\xA9'}"), "holds the byte 0xc3"));
  EXPECT_TRUE(contains(text(std::string("{'descr'\0: 1}", 13)), "holds the byte 0x00"));
  EXPECT_TRUE(contains(text("{'descr': '<f4', 'descr': '<f4'}"), "'descr' twice"));
  EXPECT_TRUE(contains(text("{'evil': '<f4'}"), "unknown key 'evil'"));
  EXPECT_TRUE(contains(text("{'descr': __import__('os')}"), "expected a quoted string"));
  EXPECT_TRUE(contains(text("{'descr': '<f4"), "string without end"));
  EXPECT_TRUE(contains(text("{'fortran_order': 1}"), "must be True or False"));
  EXPECT_TRUE(contains(text("{'shape': (1)}"), "shape must be a tuple"));
  EXPECT_TRUE(contains(text("{'shape': (1, x)}"), "expected a dimension"));
  EXPECT_TRUE(contains(text("{'shape': (1,"), "expected a dimension"));
  EXPECT_TRUE(contains(text("{'shape': 1}"), "expected '('"));
  EXPECT_TRUE(contains(text(""), "expected '{'"));
  std::string many = "{'shape': (";
  for (int k = 0; k < 100; ++k) {
    many += "1, ";
  }
  EXPECT_TRUE(contains(text(many + ")}"), "more than 64 dimensions"));
}

TEST(Npy, FileProblemsAreNamed) {
  const TempDir dir;
  EXPECT_TRUE(contains(message_of<InputError>([&] { read_npy(dir.file("no.npy")); }), dir.file("no.npy")));
  EXPECT_TRUE(contains(message_of<InputError>([&] { NpyFile file(dir.path()); }), "is a directory"));
  EXPECT_TRUE(contains(message_of<InputError>([&] { read_npy(dir.write("e.npy", "")); }), "e.npy: is empty"));
}

TEST(NpyFile, RowsAreZeroCopyWhereTheyCanBe) {
  const TempDir dir;
  std::vector<float> values(7 * 6);
  for (std::size_t k = 0; k < values.size(); ++k) {
    values[k] = static_cast<float>(k) - 3.5F;
  }
  write_npy(dir.file("a.npy"), ArrayView(std::span<const float>(values), {7, 3, 2}));
  const NpyFile file(dir.file("a.npy"));
  EXPECT_EQ(file.num_rows(), 7U);
  EXPECT_EQ(file.row_size(), 6U);
  std::vector<float> buffer;
  const float* rows = file.rows(2, 5, buffer);
  EXPECT_TRUE(buffer.empty());
  EXPECT_EQ(std::vector<float>(rows, rows + 18), std::vector<float>(values.begin() + 12, values.begin() + 30));
  file.release(0, 7);
  std::vector<double> wide;
  const double* converted = file.rows(6, 7, wide);
  EXPECT_EQ(wide.size(), 6U);
  EXPECT_EQ(converted[5], values[41]);
  EXPECT_EQ(file.rows(7, 7, wide), wide.data());
  EXPECT_TRUE(contains(message_of<InputError>([&] { file.rows(5, 8, buffer); }), "rows [5, 8) are not within its 7"));
  EXPECT_TRUE(contains(message_of<InputError>([&] { file.release(3, 2); }), "rows [3, 2)"));
}

TEST(NpyFile, MisalignedItemsAreCopied) {
  const TempDir dir;
  const std::string path = dir.write("odd.npy", npy(dict("<f8", "(2,)") + " ", items<double>({1.25, -2})));
  const std::string even = dir.write("even.npy", npy(dict("<f8", "(2,)") + "  ", items<double>({1.25, -2})));
  for (const std::string& name : {path, even}) {
    std::vector<double> buffer;
    const double* rows = NpyFile(name).rows(0, 2, buffer);
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(rows) % 8, 0U);
    EXPECT_EQ(rows, buffer.data());
    EXPECT_EQ(rows[1], -2);
    const Array array = read_npy(name);
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(array.values<double>().data()) % 8, 0U);
    EXPECT_EQ(array.values<double>()[0], 1.25);
  }
}

TEST(NpyFile, FortranRowsEqualTheWholeAtAwkwardSizes) {
  for (const std::size_t num_rows : {1U, 15U, 16U, 17U, 33U}) {
    for (const std::string descr : {"<f8", "<i4"}) {
      std::string data;
      for (std::size_t k = 0; k < num_rows * 15; ++k) {
        data += descr == "<f8" ? items<double>({k * 0.5}) : items<std::int32_t>({static_cast<std::int32_t>(k)});
      }
      const TempDir dir;
      const std::string shape = fmt::format("({}, 3, 5)", num_rows);
      const NpyFile file(dir.write("f.npy", npy(dict(descr, shape, "True"), data)));
      const std::vector<double> whole = file.load().to<double>();
      std::vector<double> buffer;
      for (std::size_t begin = 0; begin < num_rows; ++begin) {
        const double* rows = file.rows(begin, num_rows, buffer);
        EXPECT_TRUE(std::equal(rows, rows + (num_rows - begin) * 15, whole.begin() + static_cast<long>(begin * 15)));
        file.release(begin, num_rows);
      }
      // Element (i, j, k) is item i + N j + 3 N k of the file.
      const double scale = descr == "<f8" ? 0.5 : 1;
      EXPECT_EQ(whole[(num_rows - 1) * 15 + 2 * 5 + 4],
                scale * static_cast<double>((num_rows - 1) + 2 * num_rows + 4 * 3 * num_rows));
    }
  }
}

TEST(NpyFile, ValueTooLargeNamesTheRow) {
  for (const std::string order : {"False", "True"}) {
    const TempDir dir;
    const NpyFile file(dir.write("big.npy", npy(dict("<f8", "(2, 2)", order), items<double>({1, 2, 3, 1e300}))));
    std::vector<float> buffer;
    EXPECT_EQ(message_of<InputError>([&] { file.rows(0, 2, buffer); }),
              dir.file("big.npy") + ": row 1 holds a value too large for float32");
  }
}

TEST(NpyWriter, StreamsAndInsistsOnTheShape) {
  const TempDir dir;
  const std::vector<double> part = {1, 2, 3};
  {
    NpyWriter writer(dir.file("s.npy"), DType::kFloat64, {2, 3});
    writer.write(std::span<const double>(part));
    EXPECT_TRUE(contains(message_of<InputError>([&] { writer.commit(); }), "24 bytes of values are missing"));
    writer.write(std::span<const double>(part));
    EXPECT_THROW(writer.write(std::span<const double>(part)), InputError);
    const std::vector<float> other = {1};
    EXPECT_THROW(writer.write(std::span<const float>(other)), InputError);
    writer.commit();
  }
  EXPECT_EQ(read_npy(dir.file("s.npy")).to<double>(), (std::vector<double>{1, 2, 3, 1, 2, 3}));
  EXPECT_THROW(ArrayView(std::span<const double>(part), {2, 2}), InputError);
  EXPECT_TRUE(contains(message_of<InputError>([&] { read_npy(dir.file("s.npy")).values<float>(); }),
                       "s.npy: holds float64, not float32"));
}

TEST(NpyWriter, FullDiskLeavesNoFile) {
  const TempDir dir;
  const std::vector<double> values(100000, 1.0);
  std::string message;
  {
    const FullDisk disk(10000);
    message = message_of<SystemError>([&] { write_npy(dir.file("full.npy"), ArrayView(values)); });
  }
  EXPECT_TRUE(contains(message, "full.npy: write failed"));
  EXPECT_TRUE(dir.list().empty());
}

template <class T>
void check_round_trip() {
  const TempDir dir;
  test::check_property(100, [&](const std::vector<T>& values) {
    write_npy(dir.file("r.npy"), ArrayView(std::span<const T>(values), {values.size(), 1}));
    const Array array = read_npy(dir.file("r.npy"));
    RC_ASSERT(array.dtype() == dtype_of<T>());
    RC_ASSERT(array.shape() == (Shape{values.size(), 1}));
    RC_ASSERT(array.bytes().size() == values.size() * sizeof(T));
    const bool same =
        values.empty() || std::memcmp(array.bytes().data(), values.data(), values.size() * sizeof(T)) == 0;
    RC_ASSERT(same);
  });
}

TEST(Npy, RoundTripsAnyValues) {
  check_round_trip<float>();
  check_round_trip<double>();
  check_round_trip<std::int64_t>();
}

}  // namespace
}  // namespace dissent
