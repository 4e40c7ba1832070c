#include "dissent/estimator/joint_sums.hpp"

#include <gtest/gtest.h>

#include <cmath>

namespace dissent {
namespace {

TEST(JointSums, PairsAreThoseOfComponentsWithWeight) {
  const Weights weights = Weights::from(std::vector<double>{0.5, 0, 0.3, 0.2}, 4);
  const JointPairs pairs(weights);
  const std::vector<std::pair<std::size_t, std::size_t>> expected{{0, 2}, {0, 3}, {2, 0}, {2, 3}, {3, 0}, {3, 2}};
  ASSERT_EQ(pairs.pairs.size(), expected.size());
  for (std::size_t k = 0; k < expected.size(); ++k) {
    EXPECT_EQ(std::pair(pairs.pairs[k].i, pairs.pairs[k].j), expected[k]);
    EXPECT_EQ(pairs.pairs[k].weight, static_cast<float>(weights.value[pairs.pairs[k].j]));
  }
  EXPECT_EQ(pairs.weight, (std::vector<float>{0.5F, 0.3F, 0.2F}));
  EXPECT_EQ(pairs.num_others, 2U);
  EXPECT_FLOAT_EQ(pairs.entropy, static_cast<float>(weights.entropy));
  EXPECT_EQ(pairs.saturated, 17);
}

TEST(JointSums, WhatIsCommonIsTakenOffOnceAllPairsAreSaturated) {
  RunningSums sums(JointPairs{Weights::uniform(2)});
  sums.add(0, 10);
  sums.add(1, 40);
  sums.update();
  EXPECT_EQ(sums.taken_off, 0);
  EXPECT_EQ(sums.running, (std::vector<float>{10, 40}));
  sums.add(0, 20);
  sums.update();
  EXPECT_EQ(sums.taken_off, 30);
  EXPECT_EQ(sums.running, (std::vector<float>{0, 10}));
  EXPECT_EQ(sums.sums, (std::vector<double>{30, 40}));
  sums.add(1, 1e300);
  sums.update();
  EXPECT_TRUE(std::isfinite(sums.running[1]));
}

}  // namespace
}  // namespace dissent
