// The limits of quality_test.cpp over many seeds, and from them how often chance would break one.
#include <gtest/gtest.h>

#include <cstdio>

#include "dissent/base/threads.hpp"
#include "ensemble/known_truth.hpp"

namespace dissent {
namespace {

class QualitySlow : public testing::TestWithParam<Truth> {
 protected:
  ThreadPool pool_{2};
};

struct Spread {
  double mean;
  double stddev;
};

Spread spread_of(const std::vector<double>& values) {
  const double mean = mean_of(values);
  double sum = 0;
  for (const double value : values) {
    sum += (value - mean) * (value - mean);
  }
  return {mean, std::sqrt(sum / static_cast<double>(values.size() - 1))};
}

// Of a normal variable beyond `limit` on the far side of its mean.
double tail(const Spread& spread, double limit) {
  return 0.5 * std::erfc(std::abs(limit - spread.mean) / (spread.stddev * std::sqrt(2.0)));
}

TEST_P(QualitySlow, FlowReachesTheTruthForEverySeed) {
  std::vector<double> gaps;
  for (std::uint64_t seed = 31; seed < 36; ++seed) {
    const KnownRows train = draw_rows(GetParam(), 5000, seed, 0);
    const KnownRows test = draw_rows(GetParam(), 10'000, seed, 1);
    const Ensemble model = fit({.seed = seed}, {}, train.rows(), {&pool_, {}}).model;
    gaps.push_back(gap_to_truth(GetParam(), model, test));
    EXPECT_LT(gaps.back(), 0.08) << seed;
    if (GetParam() == Truth::kBimodal) {
      expect_both_modes(model, 0.5);
    }
  }
  const Spread spread = spread_of(gaps);
  std::printf("gap: mean %.4f, stddev %.4f\n", spread.mean, spread.stddev);
}

// The logarithm of the ratio is close to normal; its mean and stddev over 40 ensembles give the chance that one falls
// below the limit.
TEST_P(QualitySlow, EpistemicUncertaintyIsLargeWhereDataIsThin) {
  for (const Model kind : {Model::kPne, Model::kFlow}) {
    std::vector<double> ratios[2];
    for (std::uint64_t seed = 1; seed <= 40; ++seed) {
      const KnownRows train = draw_rows(GetParam(), 600, seed, 0);
      const Ensemble model = fit({.model = kind, .seed = seed}, kQuick, train.rows(), {&pool_, {}}).model;
      ratios[0].push_back(std::log(thin_over_dense(GetParam(), model, "kl")));
      ratios[1].push_back(std::log(thin_over_dense(GetParam(), model, "bhattacharyya")));
    }
    for (const std::vector<double>& ratio : ratios) {
      const Spread spread = spread_of(ratio);
      const double rate = tail(spread, std::log(least_ratio(GetParam())));
      std::printf("%s: ln ratio mean %.3f, stddev %.3f, false alarms %.1e\n", std::string(model_name(kind)).c_str(),
                  spread.mean, spread.stddev, rate);
      EXPECT_LT(rate, GetParam() == Truth::kHetero && kind == Model::kFlow ? 3e-2 : 1e-3);
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Truths, QualitySlow, testing::Values(Truth::kHetero, Truth::kBimodal),
                         [](const auto& info) { return info.param == Truth::kHetero ? "hetero" : "bimodal"; });

}  // namespace
}  // namespace dissent
