// A classifier's disagreement: the exact form against its definition, the pairwise forms around it.
#include "dissent/estimator/categorical.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "dissent/base/random.hpp"
#include "support/mixtures.hpp"
#include "support/temp_dir.hpp"

namespace dissent {
namespace {

struct Classes {
  std::vector<double> values;
  Weights weights;
  CategoricalView view;

  Classes(std::vector<double> given, std::size_t num_components, std::size_t num_classes, Weights w)
      : values(std::move(given)), weights(std::move(w)) {
    normalise_probabilities(values, num_components, num_classes);
    view = {values.size() / num_components / num_classes, num_components, num_classes, values.data(), &weights};
  }
  Classes(const Classes&) = delete;
};

// exp(sharpness * normal), normalised.
std::vector<double> drawn(std::size_t count, double sharpness, std::uint64_t seed, std::size_t num_classes) {
  std::vector<double> values(count * num_classes);
  Stream(seed, Purpose::kTest, 8).fill_normal(values);
  for (std::size_t row = 0; row < count; ++row) {
    double sum = 0;
    for (std::size_t k = 0; k < num_classes; ++k) {
      sum += values[row * num_classes + k] = std::exp(sharpness * values[row * num_classes + k]);
    }
    for (std::size_t k = 0; k < num_classes; ++k) {
      values[row * num_classes + k] /= sum;
    }
  }
  return values;
}

Uncertainty run(const char* name, const Classes& classes) {
  return estimate(ClassEstimator::parse(name), classes.view);
}

TEST(CategoricalEstimator, ExactIsEntropyOfTheMeanLessMeanEntropy) {
  const std::vector<double> w{0.5, 0.3, 0.2};
  const Classes classes(drawn(3 * 40, 1.5, 1, 4), 3, 4, Weights::from(w, 3));
  const Uncertainty u = run("exact", classes);
  for (std::size_t n = 0; n < 40; ++n) {
    std::vector<double> mean(4);
    double within = 0;
    for (std::size_t m = 0; m < 3; ++m) {
      const Categorical own = classes.view.component(n, m);
      within += w[m] * entropy(own);
      for (std::size_t k = 0; k < 4; ++k) {
        mean[k] += w[m] * own.probability[k];
      }
    }
    const double expected = entropy(Categorical{mean}) - within;
    EXPECT_NEAR(u.epistemic[n], expected, 1e-14);
    EXPECT_NEAR(u.aleatoric[n], within, 1e-14);
    EXPECT_NEAR(u.total[n], entropy(Categorical{mean}), 1e-14);
    EXPECT_NEAR(u.log_deficit[n], std::log(classes.weights.entropy - expected), 1e-12);
  }
}

TEST(CategoricalEstimator, PairwiseFormsAreBounds) {
  for (std::uint64_t seed = 0; seed < 30; ++seed) {
    const std::size_t M = 2 + seed % 5;
    const std::size_t K = 2 + seed % 7;
    const test::MixtureCase weighing{.num_components = M, .weighted = seed % 2 == 1, .seed = seed};
    const Classes classes(drawn(M * 20, 0.1 * static_cast<double>(1 + seed), seed, K), M, K,
                          test::case_weights(weighing));
    const Uncertainty truth = run("exact", classes);
    for (const EstimatorInfo& info : estimators()) {
      if (info.divergence == nullptr || info.name == "wasserstein") {
        continue;
      }
      const std::string name = info.name + (info.parameter.letter.empty() ? "" : ":0.3");
      const Uncertainty found = run(name.c_str(), classes);
      for (std::size_t n = 0; n < truth.size(); ++n) {
        const double gap = found.epistemic[n] - truth.epistemic[n];
        EXPECT_TRUE(info.bound != Bound::kUpper || gap >= -1e-12) << name;
        EXPECT_TRUE(info.bound != Bound::kLower || gap <= 1e-12) << name;
        EXPECT_LE(found.epistemic[n], classes.weights.entropy + 1e-12) << name;
        EXPECT_EQ(found.aleatoric[n], truth.aleatoric[n]);
      }
    }
  }
}

TEST(CategoricalEstimator, BothEndsKeepTheirDigits) {
  const auto information = [](std::vector<double> values) {
    const Classes classes(std::move(values), 2, 2, Weights::uniform(2));
    return class_information(classes.view, 0);
  };
  EXPECT_EQ(information({0.3, 0.7, 0.3, 0.7}).epistemic, 0);
  EXPECT_DOUBLE_EQ(information({0.3, 0.7, 0.3, 0.7}).log_deficit, std::log(std::log(2)));
  // p and p + eps: eps^2 / 8 (1/p + 1/(1-p))
  EXPECT_NEAR(information({0.5, 0.5, 0.5 + 1e-9, 0.5 - 1e-9}).epistemic / (0.5e-18), 1, 1e-6);
  // Nearly disjoint: the deficit is 2 * (1/2) eps (1 - ln eps) to first order.
  const double eps = 1e-20;
  const Combined apart = information({1, eps, eps, 1});
  EXPECT_DOUBLE_EQ(apart.epistemic, std::log(2));
  EXPECT_NEAR(apart.log_deficit, std::log(eps * (1 - std::log(eps))), 1e-12);
  EXPECT_EQ(information({1, 0, 0, 1}).log_deficit, -std::numeric_limits<double>::infinity());
}

TEST(CategoricalEstimator, AllTheWeightOnOne) {
  const Classes classes({0.2, 0.8, 0.9, 0.1}, 2, 2, Weights::from(std::vector<double>{0, 1}, 2));
  for (const char* name : {"exact", "kl", "bhattacharyya"}) {
    const Uncertainty u = run(name, classes);
    EXPECT_EQ(u.epistemic[0], 0) << name;
    EXPECT_EQ(u.log_deficit[0], -std::numeric_limits<double>::infinity()) << name;
  }
}

TEST(CategoricalEstimator, AnUnknownNameListsWhatThereIs) {
  const std::string message = message_of<InputError>([] { ClassEstimator::parse("mc:100"); });
  EXPECT_NE(message.find("there is 'exact'"), std::string::npos) << message;
}

}  // namespace
}  // namespace dissent
