#include "dissent/mixture/categorical.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "dissent/mixture/shape_doubt.hpp"
#include "support/temp_dir.hpp"

namespace dissent {
namespace {

std::string complaint(std::vector<double> values, std::size_t num_components, std::size_t num_classes) {
  return message_of<InputError>([&] { normalise_probabilities(values, num_components, num_classes); });
}

TEST(Categorical, EntropyOfKnownDistributions) {
  EXPECT_DOUBLE_EQ(entropy({std::vector<double>{0.25, 0.25, 0.25, 0.25}}), std::log(4));
  EXPECT_EQ(entropy({std::vector<double>{0, 1, 0}}), 0);
}

TEST(Categorical, RoundingIsDividedOut) {
  std::vector<double> values{0.30001, 0.7, 1, 0};
  normalise_probabilities(values, 2, 2);
  EXPECT_DOUBLE_EQ(values[0] + values[1], 1);
  EXPECT_DOUBLE_EQ(values[0], 0.30001 / 1.00001);
  EXPECT_EQ(values[2], 1);
}

TEST(Categorical, WhatIsWrongIsNamed) {
  EXPECT_EQ(complaint({0.5, 0.5, 0.5, 0.4}, 2, 2), "input 0 component 1: its probabilities sum to 0.9, not to 1");
  EXPECT_EQ(complaint({0.5, 0.5, 1.5, -0.5}, 1, 2),
            "input 1 component 0 class 1: probability -0.5 is not a finite number >= 0");
  EXPECT_NE(complaint({0.5, std::nan("")}, 1, 2).find("class 1"), std::string::npos);
  EXPECT_NE(complaint({1.0, 1.0}, 2, 1).find("2 classes are required"), std::string::npos);
}

TEST(ShapeDoubt, AsksWhereAxesAreMoreLikelyInAnotherOrder) {
  EXPECT_EQ(shape_doubt(1000, 5), "");
  EXPECT_EQ(shape_doubt(5, 20), "");
  EXPECT_EQ(shape_doubt(0, 1), "");
  EXPECT_NE(shape_doubt(5, 1000).find("N = 5 and M = 1000 (inputs, components)"), std::string::npos);
  EXPECT_NE(shape_doubt(30, 1).find("N = 30 and M = 1 "), std::string::npos);
}

}  // namespace
}  // namespace dissent
