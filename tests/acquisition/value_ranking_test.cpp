// Ranking by the value of the estimate, as the paper does, beside the log deficit.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "acquisition/models.hpp"
#include "dissent/acquisition/acquisition.hpp"
#include "dissent/acquisition/ranking.hpp"
#include "dissent/base/error.hpp"
#include "support/temp_dir.hpp"

namespace dissent {
namespace {

using test::drawn_model;
using test::drawn_rows;

AcquisitionTask task_of(const Ensemble& model, std::size_t batch, Ranking ranking, std::uint64_t round = 0) {
  return {.model = model,
          .training = {},
          .batch = batch,
          .stream = Stream(1, Purpose::kAcquire, round),
          .ranking = ranking,
          .aleatoric = false};
}

TEST(ValueRanking, HasNames) {
  for (const std::string& name : ranking_names()) {
    EXPECT_EQ(ranking_name(ranking_from_name(name)), name);
  }
  EXPECT_NE(message_of<InputError>([] { ranking_from_name("valeu"); }).find("did you mean 'value'?"),
            std::string::npos);
}

// Where nothing saturates both rank alike, and scores are estimates, or what is added to those.
TEST(ValueRanking, ChoosesTheSameRowsWhereNothingSaturates) {
  const Ensemble model = drawn_model({.gain = 1.2});
  const std::vector<double> candidates = drawn_rows(300, 2);
  for (const char* name : {"kl", "bhattacharyya", "mc:200", "kl-joint", "batchbald:200"}) {
    const Acquisition method = Acquisition::parse(name);
    const Choice deficit = choose(method, task_of(model, 5, Ranking::kDeficit), candidates);
    const Choice value = choose(method, task_of(model, 5, Ranking::kValue), candidates);
    EXPECT_EQ(deficit.rows, value.rows) << name;
    const bool of_batch = !method.streams();  // then each score is what its row adds
    double estimate = 0;
    double gained = of_batch ? -std::log(std::log(5.0)) : 0;
    for (std::size_t k = 0; k < 5; ++k) {
      estimate = value.scores[k] + (of_batch ? estimate : 0);
      gained = deficit.scores[k] + (of_batch ? gained : 0);
      EXPECT_NEAR(estimate, std::log(5.0) - std::exp(-gained), 1e-5) << name;
      EXPECT_NEAR(value.epistemic[k], deficit.epistemic[k], 1e-6) << name;
    }
  }
}

// Every estimate is ln 5 in single precision: the deficit still tells rows apart, values leave them to chance.
TEST(ValueRanking, LeavesTiesToChance) {
  const Ensemble model = drawn_model({.num_inputs = 3, .num_outputs = 60, .gain = 5});
  const std::vector<double> candidates = drawn_rows(80, 3);
  for (const char* name : {"kl", "mc:50", "kl-joint", "batchbald:50"}) {
    const Acquisition method = Acquisition::parse(name);
    std::set<std::vector<std::size_t>> by_value;
    for (std::uint64_t round = 0; round < 5; ++round) {
      const Choice choice = choose(method, task_of(model, 3, Ranking::kValue, round), candidates);
      by_value.insert(choice.rows);
      EXPECT_EQ(choice.scores[0], static_cast<double>(std::log(5.0F))) << name;
      for (const double score : {choice.scores[1], choice.scores[2]}) {
        EXPECT_EQ(score, method.streams() ? choice.scores[0] : 0) << name;
      }
    }
    EXPECT_GT(by_value.size(), 3U) << name;  // of 80^3 triples, two of five alike: one in 50,000
  }
  std::set<std::vector<std::size_t>> by_deficit;
  for (std::uint64_t round = 0; round < 5; ++round) {
    by_deficit.insert(choose(Acquisition::parse("kl"), task_of(model, 3, Ranking::kDeficit, round), candidates).rows);
  }
  EXPECT_EQ(by_deficit.size(), 1U);
}

TEST(ValueRanking, OneSampleIsEnough) {
  const Ensemble model = drawn_model({.gain = 1.5});
  const std::vector<double> candidates = drawn_rows(40, 2);
  for (const char* name : {"mc:1", "mc:4", "batchbald:1", "batchbald:3"}) {
    const Choice choice = choose(Acquisition::parse(name), task_of(model, 6, Ranking::kDeficit), candidates);
    for (std::size_t k = 0; k < 6; ++k) {
      EXPECT_TRUE(std::isfinite(choice.scores[k])) << name;
      EXPECT_GE(choice.epistemic[k], 0) << name;
      EXPECT_LE(choice.epistemic[k], std::log(5.0)) << name;
    }
  }
}

}  // namespace
}  // namespace dissent
