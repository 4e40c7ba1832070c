#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "dissent/base/threads.hpp"
#include "dissent/estimator/methods.hpp"
#include "support/mixtures.hpp"

namespace dissent {
namespace {

// Inputs whose components lie ever closer together, shuffled.
Mixture<double> spread_pool(std::size_t num_inputs, double shrink, std::uint64_t seed) {
  const test::MixtureCase c{.num_inputs = num_inputs, .num_components = 3, .scale_gap = 0.6, .seed = seed};
  Mixture<double> mixture = test::diagonal_mixture<double>(c);
  std::vector<std::size_t> order(num_inputs);
  std::iota(order.begin(), order.end(), 0);
  Stream stream(seed, Purpose::kTest, 5);
  stream.shuffle(std::span(order));
  for (std::size_t n = 0; n < num_inputs; ++n) {
    for (std::size_t m = 0; m < 3; ++m) {
      const double gap = 4 * std::pow(shrink, static_cast<double>(order[n]));
      mixture.mean[3 * n + m] = gap * mixture.stddev[3 * n] * static_cast<double>(m);
    }
  }
  return mixture;
}

std::vector<std::size_t> best(const Uncertainty& u, std::size_t top) {
  std::vector<std::size_t> order(u.size());
  std::iota(order.begin(), order.end(), 0);
  std::ranges::stable_sort(order, [&](std::size_t a, std::size_t b) { return more_uncertain(u, a, b); });
  order.resize(std::min(top, order.size()));
  return order;
}

TEST(Refine, PutsTheTopInTheOrderOfTheTruth) {
  for (const std::uint64_t seed : {1, 2, 3, 4, 5}) {
    const Mixture<double> mixture = spread_pool(60, 0.93, seed);
    const Weights weights = Weights::uniform(3);
    const Uncertainty refined = test::run("refine:8", mixture, weights);
    const Uncertainty truth = test::run("quadrature", mixture, weights);
    const auto& undecided = test::extra(refined, "undecided");
    const std::vector<std::size_t> found = best(refined, 8);
    const std::vector<std::size_t> expected = best(truth, 8);
    for (std::size_t k = 0; k < 8; ++k) {
      if (undecided[found[k]] == 0) {
        EXPECT_EQ(found[k], expected[k]) << "seed " << seed << " place " << k;
      }
    }
    // What is left in doubt, of 60, differs by less than sampling can tell.
    EXPECT_LE(std::accumulate(undecided.begin(), undecided.end(), 0.0), 8) << "seed " << seed;
    for (std::size_t n = 0; n < 60; ++n) {
      EXPECT_LE(test::extra(refined, "lower")[n], refined.epistemic[n] * (1 + 1e-12));
      EXPECT_LE(refined.epistemic[n], test::extra(refined, "upper")[n] * (1 + 1e-12));
      EXPECT_LE(test::extra(refined, "lower")[n], truth.epistemic[n] * (1 + 1e-10)) << "seed " << seed;
      EXPECT_GE(test::extra(refined, "upper")[n], truth.epistemic[n] * (1 - 1e-10)) << "seed " << seed;
    }
  }
}

TEST(Refine, SpendsSamplesOnFewInputsOfASpreadPool) {
  const Mixture<double> mixture = spread_pool(300, 0.9, 1);
  const Uncertainty u = test::run("refine:10", mixture, Weights::uniform(3));
  const auto& samples = test::extra(u, "samples");
  const auto sampled = std::ranges::count_if(samples, [](double s) { return s > 0; });
  EXPECT_LT(sampled, 150);
  // One that is certainly behind gets no sample and keeps its certified interval.
  const Uncertainty start = test::run("bounds", mixture, Weights::uniform(3));
  for (std::size_t n = 0; n < 300; ++n) {
    if (samples[n] == 0) {
      EXPECT_EQ(u.epistemic[n], start.epistemic[n]);
    }
  }
}

TEST(Refine, FewerInputsThanAskedFor) {
  const Mixture<double> mixture = spread_pool(4, 0.5, 2);
  const Uncertainty u = test::run("refine:10", mixture, Weights::uniform(3));
  const Uncertainty truth = test::run("quadrature", mixture, Weights::uniform(3));
  EXPECT_EQ(best(u, 10), best(truth, 10));
}

TEST(Refine, DuplicatesEndInDoubtAfterABoundedNumberOfSamples) {
  Mixture<double> mixture = spread_pool(6, 0.9, 3);
  for (std::size_t n = 1; n < 6; ++n) {
    std::copy_n(mixture.mean.data(), 3, mixture.mean.data() + 3 * n);
    std::copy_n(mixture.stddev.data(), 3, mixture.stddev.data() + 3 * n);
  }
  const Uncertainty u = test::run("refine:2", mixture, Weights::uniform(3));
  for (const double spent : test::extra(u, "samples")) {
    EXPECT_LE(spent, 2.0 * kRefineMaxSamples + 100);
  }
  EXPECT_GE(std::ranges::count(test::extra(u, "undecided"), 1.0), 2);
}

TEST(Refine, ThreadsGiveTheSameBits) {
  ThreadPool pool(2);
  const Mixture<double> mixture = spread_pool(80, 0.95, 4);
  const Uncertainty one = test::run("refine:6", mixture, Weights::uniform(3), {.seed = 9});
  const Uncertainty two = test::run("refine:6", mixture, Weights::uniform(3), {.executor = &pool, .seed = 9});
  EXPECT_EQ(one.epistemic, two.epistemic);
  EXPECT_EQ(one.log_deficit, two.log_deficit);
  for (std::size_t k = 0; k < one.extras.size(); ++k) {
    EXPECT_EQ(one.extras[k].values, two.extras[k].values);
  }
}

}  // namespace
}  // namespace dissent
