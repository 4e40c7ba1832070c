// What labels tell about an aim, against its definition; and the choice made of it.
#include <gtest/gtest.h>

#include <Eigen/Cholesky>
#include <algorithm>
#include <cmath>
#include <numeric>
#include <set>

#include "acquisition/models.hpp"
#include "dissent/acquisition/acquisition.hpp"
#include "dissent/acquisition/aim_information.hpp"
#include "dissent/base/error.hpp"
#include "dissent/base/threads.hpp"
#include "dissent/divergence/pairwise.hpp"
#include "dissent/ensemble/fit.hpp"
#include "dissent/ensemble/process_model.hpp"
#include "dissent/estimator/combine.hpp"

namespace dissent {
namespace {

using Eigen::Index;
using Eigen::MatrixXd;
using test::drawn_model;
using test::drawn_rows;

// Two outputs of two inputs.
Ensemble process_model(std::size_t num_rows = 25, std::size_t num_components = 4) {
  const std::vector<double> inputs = drawn_rows(num_rows, 2, 3);
  std::vector<double> targets;
  Stream noise(4, Purpose::kTest);
  for (std::size_t n = 0; n < num_rows; ++n) {
    targets.push_back(std::sin(inputs[2 * n]) + 0.1 * noise.normal());
    targets.push_back(inputs[2 * n] * inputs[2 * n + 1] + 0.3 * noise.normal());
  }
  return fit({.model = Model::kGp, .num_components = num_components, .seed = 2}, {},
             {{"a", "b"}, {"y", "z"}, inputs, targets})
      .model;
}

std::vector<double> joined(std::span<const double> a, std::span<const double> b) {
  std::vector<double> all(a.begin(), a.end());
  all.insert(all.end(), b.begin(), b.end());
  return all;
}

// The entropy of noisy labels at rows [K][2], up to a constant a label, from the whole posterior covariance.
double label_entropy(const Ensemble& model, std::size_t output, std::span<const double> rows) {
  if (rows.empty()) {
    return 0;
  }
  const Posterior& posterior = model.process().process().posterior(output);
  const Hyperparameters& h = posterior.hyperparameters();
  const RowMatrix at = model.process().standard_rows(model.columns().input_scaling, rows);
  const MatrixXd with = covariance(h, posterior.inputs(), at);
  MatrixXd inside = covariance(h, posterior.inputs(), posterior.inputs());
  inside.diagonal().array() += h.noise_variance;
  MatrixXd own = covariance(h, at, at) - with.transpose() * inside.llt().solve(with);
  own.diagonal().array() += h.noise_variance;
  return own.llt().matrixLLT().diagonal().array().log().sum();
}

double exact_definition(const Ensemble& model, std::span<const double> labels, std::span<const double> aim) {
  double sum = 0;
  for (std::size_t a = 0; a < aim.size(); a += 2) {
    for (const std::size_t d : {0, 1}) {
      const std::span<const double> row = aim.subspan(a, 2);
      sum +=
          label_entropy(model, d, labels) + label_entropy(model, d, row) - label_entropy(model, d, joined(labels, row));
    }
  }
  return sum / (static_cast<double>(aim.size()) / 2);
}

TEST(ExactAim, GainsAreThoseOfTheDefinition) {
  const Ensemble model = process_model();
  const std::vector<double> candidates = drawn_rows(40, 2, 5);
  const std::vector<double> aim = drawn_rows(11, 2, 6);
  const std::vector<std::size_t> outputs{0, 1};
  const auto information = exact_information({.model = model, .aim = aim, .outputs = outputs});
  std::vector<double> gain(40);
  std::vector<double> alone(40);
  information->alone(candidates, alone);
  information->begin(candidates);
  std::vector<double> labels;
  for (const std::size_t pick : {7U, 31U, 7U, 2U}) {  // the same row twice: a repetition
    information->gains(gain);
    const double before = exact_definition(model, labels, aim);
    for (const std::size_t n : {0U, 7U, 13U, 31U}) {
      const std::vector<double> with = joined(labels, std::span(candidates).subspan(2 * n, 2));
      EXPECT_NEAR(gain[n], exact_definition(model, with, aim) - before, 1e-7) << n;
    }
    if (labels.empty()) {
      for (std::size_t n = 0; n < 40; ++n) {
        EXPECT_NEAR(gain[n], alone[n], 1e-10);
      }
    }
    labels = joined(labels, std::span(candidates).subspan(2 * pick, 2));
    information->take(pick);
  }
}

// J of a set of rows: the pairwise estimate with divergences summed over it, of some outputs.
double pairwise_estimate(const Ensemble& model, const Divergence& kind, std::span<const double> rows,
                         const std::vector<std::size_t>& outputs, double temperature) {
  const std::size_t M = model.num_components();
  const std::size_t D = model.num_outputs();
  std::vector<double> sums(M * M);
  Mixture<float> mixture;
  model.predict_base(rows, mixture);
  for (std::size_t n = 0; n < mixture.num_inputs; ++n) {
    for (std::size_t i = 0; i < M; ++i) {
      for (std::size_t j = 0; j < M; ++j) {
        for (const std::size_t d : outputs) {
          const auto at = [&](const std::vector<float>& values, std::size_t m) {
            return std::vector<double>{static_cast<double>(values[(n * M + m) * D + d])};
          };
          const std::vector<double> mean_i = at(mixture.mean, i), mean_j = at(mixture.mean, j);
          const std::vector<double> stddev_i = at(mixture.stddev, i), stddev_j = at(mixture.stddev, j);
          sums[i * M + j] +=
              divergence(kind, DiagonalGaussian{mean_i, stddev_i}, DiagonalGaussian{mean_j, stddev_j}) / temperature;
        }
      }
    }
  }
  return combine(model.weights(), sums).epistemic;
}

TEST(PairwiseAim, GainsAreThoseOfTheDefinition) {
  for (const char* name : {"kl", "bhattacharyya"}) {
    const Divergence kind = parse_divergence(name);
    const Ensemble model =
        drawn_model({.num_outputs = 2, .num_components = 4, .weights = {0.4, 0, 0.35, 0.25}, .gain = 0.7});
    const std::vector<double> candidates = drawn_rows(30, 2, 5);
    const std::vector<double> aim = drawn_rows(7, 2, 6);
    const std::vector<std::size_t> outputs{0, 1};  // a group each
    const auto information = pairwise_information(kind, {.model = model, .aim = aim, .outputs = outputs});
    const auto definition = [&](std::span<const double> labels) {
      double sum = 0;
      for (std::size_t a = 0; a < aim.size(); a += 2) {
        const std::span<const double> row = std::span(aim).subspan(a, 2);
        for (const std::size_t d : {0, 1}) {
          sum += pairwise_estimate(model, kind, labels, {d}, 1) + pairwise_estimate(model, kind, row, {d}, 1) -
                 pairwise_estimate(model, kind, joined(labels, row), {d}, 1);
        }
      }
      return sum / 7;
    };
    information->begin(candidates);
    std::vector<double> gain(30);
    std::vector<double> labels;
    for (const std::size_t pick : {3U, 17U, 9U}) {
      information->gains(gain);
      for (const std::size_t n : {0U, 3U, 22U}) {
        const std::vector<double> with = joined(labels, std::span(candidates).subspan(2 * n, 2));
        EXPECT_NEAR(gain[n], definition(with) - definition(labels), 2e-6) << name << " " << n;
      }
      labels = joined(labels, std::span(candidates).subspan(2 * pick, 2));
      information->take(pick);
    }
  }
}

Choice choose_by(const char* name, const Ensemble& model, std::span<const double> candidates, std::size_t batch,
                 std::span<const double> aim = {}, std::span<const double> cost = {}, Executor* executor = nullptr) {
  AcquisitionTask task{model, {}, batch, Stream(5, Purpose::kAcquire), executor};
  task.aim = aim;
  task.cost = cost;
  return choose(Acquisition::parse(name), task, candidates);
}

// The mean of a column over the picks.
double mean_of_picks(const Choice& choice, std::span<const double> rows, std::size_t column) {
  double sum = 0;
  for (const std::size_t row : choice.rows) {
    sum += rows[2 * row + column];
  }
  return sum / static_cast<double>(choice.rows.size());
}

TEST(AimChoice, GoesWhereTheAimIs) {
  const Ensemble model = process_model(25, 20);
  const std::vector<double> candidates = drawn_rows(300, 2, 8);
  std::vector<double> left = drawn_rows(50, 2, 9);
  std::vector<double> right = left;
  for (std::size_t n = 0; n < 50; ++n) {
    left[2 * n] = left[2 * n] * 0.3 - 1.5;
    right[2 * n] = right[2 * n] * 0.3 + 1.5;
  }
  for (const char* name : {"aim", "kl-aim"}) {
    const double at_left = mean_of_picks(choose_by(name, model, candidates, 8, left), candidates, 0);
    const double at_right = mean_of_picks(choose_by(name, model, candidates, 8, right), candidates, 0);
    EXPECT_LT(at_left, -0.3) << name;
    EXPECT_GT(at_right, 0.3) << name;
  }
}

TEST(AimChoice, OfTheShortListIsThatOfAllRows) {
  const Ensemble model = process_model();
  const std::vector<double> candidates = drawn_rows(3000, 2, 8);  // three times the short list
  const std::vector<double> aim = drawn_rows(20, 2, 9);
  const Choice choice = choose_by("aim", model, candidates, 6, aim);
  const std::vector<std::size_t> outputs{0, 1};
  const auto information = exact_information({.model = model, .aim = aim, .outputs = outputs});
  information->begin(candidates);
  std::vector<double> gain(3000);
  for (std::size_t pick = 0; pick < 6; ++pick) {
    information->gains(gain);
    const auto best = static_cast<std::size_t>(std::ranges::max_element(gain) - gain.begin());
    EXPECT_EQ(choice.rows[pick], best);
    EXPECT_NEAR(choice.scores[pick], gain[best], 1e-12);
    information->take(best);
  }
}

TEST(AimChoice, IsTheSameOnAnyNumberOfThreads) {
  const Ensemble model = process_model();
  const std::vector<double> candidates = drawn_rows(2500, 2, 8);
  ThreadPool threads(3);
  for (const char* name : {"aim", "kl-aim"}) {
    const Choice one = choose_by(name, model, candidates, 5);
    const Choice three = choose_by(name, model, candidates, 5, {}, {}, &threads);
    EXPECT_EQ(one.rows, three.rows);
    EXPECT_EQ(one.scores, three.scores);
  }
}

TEST(AimChoice, WeighsWhatALabelTellsAgainstItsCost) {
  const Ensemble model = process_model();
  const std::vector<double> candidates = drawn_rows(60, 2, 8);
  for (const char* name : {"aim", "kl-aim", "kl", "mc:64"}) {
    const Choice plain = choose_by(name, model, candidates, 3);
    std::vector<double> cost(60, 1.0);
    cost[plain.rows[0]] = 1e6;
    const Choice weighed = choose_by(name, model, candidates, 3, {}, cost);
    EXPECT_EQ(std::ranges::count(weighed.rows, plain.rows[0]), 0) << name;
    const std::vector<double> twice(60, 2.0);
    EXPECT_NEAR(choose_by(name, model, candidates, 1, {}, twice).scores[0],
                (std::string(name).find("aim") == std::string::npos ? plain.epistemic[0] : plain.scores[0]) / 2, 1e-6);
  }
}

// Rows whose labels are on their way are known as well as picks: the batch goes on as if it had not been interrupted.
TEST(AimChoice, KnowsWhatIsOnItsWay) {
  const Ensemble model = process_model(25, 20);
  const std::vector<double> candidates = drawn_rows(200, 2, 8);
  const std::vector<double> aim = drawn_rows(30, 2, 9);
  for (const char* name : {"aim", "kl-aim"}) {
    const Choice whole = choose_by(name, model, candidates, 6, aim);
    std::vector<double> pending;
    std::vector<double> left;
    std::vector<std::size_t> numbers;
    for (std::size_t n = 0; n < 200; ++n) {
      const bool early = std::ranges::find(whole.rows.begin(), whole.rows.begin() + 3, n) != whole.rows.begin() + 3;
      std::vector<double>& to = early ? pending : left;
      to.insert(to.end(), {candidates[2 * n], candidates[2 * n + 1]});
      if (!early) {
        numbers.push_back(n);
      }
    }
    AcquisitionTask task{model, {}, 3, Stream(5, Purpose::kAcquire)};
    task.aim = aim;
    task.pending = pending;
    const Choice rest = choose(Acquisition::parse(name), task, left);
    for (std::size_t k = 0; k < 3; ++k) {
      EXPECT_EQ(numbers[rest.rows[k]], whole.rows[3 + k]) << name;
    }
  }
}

// More components than are compared, more outputs than groups, and more than are looked at.
TEST(AimChoice, OfVeryManyComponentsAndOutputs) {
  const std::vector<double> candidates = drawn_rows(60, 2, 8);
  for (const std::size_t components : {40UL, 600UL}) {
    for (const std::size_t outputs : {1UL, 6UL, 60UL}) {
      const Ensemble model = drawn_model({.num_outputs = outputs, .num_components = components});
      const Choice choice = choose_by("aim", model, candidates, 30);
      EXPECT_EQ(std::set(choice.rows.begin(), choice.rows.end()).size(), 30U);
      for (const double score : choice.scores) {
        EXPECT_TRUE(std::isfinite(score));
      }
    }
  }
}

// Five components are told apart by a few labels; the rest of a long batch is still chosen for a reason.
TEST(AimChoice, OfALongBatchIsNotLeftToChance) {
  const Ensemble model = drawn_model({.gain = 2});
  const std::vector<double> candidates = drawn_rows(400, 2, 8);
  for (const char* name : {"kl-aim", "bhattacharyya-aim"}) {
    const Choice choice = choose_by(name, model, candidates, 50);
    EXPECT_GT(choice.scores.back(), 1e-5) << name;
    AcquisitionTask other{model, {}, 50, Stream(6, Purpose::kAcquire)};
    const std::vector<double> aim(candidates.begin(), candidates.begin() + 200);
    AcquisitionTask one = other;
    one.stream = Stream(5, Purpose::kAcquire);
    one.aim = other.aim = aim;
    EXPECT_EQ(choose(Acquisition::parse(name), one, candidates).rows,
              choose(Acquisition::parse(name), other, candidates).rows)
        << name;
  }
}

// Of two rows with the same inputs the cheap one.
TEST(AimChoice, OfCopiesTakesTheCheapest) {
  const Ensemble model = process_model();
  const std::vector<double> candidates{2.5, 2.5, 2.5, 2.5, 0.1, 0.1};
  const std::vector<double> cost{100, 1, 1};
  for (std::uint64_t seed = 0; seed < 6; ++seed) {
    AcquisitionTask task{model, {}, 1, Stream(seed, Purpose::kAcquire)};
    task.cost = cost;
    for (const char* name : {"aim", "kl-aim", "kl"}) {
      EXPECT_EQ(choose(Acquisition::parse(name), task, candidates).rows[0], 1U) << name;
    }
  }
}

TEST(AimChoice, CostsThatCannotBeAreExplained) {
  const Ensemble model = process_model();
  const std::vector<double> candidates = drawn_rows(3, 2, 8);
  const auto error_of = [&](const char* name, const std::vector<double>& cost) {
    try {
      choose_by(name, model, candidates, 1, {}, cost);
    } catch (const InputError& error) {
      return std::string(error.what());
    }
    return std::string();
  };
  EXPECT_NE(error_of("aim", {1, 0, 1}).find("candidate 1: its cost is 0"), std::string::npos);
  EXPECT_NE(error_of("aim", {1, 1}).find("2 costs of 3 candidates"), std::string::npos);
  EXPECT_NE(error_of("kl-joint", {1, 1, 1}).find("'kl-joint' cannot weigh"), std::string::npos);
  EXPECT_THROW(choose_by("kl", model, candidates, 1, candidates), InputError);  // which does not look at an aim
}

}  // namespace
}  // namespace dissent
