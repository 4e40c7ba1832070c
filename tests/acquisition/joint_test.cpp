#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <map>
#include <numeric>

#include "acquisition/models.hpp"
#include "acquisition/pair_quadrature.hpp"
#include "dissent/acquisition/acquisition.hpp"
#include "dissent/estimator/estimator.hpp"
#include "dissent/mixture/gaussian.hpp"

namespace dissent {
namespace {

using test::drawn_model;
using test::drawn_rows;

Choice choose_by(const char* name, const Ensemble& model, std::span<const double> candidates, std::size_t batch) {
  return choose(Acquisition::parse(name), {model, {}, batch, Stream(3, Purpose::kAcquire), nullptr}, candidates);
}

// The joint estimate of a batch, of what its scores say.
double joint_information(const Ensemble& model, const Choice& choice) {
  const double gained = std::accumulate(choice.scores.begin(), choice.scores.end(), 0.0);
  return model.weights().entropy * -std::expm1(-gained);
}

TEST(Joint, WithABatchOfOneIsTheEstimateItself) {
  for (const std::size_t outputs : {1UL, 7UL, 60UL}) {
    const Ensemble model = drawn_model({.num_inputs = 4, .num_outputs = outputs});
    const std::vector<double> candidates = drawn_rows(700, 4);
    for (const auto& [joint, alone] : std::map<std::string, std::string>{
             {"kl-joint", "kl"}, {"bhattacharyya-joint", "bhattacharyya"}, {"chernoff-joint:0.3", "chernoff:0.3"}}) {
      const Choice a = choose_by(joint.c_str(), model, candidates, 1);
      const Choice b = choose_by(alone.c_str(), model, candidates, 1);
      EXPECT_EQ(a.rows, b.rows);
      EXPECT_NEAR(a.scores[0], b.scores[0] + std::log(model.weights().entropy), 1e-12);
      EXPECT_EQ(a.epistemic, b.epistemic);
    }
  }
}

// For two rows with one output each: bhattacharyya-joint <= truth <= kl-joint <= H(w).
TEST(Joint, BracketsTheTruth) {
  double widest = 0;
  for (std::uint64_t seed = 0; seed < 80; ++seed) {
    std::vector<double> weights;
    if (seed % 3 == 0) {
      weights = {0.4, 0.25, 0.2, 0.15};
    }
    const Ensemble model = drawn_model({.num_components = seed % 3 == 0 ? 4UL : 2 + seed % 4,
                                        .weights = weights,
                                        .gain = 1 + 0.2 * static_cast<double>(seed % 10),
                                        .seed = seed});
    const std::vector<double> pair = drawn_rows(2, 2, seed);
    const double truth = test::pair_information(model.predict(pair), model.weights());
    const double lower = joint_information(model, choose_by("bhattacharyya-joint", model, pair, 2));
    const double upper = joint_information(model, choose_by("kl-joint", model, pair, 2));
    EXPECT_LE(lower, truth + 1e-7) << seed;
    EXPECT_LE(truth, upper + 1e-7) << seed;
    EXPECT_LE(upper, model.weights().entropy + 1e-15) << seed;
    widest = std::max(widest, truth);
  }
  EXPECT_GT(widest, 0.5);  // the mixtures are not all of one kind
}

// The greedy choice by the plain formula: sums of divergences, combined for each candidate.
TEST(Joint, IsTheGreedyChoiceOfThePlainFormula) {
  const Ensemble model = drawn_model({.num_inputs = 3, .num_outputs = 2, .num_components = 3, .gain = 0.8});
  const std::vector<double> candidates = drawn_rows(90, 3);
  const Mixture<double> mixture = model.predict(candidates);
  const Choice choice = choose_by("kl-joint", model, candidates, 6);
  std::vector<double> running(9);
  double before = -std::log(model.weights().entropy);
  for (std::size_t pick = 0; pick < 6; ++pick) {
    std::size_t best = 0;
    double best_score = -1e300;
    std::vector<double> best_sum;
    for (std::size_t n = 0; n < 90; ++n) {
      if (std::ranges::find(choice.rows.begin(), choice.rows.begin() + static_cast<std::ptrdiff_t>(pick), n) !=
          choice.rows.begin() + static_cast<std::ptrdiff_t>(pick)) {
        continue;
      }
      InputComponents components;
      components.load(mixture.view(), n, n);
      std::vector<double> sum = running;
      double deficit = 0;
      for (std::size_t i = 0; i < 3; ++i) {
        double others = 0;
        for (std::size_t j = 0; j < 3; ++j) {
          sum[3 * i + j] += divergence({}, components.diagonal_component(i), components.diagonal_component(j));
          others += i == j ? 0 : std::exp(-sum[3 * i + j]);
        }
        deficit += std::log1p(others) / 3;
      }
      if (-std::log(deficit) > best_score) {
        best = n;
        best_score = -std::log(deficit);
        best_sum = sum;
      }
    }
    EXPECT_EQ(choice.rows[pick], best);
    EXPECT_NEAR(choice.scores[pick], best_score - before, 1e-6 * std::max(1.0, std::abs(best_score)));
    before = best_score;
    running = best_sum;
  }
}

// 30 kinds of rows, 20 of each that differ by next to nothing.
TEST(Joint, PicksFewerOfAKindThanTopRows) {
  const Ensemble model = drawn_model({.num_inputs = 2, .num_outputs = 2, .gain = 1.6});
  const std::vector<double> kinds = drawn_rows(30, 2);
  std::vector<double> candidates;
  for (std::size_t copy = 0; copy < 20; ++copy) {
    for (const double value : kinds) {
      candidates.push_back(value + 1e-6 * static_cast<double>(copy));
    }
  }
  const auto num_kinds = [&](const char* name) {
    std::map<std::size_t, int> count;
    for (const std::size_t row : choose_by(name, model, candidates, 10).rows) {
      ++count[row % 30];
    }
    return count.size();
  };
  EXPECT_EQ(num_kinds("kl"), 1U);
  EXPECT_EQ(num_kinds("bhattacharyya"), 1U);
  EXPECT_GT(num_kinds("kl-joint"), 1U);
  EXPECT_GT(num_kinds("bhattacharyya-joint"), 1U);
  EXPECT_GT(num_kinds("batchbald:500"), 1U);
  EXPECT_GT(num_kinds("kl-aim"), 2U);
}

// With 257 outputs the first pick tells all components apart. The others are not rows beside it, though each of those
// disagrees more by itself than any other row.
TEST(Joint, GoesOnBeyondSaturation) {
  const Ensemble model = drawn_model({.num_inputs = 3, .num_outputs = 257, .gain = 4});
  std::vector<double> candidates = drawn_rows(200, 3);
  for (std::size_t copy = 0; copy < 40; ++copy) {
    for (const double value : {9.0, -9.0, 9.0}) {
      candidates.push_back(value + 1e-4 * static_cast<double>(copy));
    }
  }
  const Choice alone = choose_by("kl", model, candidates, 10);
  EXPECT_EQ(std::ranges::count_if(alone.rows, [](std::size_t row) { return row >= 200; }), 10);
  for (const char* name : {"kl-joint", "bhattacharyya-joint"}) {
    const Choice choice = choose_by(name, model, candidates, 10);
    EXPECT_GE(choice.rows[0], 200U);
    EXPECT_LE(std::ranges::count_if(choice.rows, [](std::size_t row) { return row >= 200; }), 2) << name;
    EXPECT_TRUE(std::ranges::is_sorted(choice.scores.begin() + 1, choice.scores.end(), std::greater<>())) << name;
  }
  const Choice aimed = choose_by("kl-aim", model, candidates, 10);
  EXPECT_LE(std::ranges::count_if(aimed.rows, [](std::size_t row) { return row >= 200; }), 7);  // it is aimed at, too
}

}  // namespace
}  // namespace dissent
