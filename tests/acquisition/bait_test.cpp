#include <gtest/gtest.h>

#include <Eigen/Dense>
#include <algorithm>
#include <cmath>

#include "acquisition/models.hpp"
#include "dissent/acquisition/bait_select.hpp"
#include "dissent/acquisition/last_layer.hpp"
#include "dissent/acquisition/methods.hpp"
#include "dissent/ensemble/network_model.hpp"
#include "support/golden.hpp"

namespace dissent {
namespace {

using Eigen::MatrixXd;
using test::drawn_model;
using test::drawn_rows;

// BAIT as it is defined, for rows of any rank: matrices [rank][length], everything recomputed at every step.
BaitResult plain_bait(const std::vector<MatrixXd>& given, const std::vector<MatrixXd>& training, std::size_t batch,
                      double lambda) {
  const Eigen::Index length = given[0].cols();
  const double share = static_cast<double>(batch) / static_cast<double>(training.size() + batch);
  MatrixXd fisher = MatrixXd::Zero(length, length);
  MatrixXd known = lambda * MatrixXd::Identity(length, length);
  std::vector<MatrixXd> rows;
  for (const MatrixXd& x : given) {
    fisher += x.transpose() * x / static_cast<double>(given.size());
    rows.push_back(std::sqrt(share) * x);
  }
  for (const MatrixXd& x : training) {
    known += x.transpose() * x / static_cast<double>(training.size() + batch);
  }
  BaitResult result;
  std::vector<std::size_t> left(given.size());
  for (std::size_t n = 0; n < left.size(); ++n) {
    left[n] = n;
  }
  const auto step = [&](std::vector<std::size_t>& from, double sign) {
    const MatrixXd inverse = known.inverse();
    const MatrixXd middle = inverse * fisher * inverse;
    std::vector<double> values;
    for (const std::size_t n : from) {
      const MatrixXd& x = rows[n];
      const MatrixXd identity = MatrixXd::Identity(x.rows(), x.rows());
      const MatrixXd inner = (identity + sign * x * inverse * x.transpose()).inverse();
      values.push_back(sign * (x * middle * x.transpose() * inner).trace());
    }
    const auto best = std::ranges::max_element(values) - values.begin();
    const std::size_t row = from[static_cast<std::size_t>(best)];
    from.erase(from.begin() + best);
    known += sign * rows[row].transpose() * rows[row];
    (sign > 0 ? result.added : result.removed).push_back(row);
    (sign > 0 ? result.gains : result.losses).push_back(sign * values[static_cast<std::size_t>(best)]);
  };
  while (result.added.size() < std::min(2 * batch, given.size())) {
    step(left, 1);
  }
  std::vector<std::size_t> chosen = result.added;
  while (chosen.size() > batch) {
    step(chosen, -1);
  }
  return result;
}

std::vector<MatrixXd> matrices(const test::GoldenArray& array) {
  std::vector<MatrixXd> result;
  for (std::size_t n = 0; n < array.shape[0]; ++n) {
    MatrixXd& x = result.emplace_back(array.shape[1], array.shape[2]);
    for (std::size_t r = 0; r < array.shape[1]; ++r) {
      for (std::size_t c = 0; c < array.shape[2]; ++c) {
        x(static_cast<Eigen::Index>(r), static_cast<Eigen::Index>(c)) = array(n, r, c);
      }
    }
  }
  return result;
}

void expect_golden(const BaitResult& result, const test::Golden& golden) {
  for (std::size_t k = 0; k < golden["add_order"].size(); ++k) {
    EXPECT_EQ(result.added[k], static_cast<std::size_t>(golden["add_order"](k)));
    EXPECT_NEAR(result.gains[k], golden["add_trace"](k), 1e-6 * golden["add_trace"](k));
  }
  for (std::size_t k = 0; k < golden["del_order"].size(); ++k) {
    EXPECT_EQ(result.removed[k], static_cast<std::size_t>(golden["del_order"](k)));
    EXPECT_NEAR(result.losses[k], golden["del_trace"](k), 1e-6 * golden["del_trace"](k));
  }
}

// The plain version is the reference's algorithm, whatever the rank ...
TEST(BaitGolden, ThePlainVersionIsTheReferences) {
  DISSENT_REQUIRE_GOLDEN();
  for (const char* file : {"bait_small.npz", "bait_rank1.npz", "bait_nf1d.npz"}) {
    SCOPED_TRACE(file);
    const auto golden = test::Golden::open(file);
    expect_golden(plain_bait(matrices(golden["X"]), matrices(golden["X_train"]),
                             static_cast<std::size_t>(golden["K"].scalar()), golden["lamb"].scalar()),
                  golden);
  }
}

PanelBuffer<double> as_panel(const std::vector<std::vector<double>>& columns) {
  PanelBuffer<double> buffer(columns[0].size(), columns.size());
  for (std::size_t n = 0; n < columns.size(); ++n) {
    for (std::size_t r = 0; r < columns[n].size(); ++r) {
      buffer.panel()(r, n) = columns[n][r];
    }
  }
  return buffer;
}

// ... and so is ours, for rank one ...
TEST(BaitGolden, OursIsTheReferences) {
  DISSENT_REQUIRE_GOLDEN();
  const auto golden = test::Golden::open("bait_rank1.npz");
  const auto columns = [&](const char* name) {
    std::vector<std::vector<double>> result;
    for (std::size_t n = 0; n < golden[name].shape[0]; ++n) {
      result.push_back(golden[name].row(n));
    }
    return result;
  };
  std::vector<BaitGroup> groups(1);
  groups[0].candidates = as_panel(columns("X"));
  groups[0].training = as_panel(columns("X_train"));
  groups[0].candidate_scale = as_panel(std::vector(50, std::vector(1, 1.0)));
  groups[0].training_scale = as_panel(std::vector(20, std::vector(1, 1.0)));
  groups[0].multiplicity = {1};
  expect_golden(bait_select(groups, {.num_candidates = 50,
                                     .num_training = 20,
                                     .batch = 5,
                                     .lambda = 0.01,
                                     .stream = Stream(1, Purpose::kAcquire),
                                     .executor = nullptr}),
                golden);
}

// Rows on their way are picks made before: what is added next is what was added after them.
TEST(Bait, GoesOnFromRowsOnTheirWay) {
  std::vector<std::vector<double>> rows;
  for (std::size_t n = 0; n < 60; ++n) {
    rows.push_back(drawn_rows(1, 4, n));
  }
  const auto ones = [](std::size_t count) { return as_panel(std::vector(count, std::vector(1, 1.0))); };
  const auto select = [&](const std::vector<std::vector<double>>& candidates,
                          const std::vector<std::vector<double>>& pending, std::size_t batch) {
    std::vector<BaitGroup> groups(1);
    groups[0].candidates = as_panel(candidates);
    groups[0].candidate_scale = ones(candidates.size());
    groups[0].training = as_panel({rows.begin() + 50, rows.end()});
    groups[0].training_scale = ones(10);
    if (!pending.empty()) {
      groups[0].pending = as_panel(pending);
      groups[0].pending_scale = ones(pending.size());
    }
    groups[0].multiplicity = {1};
    return bait_select(groups, {.num_candidates = candidates.size(),
                                .num_training = 10,
                                .num_pending = pending.size(),
                                .batch = batch,
                                .stream = Stream(1, Purpose::kAcquire)});
  };
  const BaitResult whole = select({rows.begin(), rows.begin() + 50}, {}, 8);
  std::vector<std::size_t> numbers;
  std::vector<std::vector<double>> left;
  std::vector<std::vector<double>> pending;
  for (std::size_t n = 0; n < 50; ++n) {
    if (std::ranges::count(std::span(whole.added).first(3), n) > 0) {
      pending.push_back(rows[n]);
    } else {
      numbers.push_back(n);
      left.push_back(rows[n]);
    }
  }
  const BaitResult rest = select(left, pending, 5);
  ASSERT_EQ(rest.added.size(), 10U);
  for (std::size_t k = 0; k < rest.added.size(); ++k) {
    EXPECT_EQ(numbers[rest.added[k]], whole.added[3 + k]) << k;
    EXPECT_NEAR(rest.gains[k], whole.gains[3 + k], 1e-9 * whole.gains[3 + k]);
  }
}

// ... and for an ensemble, where every row is a matrix with a line for each head of each component: the Fisher
// information's factor, sqrt(c) (h, 1) in the place of the head's parameters and zeros elsewhere.
TEST(Bait, IsThePlainVersionOnTheWholeFisherInformation) {
  constexpr std::size_t kOutputs = 2;
  const Ensemble model = drawn_model({.num_inputs = 3, .num_outputs = kOutputs, .num_components = 3, .gain = 1.4});
  const std::vector<double> candidates = drawn_rows(70, 3, 1);
  const std::vector<double> training = drawn_rows(25, 3, 2);
  const auto whole = [&](const std::vector<double>& rows) {
    const LastLayer layers = last_layer(model, rows, true, nullptr);
    std::size_t length = 0;
    for (std::size_t m = 0; m < 3; ++m) {
      length += 2 * kOutputs * (layers.hidden_offset[m + 1] - layers.hidden_offset[m]);
    }
    std::vector<MatrixXd> result;
    for (std::size_t n = 0; n < layers.num_rows; ++n) {
      MatrixXd& x = result.emplace_back(MatrixXd::Zero(3 * 2 * kOutputs, static_cast<Eigen::Index>(length)));
      const std::vector<float> hidden = layers.hidden_of(n);
      const std::vector<float> heads = layers.heads_of(n);
      Eigen::Index line = 0;
      Eigen::Index at = 0;
      for (std::size_t m = 0; m < 3; ++m) {
        for (std::size_t k = 0; k < 2 * kOutputs; ++k, ++line) {
          // Mean d has the Fisher information 1 / stddev_d^2, log-stddev d has 2.
          const double root = k < kOutputs ? std::exp(-heads[m * 2 * kOutputs + kOutputs + k]) : std::sqrt(2.0);
          for (std::size_t h = layers.hidden_offset[m]; h < layers.hidden_offset[m + 1]; ++h) {
            x(line, at++) = root * hidden[h];
          }
        }
      }
    }
    return result;
  };
  const BaitResult plain = plain_bait(whole(candidates), whole(training), 6, 0.01);
  const Choice choice = bait({model, {training, {}}, 6, Stream(1, Purpose::kAcquire), nullptr}, candidates);
  std::vector<std::size_t> rows;
  std::vector<double> gains;
  for (std::size_t k = 0; k < plain.added.size(); ++k) {
    if (std::ranges::find(plain.removed, plain.added[k]) == plain.removed.end()) {
      rows.push_back(plain.added[k]);
      gains.push_back(plain.gains[k]);
    }
  }
  EXPECT_EQ(choice.rows, rows);
  for (std::size_t k = 0; k < 6; ++k) {
    EXPECT_NEAR(choice.scores[k], gains[k], 1e-6 * gains[k]);
  }
}

// Information from nothing to any size: updates alone would lose all digits on the way.
TEST(Bait, KeepsItsDigitsWhereInformationIsHuge) {
  const std::vector<double> values = drawn_rows(60, 4);
  std::vector<MatrixXd> whole;
  std::vector<std::vector<double>> candidates;
  constexpr double kScale = 1e8;
  for (std::size_t n = 0; n < 60; ++n) {
    candidates.emplace_back(values.begin() + static_cast<std::ptrdiff_t>(4 * n),
                            values.begin() + static_cast<std::ptrdiff_t>(4 * n + 4));
    whole.push_back(std::sqrt(kScale) * Eigen::Map<const Eigen::RowVectorXd>(values.data() + 4 * n, 4));
  }
  std::vector<BaitGroup> groups(1);
  groups[0].candidates = as_panel(candidates);
  groups[0].candidate_scale = as_panel(std::vector(60, std::vector(1, kScale)));
  groups[0].training = PanelBuffer<double>(4, 0);
  groups[0].training_scale = PanelBuffer<double>(1, 0);
  groups[0].multiplicity = {1};
  const BaitResult result = bait_select(groups, {.num_candidates = 60,
                                                 .num_training = 0,
                                                 .batch = 6,
                                                 .lambda = 1,
                                                 .stream = Stream(1, Purpose::kAcquire),
                                                 .executor = nullptr});
  const BaitResult plain = plain_bait(whole, {}, 6, 1);
  EXPECT_EQ(result.added, plain.added);
  EXPECT_EQ(result.removed, plain.removed);
  for (std::size_t k = 0; k < 12; ++k) {
    EXPECT_NEAR(result.gains[k], plain.gains[k], 1e-5 * plain.gains[k]);
  }
}

// Standard deviations of exp(-20), so that lambda is lost beside the information; and no training rows.
TEST(Bait, StaysFiniteWhereInformationIsHuge) {
  Ensemble model = drawn_model({.num_inputs = 2, .num_outputs = 2});
  for (const Mlp& mlp : model.stack().components) {
    const std::size_t bias = mlp.layers().back().bias;
    model.parameters()[bias + 2] = model.parameters()[bias + 3] = -30;
  }
  for (const std::size_t num_training : {0UL, 40UL}) {
    const std::vector<double> training = drawn_rows(num_training, 2, 3);
    const Choice choice = bait({model, {training, {}}, 10, Stream(1, Purpose::kAcquire), nullptr}, drawn_rows(60, 2));
    ASSERT_EQ(choice.rows.size(), 10U);
    for (const double score : choice.scores) {
      EXPECT_TRUE(std::isfinite(score));
    }
  }
}

}  // namespace
}  // namespace dissent
