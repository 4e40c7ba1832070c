#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <set>

#include "acquisition/models.hpp"
#include "dissent/acquisition/last_layer.hpp"
#include "dissent/acquisition/methods.hpp"
#include "dissent/ensemble/network_model.hpp"

namespace dissent {
namespace {

using test::drawn_model;
using test::drawn_rows;

using Points = std::vector<std::vector<double>>;

Points features(const Ensemble& model, const std::vector<double>& rows) {
  const LastLayer layers = last_layer(model, rows, false, nullptr);
  Points points;
  for (std::size_t n = 0; n < layers.num_rows; ++n) {
    const std::vector<float> row = layers.hidden_of(n);
    points.emplace_back(row.begin(), row.end());
  }
  return points;
}

double squared_distance(const std::vector<double>& a, const std::vector<double>& b) {
  double sum = 0;
  for (std::size_t k = 0; k < a.size(); ++k) {
    sum += (a[k] - b[k]) * (a[k] - b[k]);
  }
  return sum;
}

// The algorithm as written: all assignments anew for every pick.
std::vector<std::size_t> plain_lcmd(const Points& candidates, Points centres, std::size_t batch) {
  std::vector<std::size_t> picks;
  while (picks.size() < batch) {
    std::size_t best = 0;
    if (centres.empty()) {
      const std::vector<double> origin(candidates[0].size(), 0.0);
      for (std::size_t n = 0; n < candidates.size(); ++n) {
        best = squared_distance(candidates[n], origin) > squared_distance(candidates[best], origin) ? n : best;
      }
    } else {
      std::vector<std::size_t> nearest;
      std::vector<double> distance;
      std::vector<double> size(centres.size());
      for (const auto& point : candidates) {
        std::size_t at = 0;
        for (std::size_t c = 0; c < centres.size(); ++c) {
          at = squared_distance(point, centres[c]) < squared_distance(point, centres[at]) ? c : at;
        }
        nearest.push_back(at);
        distance.push_back(squared_distance(point, centres[at]));
        size[at] += distance.back();
      }
      const auto largest = static_cast<std::size_t>(std::ranges::max_element(size) - size.begin());
      double farthest = -1;
      for (std::size_t n = 0; n < candidates.size(); ++n) {
        if (nearest[n] == largest && distance[n] > farthest) {
          farthest = distance[n];
          best = n;
        }
      }
    }
    picks.push_back(best);
    centres.push_back(candidates[best]);
  }
  return picks;
}

// With their limits, and with shared weights.
TEST(LastLayer, SaysWhatPredictionsSay) {
  for (const bool shared : {false, true}) {
    EnsembleOptions options{.model = Model::kPne, .num_components = 3, .hidden = {16, 12}};
    options.share_weights = shared;
    const Scaling unit{{0, 0}, {1, 1}};
    Ensemble model(options, {numbered_names("x", 2), numbered_names("y", 2), unit, unit});
    model.limit_certainty(drawn_rows(5, 2));
    const std::vector<double> rows = drawn_rows(300, 2, 3);
    Mixture<float> said;
    model.predict_base(rows, said);
    const LastLayer layers = last_layer(model, rows, true, nullptr);
    for (std::size_t n = 0; n < 300; ++n) {
      const std::vector<float> heads = layers.heads_of(n);
      for (std::size_t k = 0; k < 6; ++k) {
        const std::size_t at = k / 2 * 4 + k % 2;
        EXPECT_EQ(heads[at], said.mean[n * 6 + k]);
        EXPECT_NEAR(std::exp(heads[at + 2]), said.stddev[n * 6 + k], 1e-5F * said.stddev[n * 6 + k]);
      }
    }
  }
}

TEST(Lcmd, IsTheAlgorithmAsWritten) {
  for (const std::size_t num_training : {0UL, 1UL, 57UL}) {
    const Ensemble model = drawn_model({.num_inputs = 3, .num_outputs = 2});
    const std::vector<double> candidates = drawn_rows(530, 3, 1);
    const std::vector<double> training = drawn_rows(num_training, 3, 2);
    const Choice choice = lcmd({model, {training, {}}, 15, Stream(1, Purpose::kAcquire), nullptr}, candidates);
    EXPECT_EQ(choice.rows, plain_lcmd(features(model, candidates), features(model, training), 15));
  }
}

// The rows that are picked first, over many random streams.
std::set<std::size_t> first_picks(const Ensemble& model, const std::vector<double>& training,
                                  const std::vector<double>& candidates) {
  std::set<std::size_t> rows;
  for (std::uint64_t seed = 0; seed < 64; ++seed) {  // all on one of two sides: a chance of 1e-19
    rows.insert(lcmd({model, {training, {}}, 1, Stream(seed, Purpose::kAcquire), nullptr}, candidates).rows[0]);
  }
  return rows;
}

TEST(Lcmd, TheRandomStreamBreaksTies) {
  // A network whose last hidden layer is the input, exactly.
  EnsembleOptions options{
      .model = Model::kPne, .num_components = 2, .hidden = {1}, .keep_probability = 1, .bootstrap = false};
  const Scaling unit{{0}, {1}};
  Ensemble model(options, {{"x"}, {"y"}, unit, unit});
  for (const Mlp& mlp : model.stack().components) {
    model.parameters()[mlp.layers()[0].weight] = 1;
    model.parameters()[mlp.layers()[0].bias] = 0;
  }
  EXPECT_EQ(features(model, {7}), (Points{{7, 1, 7, 1}}));
  const std::vector<double> training{100, 200};
  // Of rows of one cluster, of clusters, and of the clusters that a row in the middle may belong to.
  EXPECT_EQ(first_picks(model, training, {103, 95, 105}), (std::set<std::size_t>{1, 2}));
  EXPECT_EQ(first_picks(model, training, {105, 205}), (std::set<std::size_t>{0, 1}));
  EXPECT_EQ(first_picks(model, training, {150, 45, 255}), (std::set<std::size_t>{1, 2}));
}

TEST(Lcmd, DistanceIsThatOfTheMeanHeadsGradients) {
  // d mean_d / d (weights of head d', bias of head d') = (h, 1) if d = d', else 0: finite differences of the network.
  Ensemble model = drawn_model({.num_inputs = 2, .num_outputs = 2, .num_components = 2});
  const std::vector<double> rows = drawn_rows(2, 2);
  const Points points = features(model, rows);
  double sum = 0;
  for (const Mlp& mlp : model.stack().components) {
    const Mlp::Layer& last = mlp.layers().back();
    for (std::size_t r = 0; r < 2; ++r) {
      for (std::size_t k = 0; k <= last.num_inputs; ++k) {
        float& parameter =
            model.parameters()[k == last.num_inputs ? last.bias + r : last.weight + r * last.num_inputs + k];
        const float before = parameter;
        const Mixture<double> at = model.predict(rows);
        parameter = before + 0.25F;
        const Mixture<double> moved = model.predict(rows);
        parameter = before;
        for (std::size_t d = 0; d < 2; ++d) {
          double gradient[2] = {0, 0};
          for (std::size_t n = 0; n < 2; ++n) {
            for (std::size_t m = 0; m < 2; ++m) {
              gradient[n] += (moved.mean[(n * 2 + m) * 2 + d] - at.mean[(n * 2 + m) * 2 + d]) / 3 / 0.25;
            }
          }
          sum += (gradient[0] - gradient[1]) * (gradient[0] - gradient[1]);
        }
      }
    }
  }
  EXPECT_NEAR(sum, 2 * squared_distance(points[0], points[1]), 1e-4 * sum);
}

}  // namespace
}  // namespace dissent
