// Rows on a device: a device that is the host must lead to the rows that given arrays lead to, bit by bit, so that what
// remains to be tested on a card is arithmetic.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "dissent/acquisition/acquisition.hpp"
#include "dissent/acquisition/host_candidates.hpp"
#include "dissent/acquisition/ranking.hpp"
#include "dissent/base/threads.hpp"
#include "dissent/ensemble/given_model.hpp"
#include "dissent/estimator/score_device.hpp"
#include "support/choices.hpp"
#include "support/mixtures.hpp"
#include "support/temp_dir.hpp"

namespace dissent {
namespace {

using test::choose_on_device;
using test::choose_on_host;

// A pool in the host's memory, scored as the processor scores given arrays.
class HostPool final : public PoolOnDevice {
 public:
  explicit HostPool(const Mixture<double>& mixture)
      : mixture_(mixture), model_(given_ensemble(mixture.view())), all_(test::row_numbers(mixture.num_inputs)) {}

  std::size_t num_rows() const override { return mixture_.num_inputs; }
  std::size_t num_outputs() const override { return mixture_.num_outputs; }
  const Weights& weights() const override { return model_.weights(); }

  Scores score(const Divergence& divergence) override {
    Mixture<float> base;
    model_.predict_base(all_, base);
    const Uncertainty found = estimate(pairwise_estimator(divergence), base.view());
    return {found.epistemic, found.log_deficit};
  }
  std::unique_ptr<JointCandidates> compare(const Divergence& divergence) override {
    return host_candidates(divergence, model_, all_, nullptr);
  }
  Mixture<double> rows(std::span<const std::size_t> rows, std::span<const std::size_t> outputs) override {
    num_fetched += rows.size();
    const std::size_t M = mixture_.num_components;
    Mixture<double> found = Mixture<double>::diagonal(rows.size(), M, outputs.size());
    found.weights = weights();
    std::size_t to = 0;
    for (const std::size_t row : rows) {
      for (std::size_t m = 0; m < M; ++m) {
        for (const std::size_t d : outputs) {
          const std::size_t from = (row * M + m) * mixture_.num_outputs + d;
          found.mean[to] = mixture_.mean[from];
          found.stddev[to++] = mixture_.stddev[from];
        }
      }
    }
    return found;
  }

  std::size_t num_fetched = 0;

