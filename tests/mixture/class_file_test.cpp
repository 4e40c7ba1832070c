#include "dissent/mixture/class_file.hpp"

#include <gtest/gtest.h>

#include <array>

#include "dissent/array/npz.hpp"
#include "support/temp_dir.hpp"

namespace dissent {
namespace {

class ClassFileTest : public testing::Test {
 protected:
  std::string write(const std::vector<double>& values, Shape shape, const std::vector<double>& weights = {}) const {
    std::vector<std::pair<std::string, ArrayView>> arrays{
        {"probabilities", ArrayView(std::span<const double>(values), std::move(shape))}};
    if (!weights.empty()) {
      arrays.emplace_back("weights", ArrayView(weights));
    }
    write_npz(path_, arrays);
    return path_;
  }

  template <class Call>
  static std::string message_of(const Call& call) {
    try {
      call();
    } catch (const InputError& error) {
      return error.what();
    }
    return "no error";
  }

  TempDir dir_;
  std::string path_ = dir_.file("p.npz");
};

TEST_F(ClassFileTest, ReadsInputsWithTheRoundingDividedOut) {
  const std::vector<double> values{0.2, 0.8, 0.5, 0.5, 0.3, 0.70001, 1, 0, 0.25, 0.75, 0, 1};
  const ClassFile file = open_classes(write(values, {3, 2, 2}, {0.75, 0.25}));
  EXPECT_TRUE(has_classes(path_));
  EXPECT_EQ(std::vector({file.num_inputs, file.num_components, file.num_classes}), std::vector<std::size_t>({3, 2, 2}));
  EXPECT_EQ(file.weights.value, std::vector({0.75, 0.25}));
  ClassReader reader(file);
  const CategoricalView part = reader.read(1, 3);
  EXPECT_EQ(part.num_inputs, 2U);
  EXPECT_DOUBLE_EQ(part.component(0, 0).probability[1], 0.70001 / 1.00001);
  EXPECT_EQ(part.component(1, 1).probability[1], 1);
  const CategoricalView picked = reader.read(std::vector<std::size_t>{0, 2});
  EXPECT_EQ(picked.num_inputs, 2U);
  EXPECT_EQ(picked.component(0, 0).probability[1], 0.8);
  EXPECT_EQ(picked.component(1, 0).probability[0], 0.25);
  EXPECT_EQ(open_classes(path_, false).weights.value, std::vector({0.5, 0.5}));
}

TEST_F(ClassFileTest, NamesThePlaceOfWhatIsNoProbability) {
  const ClassFile file = open_classes(write({0.5, 0.5, 0.5, 0.5, 0.3, 0.3, 1, 0}, {2, 2, 2}));
  EXPECT_EQ(message_of([&] { ClassReader(file).read(1, 2); }),
            path_ + "[probabilities]: input 1 component 0: its probabilities sum to 0.6, not to 1");
  EXPECT_EQ(message_of([&] {
              ClassReader(file).read(std::vector<std::size_t>{0, 1});
            }),
            path_ + "[probabilities]: input 1 component 0: its probabilities sum to 0.6, not to 1");
  EXPECT_NE(message_of([&] {
              open_classes(write({0.5, 0.5}, {1, 2}));
            }).find("(1, 2); it must be [N, M, K]"),
            std::string::npos);
  EXPECT_NE(message_of([&] {
              open_classes(write({1, 1}, {1, 2, 1}));
            }).find("2 classes are required"),
            std::string::npos);
}

// An archive of Gaussians may have any other array besides.
TEST_F(ClassFileTest, GaussiansComeFirst) {
  const std::vector<double> values{0.5, 0.5};
  const ArrayView array(std::span<const double>(values), {1, 1, 2});
  write_npz(path_, {{"probabilities", array}, {"mean", array}, {"stddev", array}});
  EXPECT_FALSE(has_classes(path_));
  EXPECT_FALSE(has_classes("mean.npy,stddev.npy"));
  EXPECT_FALSE(has_classes(dir_.file("none.npz")));
}

}  // namespace
}  // namespace dissent
