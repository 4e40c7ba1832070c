#include "dissent/array/hdf5.hpp"

#include <gtest/gtest.h>

#include <cstdlib>
#include <thread>

#include "dissent/base/error.hpp"
#include "support/full_disk.hpp"
#include "support/temp_dir.hpp"

namespace dissent {
namespace {

class Hdf5Test : public testing::Test {
 protected:
  void SetUp() override {
    if (!hdf5_available()) {
      GTEST_SKIP() << "built without HDF5";
    }
  }

  template <class T>
  static Hdf5Dataset dataset(std::string name, DType dtype, Shape shape, const std::vector<T>& values) {
    return {std::move(name), dtype, std::move(shape), std::as_bytes(std::span(values))};
  }

  // A file with every type that is written.
  std::string write_example() const {
    const std::string path = folder_.file("example.h5");
    write_hdf5(
        path,
        {dataset("a", DType::kFloat32, {2, 3}, floats_), dataset("group/inner/b", DType::kFloat64, {3}, doubles_),
         dataset("c", DType::kInt64, {2}, integers_), dataset("flags", DType::kBool, {3}, flags_),
         dataset("bytes", DType::kUint8, {3}, flags_), dataset("none", DType::kFloat32, {0, 4}, nothing_)},
        {{"maker", std::string("test")},
         {"count", std::int64_t{-7}},
         {"seed", ~std::uint64_t{0}},
         {"ratio", 0.25},
         {"blank", std::string()}});
    return path;
  }

  TempDir folder_;
  std::vector<float> floats_{1, 2, 3, 4, 5, 6.5F};
  std::vector<double> doubles_{1e300, -0.0, 3};
  std::vector<std::int64_t> integers_{INT64_MIN, INT64_MAX};
  std::vector<std::uint8_t> flags_{1, 0, 1};
  std::vector<float> nothing_;
};

TEST_F(Hdf5Test, WhatIsWrittenIsReadBack) {
  const Hdf5File file(write_example());
  EXPECT_EQ(file.names(), (std::vector<std::string>{"a", "bytes", "c", "flags", "group", "none"}));
  EXPECT_EQ(file.names("group/inner"), std::vector<std::string>{"b"});
  const Array a = file.load("a");
  EXPECT_EQ(a.shape(), (Shape{2, 3}));
  EXPECT_EQ(a.to<float>(), floats_);
  EXPECT_EQ(file.load("group/inner/b").to<double>(), doubles_);
  EXPECT_EQ(file.load("c").values<std::int64_t>()[0], INT64_MIN);
  EXPECT_EQ(file.load("flags").dtype(), DType::kBool);
  EXPECT_EQ(file.load("flags").to<float>(), (std::vector<float>{1, 0, 1}));
  EXPECT_EQ(file.load("bytes").dtype(), DType::kUint8);
  EXPECT_EQ(file.load("none").shape(), (Shape{0, 4}));
  EXPECT_EQ(file.attribute("maker"), "test");
  EXPECT_EQ(file.attribute("count"), "-7");
  EXPECT_EQ(file.attribute("seed"), "18446744073709551615");
  EXPECT_EQ(file.attribute("ratio"), "0.25");
  EXPECT_EQ(file.attribute("absent"), "");
  EXPECT_TRUE(file.contains("group/inner/b"));
  EXPECT_FALSE(file.contains("group/other/b"));
}

TEST_F(Hdf5Test, TheSameContentGivesTheSameBytes) {
  const std::string first = read_bytes(write_example());
  EXPECT_EQ(read_bytes(write_example()), first);
  EXPECT_EQ(folder_.list(), std::vector<std::string>{"example.h5"});
}

TEST_F(Hdf5Test, AFileCutShortAnywhereIsAnInputError) {
  const std::string path = write_example();
  const std::string bytes = read_bytes(path);
  for (const std::size_t length :
       {std::size_t{0}, std::size_t{7}, std::size_t{100}, bytes.size() / 2, bytes.size() - 1}) {
    folder_.write("example.h5", bytes.substr(0, length));
    const std::string message = message_of<InputError>([&path] { const Hdf5File file(path); });
    EXPECT_TRUE(message.starts_with(path)) << message;
  }
}

// Every single damaged byte either is noticed or changes nothing but values; none crashes.
TEST_F(Hdf5Test, DamagedBytesNeverCrash) {
#ifdef __SANITIZE_ADDRESS__
  GTEST_SKIP() << "HDF5 asks for absurd amounts of memory and copes with a refusal, which the sanitizer does not give";
#endif
  const std::string path = write_example();
  const std::string bytes = read_bytes(path);
  std::size_t noticed = 0;
  for (std::size_t k = 0; k < std::min<std::size_t>(bytes.size(), 3000); k += 3) {
    std::string damaged = bytes;
    damaged[k] = static_cast<char>(damaged[k] ^ 0x5a);
    folder_.write("example.h5", damaged);
    try {
      const Hdf5File file(path);
      for (const char* name : {"a", "c", "flags", "group/inner/b"}) {
        file.load(name);
      }
    } catch (const InputError&) {
      ++noticed;
    }
  }
  EXPECT_GT(noticed, 50U);
}

TEST_F(Hdf5Test, WrongFilesAndNamesAreNamed) {
  const std::string path = write_example();
  const auto error = [](auto&& body) { return message_of<InputError>(body); };
  EXPECT_EQ(error([&] { Hdf5File(path).load("b"); }), path + ": has no dataset \"b\"");
  EXPECT_EQ(error([&] { Hdf5File(path).load("group"); }), path + ":group: is a group, not a dataset");
  EXPECT_EQ(error([&] { Hdf5File(path).names("a"); }), path + ": \"a\" is not a group");
  const std::string text = folder_.write("text.h5", "observation,action\n1,2\n");
  EXPECT_EQ(error([&] { Hdf5File file(text); }), text + ": not an HDF5 file");
  EXPECT_TRUE(error([&] { Hdf5File file(folder_.file("none.h5")); }).starts_with(folder_.file("none.h5")));
  EXPECT_TRUE(error([&] { Hdf5File file(folder_.path()); }).starts_with(folder_.path()));
  EXPECT_NE(error([&] {
              write_hdf5(path, {{"x", DType::kFloat32, {3}, std::as_bytes(std::span(nothing_))}});
            }).find("its shape (3,) of float32 needs 12"),
            std::string::npos);
}

TEST_F(Hdf5Test, AFullDiskLeavesNothingBehind) {
  const std::vector<float> large(100000, 1.5F);
  {
    const FullDisk full(1000);
    EXPECT_THROW(write_hdf5(folder_.file("big.h5"), {dataset("a", DType::kFloat32, {large.size()}, large)}),
                 SystemError);
  }
  EXPECT_TRUE(folder_.list().empty());
}

TEST_F(Hdf5Test, ThreadsTakeTurns) {
  const std::string path = write_example();
  std::vector<std::thread> threads;
  for (int k = 0; k < 4; ++k) {
    threads.emplace_back([&] {
      for (int round = 0; round < 20; ++round) {
        EXPECT_EQ(Hdf5File(path).load("a").to<float>(), floats_);
      }
    });
  }
  for (std::thread& thread : threads) {
    thread.join();
  }
}

}  // namespace
}  // namespace dissent
