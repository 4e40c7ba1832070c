#include "dissent/study/measure.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>

namespace dissent {
namespace {

MeasureOptions tiny() {
  MeasureOptions options;
  options.num_seeds = 2;
  options.outputs = {1, 3};
  options.components = {2, 5};
  options.samples = {10, 40};
  options.repeats = 1;
  options.problems = {"hetero"};
  options.epochs = 60;
  options.ranked_rows = 50;
  options.points = 5;
  options.problem.pool_rows = 60;
  options.problem.test_rows = 20;
  return options;
}

TEST(Measure, TimesEveryEstimatorByOutputsAndByComponents) {
  std::map<std::pair<std::size_t, std::size_t>, std::size_t> places;
  for (const Measurement& measured : measure_seconds(tiny())) {
    EXPECT_EQ(measured.kind, "seconds");
    EXPECT_GT(measured.value, 0);
    ++places[{measured.outputs, measured.components}];
  }
  // Two pairwise estimates and two numbers of samples, for two seeds.
  EXPECT_EQ(places, (decltype(places){{{1, 5}, 8}, {{3, 2}, 8}, {{3, 5}, 8}}));
}

TEST(Measure, MatchesSamplesBetweenTheTimedOnes) {
  const auto seconds = [](const char* estimator, std::size_t samples, double value, std::uint64_t seed = 0) {
    return Measurement{.kind = "seconds",
                       .estimator = estimator,
                       .outputs = 3,
                       .components = 5,
                       .samples = samples,
                       .seed = seed,
                       .value = value};
  };
  const auto matched = [&](double pairwise) {
    const std::vector<Measurement> timed = {seconds("kl", 0, pairwise), seconds("mc:10", 10, 2),
                                            seconds("mc:100", 100, 11), seconds("mc:100", 100, 1e9, 1)};
    const std::vector<Measurement> found = matched_samples(timed);
    EXPECT_EQ(found.size(), 1U);
    EXPECT_EQ(found.front().kind, "matched_samples");
    EXPECT_EQ(found.front().estimator, "kl");
    return found.front().value;
  };
  EXPECT_DOUBLE_EQ(matched(1), 5);     // a half of the least
  EXPECT_DOUBLE_EQ(matched(6.5), 55);  // half-way
  EXPECT_DOUBLE_EQ(matched(12), 110);  // beyond
}

// kl is an upper bound, bhattacharyya a lower one, and both rank much as samples do.
TEST(Measure, RanksAndBiasOfFittedModels) {
  const std::vector<Measurement> all = measure_fitted(tiny());
  std::map<std::string, std::size_t> counts;
  for (const Measurement& measured : all) {
    ++counts[measured.kind + " " + measured.model + " " + measured.estimator];
    EXPECT_EQ(measured.problem, "hetero");
    EXPECT_EQ(measured.components, 5U);
    if (measured.kind == "bias") {
      EXPECT_TRUE(measured.estimator == "kl" ? measured.value > -1e-6 : measured.value < 1e-6) << measured.value;
    } else if (measured.kind == "spearman") {
      EXPECT_GT(measured.value, 0);
      EXPECT_LE(measured.value, 1 + 1e-12);
    } else {
      EXPECT_EQ(measured.seed, 0U);
      EXPECT_TRUE(std::isfinite(measured.value));
    }
  }
  for (const char* model : {"flow ", "pne "}) {  // rows, and draws at each place
    EXPECT_EQ(counts.extract(std::string("data ") + model).mapped(), 100U);
    EXPECT_EQ(counts.extract(std::string("sample ") + model).mapped(), 25U);
    for (const char* estimator : {"kl", "bhattacharyya", "quadrature"}) {
      EXPECT_EQ(counts.extract(std::string("epistemic ") + model + estimator).mapped(), 5U);
    }
  }
  EXPECT_EQ(counts, (decltype(counts){{"bias flow bhattacharyya", 10},
                                      {"bias flow kl", 10},
                                      {"bias pne bhattacharyya", 10},
                                      {"bias pne kl", 10},
                                      {"spearman flow bhattacharyya", 2},
                                      {"spearman flow kl", 2},
                                      {"spearman pne bhattacharyya", 2},
                                      {"spearman pne kl", 2}}));
  const std::vector<Measurement> again = measure_fitted(tiny());
  ASSERT_EQ(again.size(), all.size());
  for (std::size_t k = 0; k < all.size(); ++k) {
    EXPECT_EQ(all[k].value, again[k].value);
  }
}

}  // namespace
}  // namespace dissent
