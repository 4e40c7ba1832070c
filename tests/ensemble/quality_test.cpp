// Fits of data whose truth is known: close to it in likelihood, and uncertain where data is thin. One seed of each
// here; quality_slow_test.cpp has many, and says how often chance would break these limits.
#include <gtest/gtest.h>

#include "dissent/base/threads.hpp"
#include "ensemble/known_truth.hpp"

namespace dissent {
namespace {

class Quality : public testing::TestWithParam<Truth> {
 protected:
  ThreadPool pool_{2};

  Ensemble fitted(Model model, const KnownRows& rows, const TrainOptions& train = {}) {
    return fit({.model = model, .seed = 21}, train, rows.rows(), {&pool_, {}}).model;
  }
};

// Gaps of ten fits (quality_slow_test and benchmarks/quality_bench.py) have mean 0.05 and stddev 0.011 nats, the test
// set adds 0.005: chance goes beyond 0.08 in about 1 of 200.
TEST_P(Quality, FlowReachesTheTruth) {
  const KnownRows train = draw_rows(GetParam(), 5000, 21, 0);
  const KnownRows test = draw_rows(GetParam(), 10'000, 21, 1);
  const Ensemble model = fitted(Model::kFlow, train);
  EXPECT_LT(gap_to_truth(GetParam(), model, test), 0.08);
  if (GetParam() == Truth::kBimodal) {
    for (const double x : {0.1, 0.5, 1.0}) {
      expect_both_modes(model, x);
    }
  }
}

// A Gaussian is the truth of hetero, and as far from that of bimodal as its two modes from a single one.
TEST_P(Quality, PneReachesItWhereNoiseIsGaussian) {
  const KnownRows train = draw_rows(GetParam(), 5000, 21, 0);
  const KnownRows test = draw_rows(GetParam(), 10'000, 21, 1);
  const double gap = gap_to_truth(GetParam(), fitted(Model::kPne, train), test);
  if (GetParam() == Truth::kHetero) {
    EXPECT_LT(gap, 0.08);
  } else {
    EXPECT_GT(gap, 1);
  }
}

// Chance breaks these limits in less than 1 of 1000 (hetero, flow) and 1 of 10,000 (others): quality_slow_test.cpp.
TEST_P(Quality, EpistemicUncertaintyIsLargeWhereDataIsThin) {
  const KnownRows train = draw_rows(GetParam(), 600, 22, 0);
  for (const Model kind : {Model::kPne, Model::kFlow}) {
    const Ensemble model = fitted(kind, train, kQuick);
    for (const char* estimator : {"kl", "bhattacharyya"}) {
      EXPECT_GT(thin_over_dense(GetParam(), model, estimator), least_ratio(GetParam())) << model_name(kind);
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Truths, Quality, testing::Values(Truth::kHetero, Truth::kBimodal),
                         [](const auto& info) { return info.param == Truth::kHetero ? "hetero" : "bimodal"; });

}  // namespace
}  // namespace dissent