 private:
  const Mixture<double>& mixture_;
  Ensemble model_;
  std::vector<double> all_;
};

struct Shape {
  std::size_t num_inputs, num_components, num_outputs;
  double apart = 1;
};

Mixture<double> mixture_of(const Shape& shape, bool weighted) {
  Mixture<double> mixture = test::diagonal_mixture<double>({.num_inputs = shape.num_inputs,
                                                            .num_components = shape.num_components,
                                                            .num_outputs = shape.num_outputs,
                                                            .mean_gap = shape.apart,
                                                            .seed = 5});
  std::vector<double> weights;
  if (weighted) {
    weights.assign(shape.num_components, 0.5 / static_cast<double>(shape.num_components - 1));
    weights[0] = 0.5;
    weights[1] += weights.back();
    weights.back() = 0;
  }
  mixture.weights = Weights::from(weights, shape.num_components);
  return mixture;
}

void expect_same(const Choice& found, const Choice& expected) {
  EXPECT_EQ(found.rows, expected.rows);
  EXPECT_EQ(found.scores, expected.scores);
  EXPECT_EQ(found.epistemic, expected.epistemic);
}

TEST(ChooseThere, RowsAreThoseOfGivenArrays) {
  for (const Shape& shape : {Shape{300, 5, 3}, Shape{31, 2, 1}, Shape{40, 8, 12}, Shape{12, 3, 1}}) {
    for (const bool weighted : {false, true}) {
      const Mixture<double> mixture = mixture_of(shape, weighted && shape.num_components > 2);
      for (const char* name : test::kMethodsThere) {
        for (const Ranking ranking : {Ranking::kDeficit, Ranking::kValue}) {
          HostPool pool(mixture);
          SCOPED_TRACE(fmt::format("{}, {} rows, {}", name, shape.num_inputs, ranking_name(ranking)));
          expect_same(choose_on_device(name, pool, 12, ranking), choose_on_host(name, mixture, 12, ranking));
        }
      }
    }
  }
}

TEST(ChooseThere, OnlyTheShortListIsFetchedAfterSaturation) {
  const Mixture<double> mixture = mixture_of({2500, 5, 60, 4}, true);
  HostPool pool(mixture);
  expect_same(choose_on_device("kl-joint", pool, 40), choose_on_host("kl-joint", mixture, 40));
  EXPECT_GE(pool.num_fetched, short_list_length(40));
  EXPECT_LE(pool.num_fetched, short_list_length(40) + 40);
}

TEST(ChooseThere, NothingIsFetchedBefore) {
  const Mixture<double> mixture = mixture_of({50, 5, 1, 0.1}, false);
  HostPool pool(mixture);
  choose_on_device("kl-joint", pool, 5);
  EXPECT_EQ(pool.num_fetched, 0U);
}

// As small as weights of evidence may be, exp(-200): the others are chosen by as if it were 0, on the host too.
TEST(ChooseThere, WeightsThatSinglePrecisionCannotSeeDoNotCount) {
  Mixture<double> mixture = mixture_of({200, 4, 3}, false);
  for (const char* name : {"kl-joint", "bhattacharyya-joint"}) {
    for (const Ranking ranking : {Ranking::kDeficit, Ranking::kValue}) {
      std::vector<std::vector<std::size_t>> rows;
      for (const double least : {0.0, 1e-29, 1e-31, 1e-40, 1e-60, 1e-100}) {
        mixture.weights = Weights::from(std::vector<double>{0.5, least, 0.3, 0.2}, 4);
        HostPool pool(mixture);
        SCOPED_TRACE(fmt::format("{} by {}, {}", name, ranking_name(ranking), least));
        rows.push_back(choose_on_host(name, mixture, 12, ranking).rows);
        EXPECT_EQ(rows.back(), rows.front());
        EXPECT_EQ(choose_on_device(name, pool, 12, ranking).rows, rows.back());
      }
    }
  }
  mixture.weights = Weights::from(std::vector<double>{1, 1e-40, 0, 1e-35}, 4);
  HostPool pool(mixture);
  EXPECT_NE(message_of<InputError>([&] { choose_on_device("kl-joint", pool, 2); }).find("weigh less than 1e-30"),
            std::string::npos);
  EXPECT_EQ(message_of<InputError>([&] { choose_on_device("kl-joint", pool, 2); }),
            message_of<InputError>([&] { choose_on_host("kl-joint", mixture, 2); }));
  EXPECT_NE(message_of<InputError>([&] { choose_on_host("kl-aim", mixture, 2); }).find("weigh less than"),
            std::string::npos);
  // Nor do they take the places of those that count, where an aim looks at a hundred components.
  Mixture<double> many = mixture_of({30, 150, 1}, false);
  std::vector<double> weights(150, 1e-40);
  weights[0] = weights[2] = 0.5;
  many.weights = Weights::from(weights, 150);
  EXPECT_EQ(choose_on_host("kl-aim", many, 2).rows.size(), 2U);
}

TEST(ChooseThere, AnExecutorThatThrowsEndsTheChoice) {
  const Mixture<double> mixture = mixture_of({50, 3, 2}, false);
  HostPool pool(mixture);
  int calls = 0;
  ThreadPool threads(1, [&calls] {
    if (++calls == 4) {
      throw SystemError("interrupted");
    }
  });
  EXPECT_THROW(choose_there(Acquisition::parse("kl-joint"), {.pool = pool,
                                                             .batch = 30,
                                                             .stream = Stream(3, Purpose::kAcquire),
                                                             .executor = &threads,
                                                             .ranking = Ranking::kValue}),
               SystemError);
  EXPECT_EQ(calls, 4);
}

TEST(ChooseThere, TiesAreBrokenAsOnTheHost) {
  const Mixture<double> one = mixture_of({1, 4, 2}, false);
  Mixture<double> mixture = Mixture<double>::diagonal(64, 4, 2);
  for (std::size_t k = 0; k < mixture.mean.size(); ++k) {
    mixture.mean[k] = one.mean[k % 8];
    mixture.stddev[k] = one.stddev[k % 8];
  }
  mixture.weights = Weights::uniform(4);
  HostPool pool(mixture);
  for (const char* name : {"kl", "kl-joint"}) {
    const Choice found = choose_on_device(name, pool, 10);
    EXPECT_EQ(found.rows, choose_on_host(name, mixture, 10).rows) << name;
    EXPECT_FALSE(std::ranges::is_sorted(found.rows)) << name;  // by a draw
  }
}

TEST(ChooseThere, WhatRunsOnTheHostOnlyIsRefused) {
  const Mixture<double> mixture = mixture_of({20, 3, 2}, false);
  HostPool pool(mixture);
  for (const char* name : {"aim", "kl-aim", "chernoff-best", "mc:100", "batchbald:100", "variance", "random"}) {
    const std::string message = message_of<InputError>([&] { choose_on_device(name, pool, 5); });
    EXPECT_NE(message.find(name), std::string::npos) << message;
    EXPECT_NE(message.find("chernoff-joint:A"), std::string::npos) << message;
    EXPECT_NE(message.find("bring the arrays to the host"), std::string::npos) << message;
  }
}

TEST(ChooseThere, TheRequestIsCheckedAsOnTheHost) {
  const Mixture<double> mixture = mixture_of({20, 3, 2}, false);
  HostPool pool(mixture);
  for (const std::size_t batch : {0UL, 21UL}) {
    EXPECT_EQ(message_of<InputError>([&] { choose_on_device("kl", pool, batch); }),
              message_of<InputError>([&] { choose_on_host("kl", mixture, batch); }));
  }
  EXPECT_EQ(choose_on_device("kl-joint", pool, 20).rows.size(), 20U);
  Mixture<double> single = mixture;
  single.weights = Weights::from(std::vector<double>{0, 1, 0}, 3);
  HostPool of_one(single);
  EXPECT_EQ(message_of<InputError>([&] { choose_on_device("kl-joint", of_one, 5); }),
            message_of<InputError>([&] { choose_on_host("kl-joint", single, 5); }));
}

}  // namespace
}  // namespace dissent
