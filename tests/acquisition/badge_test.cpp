#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "acquisition/models.hpp"
#include "dissent/acquisition/methods.hpp"
#include "dissent/acquisition/ranking.hpp"
#include "dissent/ensemble/network_model.hpp"
#include "support/golden.hpp"

namespace dissent {
namespace {

using test::drawn_model;
using test::drawn_rows;

double squared_distance(const std::vector<double>& a, const std::vector<double>& b) {
  double sum = 0;
  for (std::size_t k = 0; k < a.size(); ++k) {
    sum += (a[k] - b[k]) * (a[k] - b[k]);
  }
  return sum;
}

double squared_norm(const std::vector<double>& a) { return std::inner_product(a.begin(), a.end(), a.begin(), 0.0); }

// k-means++ on embeddings as they stand.
Choice plain_choice(const std::vector<std::vector<double>>& embeddings, std::size_t batch,
                    const std::function<double()>& uniform) {
  KMeansPlusPlus task;
  for (std::size_t n = 0; n < embeddings.size(); ++n) {
    if (squared_norm(embeddings[n]) > task.first_score) {
      task.first = n;
      task.first_score = squared_norm(embeddings[n]);
    }
  }
  task.batch = batch;
  task.distances = [&](std::size_t centre, std::span<double> squared) {
    for (std::size_t n = 0; n < embeddings.size(); ++n) {
      squared[n] = squared_distance(embeddings[n], embeddings[centre]);
    }
  };
  task.uniform = uniform;
  return k_means_plus_plus(embeddings.size(), task);
}

TEST(BadgeGolden, GivenTheUniformsTheChoiceIsTheReferences) {
  DISSENT_REQUIRE_GOLDEN();
  const auto golden = test::Golden::open("badge_small.npz");
  std::vector<std::vector<double>> embeddings;
  for (std::size_t n = 0; n < 80; ++n) {
    embeddings.push_back(golden["embeddings"].row(n));
  }
  for (const char* seed : {"seed0", "seed1", "seed2", "seed3", "seed4"}) {
    std::size_t next = 0;
    const Choice choice =
        plain_choice(embeddings, 10, [&] { return golden[std::string("uniforms_") + seed].data.at(next++); });
    EXPECT_EQ(choice.rows[0], static_cast<std::size_t>(golden["first_index"].scalar()));
    for (std::size_t k = 0; k < 10; ++k) {
      EXPECT_EQ(choice.rows[k], static_cast<std::size_t>(golden[std::string("selected_") + seed](k)));
    }
  }
}

TEST(Badge, CoincidingRowsAreTakenAtRandomWhenNothingElseIsLeft) {
  const std::vector<std::vector<double>> embeddings{{1, 0}, {0, 1}, {1, 0}, {0, 1}, {1, 0}};
  Stream stream(1, Purpose::kTest);
  const Choice choice = plain_choice(embeddings, 5, [&] { return stream.uniform(); });
  std::vector<std::size_t> rows = choice.rows;
  EXPECT_EQ(choice.scores[1], 2);
  EXPECT_EQ(choice.scores[2], 0);
  std::ranges::sort(rows);
  EXPECT_EQ(rows, (std::vector<std::size_t>{0, 1, 2, 3, 4}));
}

// With the first picks known, the same uniforms draw the rest.
TEST(Badge, GoesOnFromKnownRows) {
  std::vector<std::vector<double>> embeddings;
  for (std::size_t n = 0; n < 30; ++n) {
    embeddings.push_back(drawn_rows(1, 3, n));
  }
  const std::vector<double> uniforms{0.31, 0.82, 0.13, 0.64, 0.95};
  std::size_t next = 0;
  const Choice whole = plain_choice(embeddings, 6, [&] { return uniforms.at(next++); });
  std::vector<std::size_t> numbers(30);
  std::iota(numbers.begin(), numbers.end(), std::size_t{0});
  std::erase_if(numbers, [&](std::size_t n) { return std::ranges::count(std::span(whole.rows).first(3), n) > 0; });
  numbers.insert(numbers.end(), whole.rows.begin(), whole.rows.begin() + 3);
  next = 2;
  std::vector<double> utilities;
  const Choice rest =
      k_means_plus_plus(27, {.num_known = 3,
                             .batch = 3,
                             .distances =
                                 [&](std::size_t centre, std::span<double> squared) {
                                   for (std::size_t n = 0; n < squared.size(); ++n) {
                                     squared[n] = squared_distance(embeddings[numbers[n]], embeddings[numbers[centre]]);
                                   }
                                 },
                             .uniform = [&] { return uniforms.at(next++); },
                             .utilities = &utilities});
  for (std::size_t k = 0; k < 3; ++k) {
    EXPECT_EQ(numbers[rest.rows[k]], whole.rows[3 + k]);
    EXPECT_EQ(rest.scores[k], whole.scores[3 + k]);
  }
  EXPECT_EQ(utilities.size(), 3 * 27U);
}

// The embeddings with every outer product written out, from the networks' parameters in double precision: hidden
// activations by the plain formula, the target drawn as badge draws it.
std::vector<std::vector<double>> plain_embeddings(const Ensemble& model, const std::vector<double>& rows,
                                                  const Stream& stream) {
  const std::size_t C = model.num_input_columns();
  const std::size_t D = model.num_outputs();
  const std::size_t M = model.num_components();
  std::vector<std::vector<double>> embeddings;
  for (std::size_t n = 0; n < rows.size() / C; ++n) {
    std::vector<std::vector<double>> hidden(M);
    std::vector<std::vector<double>> heads(M);
    for (std::size_t m = 0; m < M; ++m) {
      std::vector<double> in;
      for (std::size_t c = 0; c < C; ++c) {
        in.push_back(model.columns().input_scaling.scaled(c, rows[n * C + c]));
      }
      for (const Mlp::Layer& layer : model.stack().components[m].layers()) {
        const bool last = &layer == &model.stack().components[m].layers().back();
        std::vector<double> out;
        for (std::size_t r = 0; r < layer.num_outputs; ++r) {
          double sum = model.parameters()[layer.bias + r];
          for (std::size_t k = 0; k < layer.num_inputs; ++k) {
            sum += static_cast<double>(model.parameters()[layer.weight + r * layer.num_inputs + k]) * in[k];
          }
          out.push_back(last ? sum : std::max(0.0, sum));
        }
        (last ? hidden : heads)[m] = last ? in : std::vector<double>{};
        if (last) {
          heads[m] = out;
        }
        in = out;
      }
      hidden[m].push_back(1);
    }
    Stream draw = stream.substream(kTargetDraw + n);
    double left = draw.uniform();
    std::size_t from = 0;
    while (from + 1 < M && left >= model.weights().value[from]) {
      left -= model.weights().value[from++];
    }
    std::vector<double>& embedding = embeddings.emplace_back();
    std::vector<double> target;
    for (std::size_t d = 0; d < D; ++d) {
      target.push_back(heads[from][d] + std::exp(heads[from][D + d]) * draw.normal());
    }
    for (std::size_t m = 0; m < M; ++m) {
      const double factor = std::sqrt(static_cast<double>(M) * model.weights().value[m]);
      for (std::size_t d = 0; d < D; ++d) {
        const double precision = std::exp(-2 * heads[m][D + d]);
        const double residual = heads[m][d] - target[d];
        for (const double g : {residual * precision, 1 - residual * residual * precision}) {
          for (const double h : hidden[m]) {
            embedding.push_back(factor * g * h);
          }
        }
      }
    }
  }
  return embeddings;
}

TEST(Badge, IsKMeansPlusPlusOnTheGradientsWrittenOut) {
  for (const bool weighted : {false, true}) {
    const Ensemble model =
        drawn_model({.num_inputs = 3,
                     .num_outputs = 3,
                     .num_components = 3,
                     .weights = weighted ? std::vector<double>{0.6, 0.3, 0.1} : std::vector<double>{},
                     .gain = 1.2});
    const std::vector<double> rows = drawn_rows(300, 3);
    const Stream stream(4, Purpose::kAcquire);
    const Choice choice = badge({model, {}, 12, stream, nullptr}, rows);
    Stream uniforms = stream.substream(kMethodDraw);
    const Choice plain = plain_choice(plain_embeddings(model, rows, stream), 12, [&] { return uniforms.uniform(); });
    EXPECT_EQ(choice.rows, plain.rows);
    for (std::size_t k = 0; k < 12; ++k) {
      EXPECT_NEAR(choice.scores[k], plain.scores[k], 1e-4 * plain.scores[0]);
    }
  }
}

// Standard deviations of exp(-20): gradients beyond the range of a float.
TEST(Badge, HugeGradientsStayFinite) {
  Ensemble model = drawn_model({.num_inputs = 2, .num_outputs = 2, .gain = 3});
  for (const Mlp& mlp : model.stack().components) {
    const std::size_t bias = mlp.layers().back().bias;
    model.parameters()[bias + 2] = model.parameters()[bias + 3] = -30;
  }
  const Choice choice = badge({model, {}, 5, Stream(1, Purpose::kAcquire), nullptr}, drawn_rows(50, 2));
  for (const double score : choice.scores) {
    EXPECT_TRUE(std::isfinite(score));
    EXPECT_GT(score, 0);
  }
}

}  // namespace
}  // namespace dissent
