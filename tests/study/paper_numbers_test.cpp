#include "dissent/study/paper_numbers.hpp"

#include <gtest/gtest.h>

#include <algorithm>

namespace dissent {
namespace {

const Contrast& find_contrast(const ContrastFamily& family, const std::string& ours, const std::string& baseline) {
  return *std::ranges::find_if(family.contrasts, [&](const Contrast& contrast) {
    return contrast.ours == ours && contrast.baseline == baseline;
  });
}

TEST(PaperNumbers, AreAllThere) {
  EXPECT_EQ(paper_curves().size(), 2U * 2 * 6 * 4 * 7);  // models, metrics, problems, batches, methods
  EXPECT_EQ(paper_main_table().size(), 6U * 7);
  EXPECT_EQ(paper_runtimes().size(), 36U);
  EXPECT_EQ(paper_ensemble_sizes().size(), 10U);
  EXPECT_EQ(paper_spearman().size(), 4U);
  EXPECT_EQ(paper_matched_samples().size(), 6U);
  const PaperPoint& point = *find_paper_point("flow", "rmse", "humanoid", 100, "kl");
  EXPECT_EQ(point.mean, 3.4);
  EXPECT_EQ(point.stddev, 0.48);
  EXPECT_EQ(point.level, 0.01);
  EXPECT_EQ(find_paper_point("flow", "rmse", "humanoid", 99, "kl"), nullptr);
  EXPECT_EQ(find_paper_point("gp", "rmse", "humanoid", 100, "kl"), nullptr);
}

// The main text and the appendix agree but for two numbers.
TEST(PaperNumbers, TwoTablesDifferInMonteCarlo) {
  std::vector<std::string> other;
  for (const PaperPoint& point : paper_main_table()) {
    const PaperPoint& curve = *find_paper_point("flow", "rmse", point.problem, 100, point.method);
    if (point.mean != curve.mean || point.stddev != curve.stddev) {
      other.push_back(point.problem + " " + point.method);
    }
  }
  EXPECT_EQ(other, (std::vector<std::string>{"pendulum mc", "hopper mc"}));
}

TEST(PaperNumbers, HumanoidIsSeparated) {
  const ContrastFamily family = paper_contrasts(paper_main_table(), "flow", "rmse", "humanoid", 100);
  ASSERT_EQ(family.contrasts.size(), 10U);
  double largest = 0;
  for (const Contrast& contrast : family.contrasts) {
    EXPECT_EQ(contrast.outcome, Outcome::kBetter);
    largest = std::max(largest, contrast.adjusted);
  }
  EXPECT_NEAR(largest, 0.006, 0.0005);
  EXPECT_LT(*family.better_than_all("kl"), 0.01);
  EXPECT_LT(*family.better_than_all("bhattacharyya"), 0.01);
}

TEST(PaperNumbers, PendulumAndHopperAreNot) {
  const ContrastFamily pendulum = paper_contrasts(paper_main_table(), "flow", "rmse", "pendulum", 100);
  EXPECT_NEAR(find_contrast(pendulum, "kl", "mc").adjusted, 0.46, 0.005);
  EXPECT_FALSE(pendulum.better_than_all("kl"));
  const ContrastFamily hopper = paper_contrasts(paper_main_table(), "flow", "rmse", "hopper", 100);
  EXPECT_NEAR(find_contrast(hopper, "kl", "mc").adjusted, 0.099, 0.0005);
  EXPECT_FALSE(hopper.better_than_all("kl"));
  for (const char* problem : {"hetero", "bimodal", "pendulum", "hopper", "ant"}) {
    const ContrastFamily family = paper_contrasts(paper_main_table(), "flow", "rmse", problem, 100);
    EXPECT_FALSE(family.better_than_all("kl") && family.better_than_all("bhattacharyya")) << problem;
  }
}

// Whatever the paper colours follows from its printed numbers, at that level, for both models and both metrics.
TEST(PaperNumbers, EveryHighlightIsRecovered) {
  std::size_t num_highlights = 0;
  for (const PaperPoint& point : paper_curves()) {
    if (point.level > 0) {
      const ContrastFamily family =
          paper_contrasts(paper_curves(), point.model, point.metric, point.problem, point.after);
      const auto p = family.better_than_all(point.method);
      ASSERT_TRUE(p) << point.model << " " << point.problem << " " << point.after << " " << point.method;
      EXPECT_LT(*p, point.level) << point.model << " " << point.problem << " " << point.after << " " << point.method;
      ++num_highlights;
    }
  }
  EXPECT_EQ(num_highlights, 26U);
}

TEST(PaperNumbers, WhatItDoesNotHave) {
  EXPECT_TRUE(paper_contrasts(paper_curves(), "gp", "rmse", "hopper", 100).contrasts.empty());
}

}  // namespace
}  // namespace dissent
