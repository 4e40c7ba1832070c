// Rows chosen by arrays: what a model's own predictions choose is what the model chooses.
#include <gtest/gtest.h>

#include <numeric>

#include "acquisition/models.hpp"
#include "dissent/acquisition/acquisition.hpp"
#include "dissent/ensemble/given_model.hpp"
#include "dissent/estimator/estimator.hpp"
#include "support/temp_dir.hpp"

namespace dissent {
namespace {

Choice choose_by(const std::string& name, const Ensemble& model, std::span<const double> candidates) {
  return choose(Acquisition::parse(name), {model, {}, 6, Stream(3, Purpose::kAcquire), nullptr}, candidates);
}

std::vector<double> numbers(std::size_t count) {
  std::vector<double> rows(count);
  std::iota(rows.begin(), rows.end(), 0.0);
  return rows;
}

TEST(Given, ChoosesAsTheModelDoes) {
  const Ensemble model = test::drawn_model({.num_inputs = 3, .weights = {0.3, 0.2, 0.2, 0.2, 0.1}});
  const std::vector<double> candidates = test::drawn_rows(400, 3);
  const Mixture<double> mixture = model.predict(candidates);
  const Ensemble given = given_ensemble(mixture.view());
  for (const AcquisitionInfo& info : acquisitions()) {
    if (info.needs_network) {
      continue;
    }
    const std::string letter(info.parameter.letter);
    const std::string name = info.name + (letter.empty() ? "" : letter == "K" ? ":300" : ":0.3");
    const Choice ours = choose_by(name, given, numbers(400));
    const Choice theirs = choose_by(name, model, candidates);
    EXPECT_EQ(ours.rows, theirs.rows) << name;
    for (std::size_t k = 0; k < ours.rows.size(); ++k) {
      EXPECT_NEAR(ours.epistemic[k], theirs.epistemic[k], 1e-4) << name;
      EXPECT_NEAR(ours.aleatoric[k], theirs.aleatoric[k], 1e-9) << name;
    }
  }
}

// {N(0, 1), N(0, 1e-8)} tells more than {N(0, 1), N(4.4, 1)} (variances); an upper bound need not see it.
TEST(Given, LowerBoundsRankAsTheTruthDoes) {
  const Mixture<double> mixture{.num_inputs = 2,
                                .num_components = 2,
                                .num_outputs = 1,
                                .mean = {0, 0, 0, 4.4},
                                .stddev = {1, 1e-4, 1, 1},
                                .weights = Weights::uniform(2)};
  const Uncertainty truth = estimate(parse_estimator("quadrature"), mixture.view());
  EXPECT_NEAR(truth.epistemic[0], 0.692, 5e-4);
  EXPECT_NEAR(truth.epistemic[1], 0.656, 5e-4);
  const Ensemble given = given_ensemble(mixture.view());
  for (const Ranking ranking : {Ranking::kDeficit, Ranking::kValue}) {
    const auto first = [&](const char* name) {
      const AcquisitionTask task{
          .model = given, .training = {}, .stream = Stream(3, Purpose::kAcquire), .ranking = ranking};
      return choose(Acquisition::parse(name), task, numbers(2));
    };
    EXPECT_EQ(first("kl").rows[0], 1U);
    for (const char* name : {"bhattacharyya", "chernoff-best", "mc:4000"}) {
      EXPECT_EQ(first(name).rows[0], 0U) << name;
    }
    EXPECT_LE(first("chernoff-best").epistemic[0], truth.epistemic[0]);
    EXPECT_GE(first("chernoff-best").epistemic[0], first("bhattacharyya").epistemic[0] - 1e-6);
  }
}

TEST(Given, NetworksAndASecondComponentAreAskedFor) {
  const Mixture<double> mixture =
      test::drawn_model({.num_components = 3, .weights = {1, 0, 0}}).predict(test::drawn_rows(9, 2));
  const Ensemble given = given_ensemble(mixture.view());
  const auto message = [&](const char* name) {
    return message_of<InputError>([&] { choose_by(name, given, numbers(9)); });
  };
  EXPECT_NE(message("badge").find("last layer"), std::string::npos);
  EXPECT_NE(message("kl").find("needs at least two components of weight > 0"), std::string::npos);
  EXPECT_EQ(choose_by("random", given, numbers(9)).rows.size(), 6U);
}

}  // namespace
}  // namespace dissent
