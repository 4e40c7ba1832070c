#include "dissent/ensemble/recalibration.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <numeric>

#include "dissent/base/error.hpp"
#include "dissent/base/random.hpp"
#include "dissent/ensemble/fit.hpp"
#include "dissent/ensemble/metrics.hpp"
#include "dissent/ensemble/output_map.hpp"
#include "dissent/estimator/estimator.hpp"
#include "support/temp_dir.hpp"

namespace dissent {
namespace {

struct Rows {
  Mixture<double> mixture;
  std::vector<double> values;
};

// Values drawn from a mixture whose stddevs are `factors` times those given.
Rows draw(std::size_t N, std::size_t M, const std::vector<double>& factors, double distance) {
  const std::size_t D = factors.size();
  Rows rows{Mixture<double>::diagonal(N, M, D), std::vector<double>(N * D)};
  Stream stream(11, Purpose::kTest, M);
  for (std::size_t k = 0; k < rows.mixture.mean.size(); ++k) {
    rows.mixture.mean[k] = distance * stream.normal();
    rows.mixture.stddev[k] = std::exp(0.5 * stream.normal());
  }
  for (std::size_t n = 0; n < N; ++n) {
    const std::size_t m = stream.below(M);
    for (std::size_t d = 0; d < D; ++d) {
      const std::size_t at = (n * M + m) * D + d;
      rows.values[n * D + d] = rows.mixture.mean[at] + factors[d] * rows.mixture.stddev[at] * stream.normal();
    }
  }
  return rows;
}

double log_likelihood(const Rows& rows, std::span<const double> factors) {
  Mixture<double> scaled = rows.mixture;
  scale_spread(scaled, factors);
  const std::size_t M = scaled.num_components;
  const std::size_t D = scaled.num_outputs;
  double sum = 0;
  for (std::size_t n = 0; n < scaled.num_inputs; ++n) {
    double density = 0;
    for (std::size_t m = 0; m < M; ++m) {
      double log_p = 0;
      for (std::size_t d = 0; d < D; ++d) {
        const std::size_t at = (n * M + m) * D + d;
        const double z = (rows.values[n * D + d] - scaled.mean[at]) / scaled.stddev[at];
        log_p -= 0.5 * z * z + std::log(scaled.stddev[at]);
      }
      density += std::exp(log_p);
    }
    sum += std::log(density);
  }
  return sum;
}

TEST(Recalibration, IsExactForOneGaussian) {
  const Rows rows = draw(200, 1, {0.5, 3}, 10);
  const std::vector<double> factors = spread_factors(rows.mixture, Weights::uniform(1), rows.values);
  for (std::size_t d = 0; d < 2; ++d) {
    double sum = 0;
    for (std::size_t n = 0; n < 200; ++n) {
      const double z = (rows.values[2 * n + d] - rows.mixture.mean[2 * n + d]) / rows.mixture.stddev[2 * n + d];
      sum += z * z / 200;
    }
    EXPECT_NEAR(factors[d], std::sqrt(sum), 1e-12 * factors[d]);
  }
}

TEST(Recalibration, FindsTheFactorsOfAMixture) {
  for (const double distance : {0.3, 2.0, 30.0}) {
    const std::vector<double> truth{0.4, 1.0, 2.5};
    const Rows rows = draw(4000, 5, truth, distance);
    const std::vector<double> factors = spread_factors(rows.mixture, Weights::uniform(5), rows.values);
    for (std::size_t d = 0; d < 3; ++d) {
      EXPECT_NEAR(factors[d] / truth[d], 1, 0.1) << distance;  // standard error of ln f: 0.011 where members are apart
    }
    // A maximum: no factor can be moved without loss.
    const double best = log_likelihood(rows, factors);
    for (std::size_t d = 0; d < 3; ++d) {
      for (const double step : {0.99, 1.01}) {
        std::vector<double> moved = factors;
        moved[d] *= step;
        EXPECT_LT(log_likelihood(rows, moved), best);
      }
    }
  }
}

// Members without weight have no say, whatever they predict.
TEST(Recalibration, IgnoresMembersWithoutWeight) {
  Rows rows = draw(300, 2, {2.0}, 1);
  Mixture<double> first = Mixture<double>::diagonal(300, 1, 1);
  for (std::size_t n = 0; n < 300; ++n) {
    first.mean[n] = rows.mixture.mean[2 * n];
    first.stddev[n] = rows.mixture.stddev[2 * n];
  }
  EXPECT_NEAR(spread_factors(rows.mixture, Weights::from(std::vector<double>{1, 0}, 2), rows.values).front(),
              spread_factors(first, Weights::uniform(1), rows.values).front(), 1e-9);
}

TEST(Recalibration, ValuesThatAreMetExactlyGiveAFiniteFactor) {
  Mixture<double> mixture = Mixture<double>::diagonal(20, 3, 1);
  std::ranges::fill(mixture.stddev, 1.0);
  const std::vector<double> values(20, 0.0);
  EXPECT_EQ(spread_factors(mixture, Weights::uniform(3), values).front(), 1e-3);
}

TEST(Recalibration, RefusesWhatItCannotJudge) {
  Rows rows = draw(20, 2, {1.0}, 1);
  const Weights weights = Weights::uniform(2);
  EXPECT_THROW(spread_factors(rows.mixture, Weights::uniform(3), rows.values), InputError);
  EXPECT_THROW(spread_factors(rows.mixture, weights, std::span(rows.values).first(19)), InputError);
  EXPECT_THROW(spread_factors(Mixture<double>::full(20, 2, 1), weights, rows.values), InputError);
  EXPECT_EQ(message_of<InputError>([&] {
              const Rows few = draw(9, 2, {1.0}, 1);
              spread_factors(few.mixture, weights, few.values);
            }),
            "9 rows; at least 10 are required");
  rows.values[7] = std::nan("");
  EXPECT_EQ(message_of<InputError>([&] { spread_factors(rows.mixture, weights, rows.values); }),
            "value [7, 0] is nan; it must be finite");
  Ensemble model({}, {{"x"}, {"y"}, {{0}, {1}}, {{0}, {1}}});
  EXPECT_THROW(model.scale_spread(std::vector<double>{1, 1}), InputError);
  EXPECT_THROW(model.scale_spread(std::vector<double>{0}), InputError);
}

// y = (x, 3 x) + noise, the second output ten times as noisy.
struct Data {
  std::vector<double> x, y;
};

Data line(std::size_t num_rows, std::uint64_t part) {
  Data data;
  Stream stream(12, Purpose::kTest, part);
  for (std::size_t n = 0; n < num_rows; ++n) {
    data.x.push_back(stream.uniform());
    data.y.push_back(10 * data.x.back() + stream.normal());
    data.y.push_back(30 * data.x.back() + 10 * stream.normal());
  }
  return data;
}

// A fitted model whose stddevs are then spoilt is brought back: to nominal coverage, and to the factors that undo it.
TEST(Recalibration, RepairsAModel) {
  const Data train = line(500, 0);
  const Data held_out = line(1000, 1);
  const Data test = line(2000, 2);
  for (const Model kind : {Model::kPne, Model::kFlow}) {
    Ensemble model =
        fit({.model = kind, .num_components = 3}, {.epochs = 40}, {{"x"}, {"a", "b"}, train.x, train.y}).model;
    const std::vector<double> first = recalibrate(model, held_out.x, held_out.y);
    const std::vector<double> spoilt{0.3, 0.5};
    const Metrics good = evaluate(model, test.x, test.y);
    EXPECT_NEAR(good.coverage_90, 0.9, 0.03);  // four standard errors: 0.02 of the test, more by the factors
    model.scale_spread(spoilt);
    EXPECT_LT(evaluate(model, test.x, test.y).coverage_90, 0.6);
    const std::vector<double> factors = recalibrate(model, held_out.x, held_out.y);
    for (std::size_t d = 0; d < 2; ++d) {
      EXPECT_NEAR(factors[d] * spoilt[d], 1, 2e-3);
    }
    const Metrics repaired = evaluate(model, test.x, test.y);
    EXPECT_NEAR(repaired.coverage_90, good.coverage_90, 2e-3);
    EXPECT_NEAR(repaired.log_likelihood, good.log_likelihood, 1e-4);
    EXPECT_NEAR(repaired.rmse, good.rmse, kind == Model::kPne ? 1e-12 : 1e-2);
  }
}

// What a model says of itself after the correction is the corrected mixture, before and after a file.
TEST(Recalibration, StaysWithTheModel) {
  const Data train = line(200, 0);
  Ensemble model = fit({.num_components = 3}, {.epochs = 10}, {{"x"}, {"a", "b"}, train.x, train.y}).model;
  Mixture<double> expected = model.predict(train.x);
  const std::vector<double> factors{2, 0.5};
  const std::vector<std::size_t> target = model.output_map().targets_of_base();
  scale_spread(expected, std::vector<double>{factors[target[0]], factors[target[1]]});
  model.scale_spread(factors);
  const TempDir dir;
  model.save(dir.file("model"));
  const Mixture<double> loaded = Ensemble::load(dir.file("model")).predict(train.x);
  EXPECT_EQ(loaded.mean, expected.mean);
  for (std::size_t k = 0; k < expected.stddev.size(); ++k) {
    EXPECT_NEAR(loaded.stddev[k], expected.stddev[k], 2e-6 * expected.stddev[k]);  // the bias is a float
  }
}

// Of three targets, one was learned without noise and is noisy where the model is corrected: its factor alone is large,
// whatever order the flow puts them in, and a file keeps whose it is.
TEST(Recalibration, AFactorBelongsToItsTarget) {
  constexpr std::size_t kRows = 300;
  const auto rows = [](std::size_t noisy) {
    Data data;
    Stream stream(13, Purpose::kTest, noisy);
    for (std::size_t n = 0; n < kRows; ++n) {
      data.x.push_back(stream.uniform());
      for (std::size_t d = 0; d < 3; ++d) {
        data.y.push_back(10 * data.x.back() + (d == noisy ? 8 : 1) * stream.normal());
      }
    }
    return data;
  };
  const Data train = rows(3);  // none of them
  const TempDir dir;
  bool permuted = false;
  for (const std::size_t layers : {1UL, 2UL}) {
    for (std::size_t noisy = 0; noisy < 3; ++noisy) {
      const Data held_out = rows(noisy);
      Ensemble model = fit({.num_components = 2, .num_flow_layers = layers, .seed = noisy}, {.epochs = 40},
                           {{"x"}, {"a", "b", "c"}, train.x, train.y})
                           .model;
      const std::vector<double> factors = recalibrate(model, held_out.x, held_out.y);
      for (std::size_t d = 0; d < 3; ++d) {
        EXPECT_EQ(factors[d] > 3, d == noisy) << layers << " layers, target " << d << ": " << factors[d];
      }
      permuted |= model.output_map().targets_of_base()[noisy] != noisy;
      EXPECT_EQ(model.spread_factors(), factors);
      model.save(dir.file("model"));
      EXPECT_EQ(Ensemble::load(dir.file("model")).spread_factors(), factors);
    }
  }
  EXPECT_TRUE(permuted);
}

TEST(Recalibration, ToBaseUndoesToOutputs) {
  const Data train = line(300, 0);
  for (const Model kind : {Model::kPne, Model::kFlow}) {
    const Ensemble model =
        fit({.model = kind, .num_components = 2}, {.epochs = 20}, {{"x"}, {"a", "b"}, train.x, train.y}).model;
    std::vector<double> base(600), outputs(600), there(300), back(300);
    model.to_base(train.x, train.y, base, there);
    model.to_outputs(train.x, base, outputs, back);
    for (std::size_t k = 0; k < 600; ++k) {
      EXPECT_NEAR(outputs[k], train.y[k], 1e-3);  // of numbers up to 60, in single precision
      EXPECT_NEAR(there[k / 2], -back[k / 2], 2e-3);
    }
  }
}

}  // namespace
}  // namespace dissent
